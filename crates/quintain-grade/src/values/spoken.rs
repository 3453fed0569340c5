//! Numbers written as words: `three`, `twenty-five`, `two hundred and ten`, `half`, `second`.

/// The value of a word that stands for a number by itself.
fn cardinal(word: &str) -> Option<f64> {
    const UNITS: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] =
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let place = |list: &[&str]| list.iter().position(|one| *one == word);
    if let Some(index) = place(&UNITS) {
        return Some(index as f64);
    }
    if let Some(index) = place(&TENS) {
        return Some((index as f64 + 2.0) * 10.0);
    }
    if let Some((tens, units)) = word.split_once('-') {
        let (tens, units) = (cardinal(tens)?, cardinal(units)?);
        return (tens >= 20.0 && (1.0..10.0).contains(&units)).then_some(tens + units);
    }
    Some(match word {
        "couple" | "pair" | "both" | "twice" | "double" | "zwei" | "deux" | "dos" => 2.0,
        "single" | "once" | "eins" | "eine" | "einen" => 1.0,
        "drei" | "trois" | "tres" | "triple" => 3.0,
        "vier" | "quatre" | "cuatro" => 4.0,
        "fünf" | "cinq" | "cinco" => 5.0,
        "sechs" => 6.0,
        "sieben" => 7.0,
        "acht" => 8.0,
        "neun" => 9.0,
        "zehn" => 10.0,
        "half" => 0.5,
        "quarter" => 0.25,
        _ => return None,
    })
}

/// The place that a word names in an order.
pub(super) fn ordinal(word: &str) -> Option<f64> {
    const WORDS: [&str; 12] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth", "eleventh", "twelfth",
    ];
    WORDS.iter().position(|one| *one == word).map(|index| index as f64 + 1.0)
}

/// Whether a word may begin a number.
pub(super) fn may_begin(word: &str) -> bool {
    matches!(word, "a" | "an" | "per") || cardinal(word).is_some() || ordinal(word).is_some()
}

/// Reads as many words as belong to one number: its value and how many words it took. The words are in lower case.
pub(super) fn read(words: &[&str]) -> Option<(f64, usize)> {
    let (mut total, mut group, mut used) = (0.0, cardinal(words.first()?)?, 1);
    while let Some(word) = words.get(used) {
        let next = words.get(used + 1).and_then(|word| cardinal(word));
        match *word {
            "hundred" => group *= 100.0,
            "dozen" => group *= 12.0,
            "thousand" | "million" | "billion" => {
                let factor = super::units::scale(word).unwrap_or(1.0);
                total += group * factor;
                group = 0.0;
            }
            "and" if group >= 100.0 && next.is_some_and(|next| next >= 1.0) => {}
            _ => match cardinal(word) {
                Some(value) if value >= 1.0 && value < lowest(group) => group += value,
                _ => break,
            },
        }
        used += 1;
    }
    Some((total + group, used))
}

/// What may still be added to a group of words: less than its last part.
fn lowest(group: f64) -> f64 {
    if group == 0.0 || group >= 100.0 && group % 100.0 == 0.0 {
        100.0
    } else if group % 10.0 == 0.0 && group % 100.0 >= 20.0 {
        10.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<(f64, usize)> {
        read(&text.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn words_make_numbers() {
        for (text, expected, used) in [
            ("three friends", 3.0, 1),
            ("twenty-five", 25.0, 1),
            ("twenty five", 25.0, 2),
            ("two hundred and ten euros", 210.0, 4),
            ("one thousand two hundred", 1200.0, 4),
            ("three million people", 3e6, 2),
            ("two dozen eggs", 24.0, 2),
            ("one two", 1.0, 1),
            ("half an", 0.5, 1),
        ] {
            assert_eq!(value(text), Some((expected, used)), "{text}");
        }
        assert_eq!(value("often"), None);
        assert_eq!(ordinal("third"), Some(3.0));
    }
}
