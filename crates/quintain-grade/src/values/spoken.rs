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

/// The longest word that stands for a number, in bytes.
const LONGEST: usize = 12;

/// Whether a word may begin a number, in any case.
pub(super) fn may_begin(word: &str) -> bool {
    let mut buffer = [0; LONGEST];
    let Some(lower) = buffer.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    let Ok(lower) = std::str::from_utf8(lower) else { return false };
    matches!(lower, "a" | "an" | "per" | "dozen")
        || cardinal(lower).is_some()
        || ordinal(lower).is_some()
}

/// How many of a part make a whole: 3 for `third` and `thirds`.
fn part(word: &str) -> Option<f64> {
    match word {
        "half" | "halves" => Some(2.0),
        "quarter" | "quarters" => Some(4.0),
        // A second is a time.
        "second" | "seconds" | "first" | "firsts" => None,
        _ => ordinal(word.strip_suffix('s').unwrap_or(word)),
    }
}

/// A share of something: `a third`, `two thirds`, `a quarter million`, and how many words it took.
pub(super) fn share(words: &[&str]) -> Option<(f64, usize)> {
    let value = plain_share(words)?;
    let scale = words.get(2).and_then(|word| scale(word));
    Some((value * scale.unwrap_or(1.0), 2 + usize::from(scale.is_some())))
}

/// The share that two words mean.
fn plain_share(words: &[&str]) -> Option<f64> {
    let (first, second) = (*words.first()?, *words.get(1)?);
    let parts = match first {
        "a" | "an" => 1.0,
        _ => cardinal(first).filter(|count| (1.0..10.0).contains(count))?,
    };
    let whole = part(second)?;
    let is_plural = second.ends_with('s') || second == "halves";
    (parts < whole && is_plural == (parts > 1.0)).then_some(parts / whole)
}

/// What `and a half` adds to the number before it, and how many words it took.
pub(super) fn fraction(words: &[&str]) -> Option<(f64, usize)> {
    plain_share(words.strip_prefix(&["and"])?).map(|value| (value, 3))
}

/// The factor that a word of scale means.
fn scale(word: &str) -> Option<f64> {
    let is_scale = matches!(word, "hundred" | "thousand" | "million" | "billion" | "dozen");
    super::units::scale(word).filter(|_| is_scale)
}

/// Reads as many words as belong to one number: its value and how many words it took. The words are in lower case.
pub(super) fn read(words: &[&str]) -> Option<(f64, usize)> {
    let first = *words.first()?;
    // `a dozen`, `a hundred`
    if matches!(first, "a" | "an")
        && let Some(scale) = words.get(1).and_then(|word| scale(word))
    {
        return Some((scale, 2));
    }
    if first == "dozen" {
        return Some((12.0, 1));
    }
    let (mut total, mut group, mut used) = (0.0, cardinal(first)?, 1);
    // `half a dozen`
    if group < 1.0
        && let [_, "a", word, ..] = words
        && let Some(scale) = scale(word)
    {
        return Some((group * scale, 3));
    }
    // `two point one`
    if words.get(1) == Some(&"point") {
        let digits =
            words[2..].iter().map_while(|word| cardinal(word).filter(|digit| *digit < 10.0));
        let (mut value, mut place, mut count) = (group, 0.1, 0);
        for digit in digits.take(4) {
            value += digit * place;
            place /= 10.0;
            count += 1;
        }
        if count > 0 {
            return Some(((value * 1e6).round() / 1e6, 2 + count));
        }
    }
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
    let value = total + group;
    // `two and a half`, `one and a half million`
    if let Some((more, words_used)) = words.get(used..).and_then(fraction) {
        let after = words.get(used + words_used).and_then(|word| scale(word));
        let scaled = (value + more) * after.unwrap_or(1.0);
        return Some((scaled, used + words_used + usize::from(after.is_some())));
    }
    Some((value, used))
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
            ("a dozen", 12.0, 2),
            ("dozen eggs", 12.0, 1),
            ("half a dozen", 6.0, 3),
            ("one and a half million", 1.5e6, 5),
            ("two and a half hours", 2.5, 4),
            ("a hundred people", 100.0, 2),
            ("two point one", 2.1, 3),
        ] {
            assert_eq!(value(text), Some((expected, used)), "{text}");
        }
        assert_eq!(value("often"), None);
        assert_eq!(share(&["a", "third"]), Some((1.0 / 3.0, 2)));
        assert_eq!(share(&["two", "thirds"]), Some((2.0 / 3.0, 2)));
        assert_eq!(share(&["three", "quarters"]), Some((0.75, 2)));
        assert_eq!(share(&["a", "quarter", "million"]), Some((250_000.0, 3)));
        assert_eq!((share(&["a", "second"]), share(&["two", "third"])), (None, None));
        assert_eq!(ordinal("third"), Some(3.0));
    }
}
