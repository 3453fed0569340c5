//! Numbers as they are written with digits: grouped or not, with a decimal point or a decimal comma.

/// One way to read a written number. Signs are not kept: people write a loss as `-5 %` or as "a loss of 5 %".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    pub value: f64,
    /// What one is worth in the last place that is written: 0.01 for `12.50`.
    pub place: f64,
}

impl Reading {
    pub fn whole(value: f64) -> Self {
        Self { value, place: 1.0 }
    }

    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, place: self.place * factor }
    }
}

/// A number has one or two readings: `1,234` is 1234 or, with a decimal comma, 1.234.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Readings {
    pub first: Reading,
    pub second: Option<Reading>,
}

impl Readings {
    pub fn one(first: Reading) -> Self {
        Self { first, second: None }
    }

    pub fn iter(self) -> impl Iterator<Item = Reading> {
        std::iter::once(self.first).chain(self.second)
    }

    pub fn times(self, factor: f64) -> Self {
        let second = self.second.map(|reading| reading.times(factor));
        Self { first: self.first.times(factor), second }
    }
}

/// Longer ones are not numbers that anybody compares.
const MAX_LENGTH: usize = 40;

/// Whether a character may separate groups of digits.
pub fn is_group_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{202f}' | '\u{2009}')
}

/// Reads a number that consists of digits and separators.
pub fn read(text: &str) -> Option<Readings> {
    let text = text.trim_start_matches(['-', '+', '\u{2212}']);
    if text.is_empty() || text.len() > MAX_LENGTH {
        return None;
    }
    let first = text.chars().next()?;
    if !text.ends_with(|c: char| c.is_ascii_digit()) || !(first.is_ascii_digit() || first == '.') {
        return None;
    }
    let groups = |c: char| matches!(c, '_' | '\'' | '\u{2019}') || is_group_space(c);
    let plain: String = if text.contains(groups) {
        let (whole, rest) = text.split_at(text.find(['.', ',']).unwrap_or(text.len()));
        if !are_groups(whole.split(groups)) || rest.contains(groups) {
            return None;
        }
        whole.chars().filter(char::is_ascii_digit).chain(rest.chars()).collect()
    } else {
        text.to_owned()
    };
    if plain.chars().any(|c| !c.is_ascii_digit() && c != '.' && c != ',') {
        return None;
    }
    match (plain.rfind('.'), plain.rfind(',')) {
        (None, None) => decimal(&plain, "").map(Readings::one),
        (Some(point), Some(comma)) => {
            let (at, group) = if point > comma { (point, ',') } else { (comma, '.') };
            let (whole, fraction) = (&plain[..at], &plain[at + 1..]);
            let digits: String = whole.chars().filter(|c| *c != group).collect();
            are_groups(whole.split(group))
                .then(|| decimal(&digits, fraction))
                .flatten()
                .map(Readings::one)
        }
        (Some(at), None) | (None, Some(at)) => one_kind(&plain, at),
    }
}

/// A number with points only, or commas only.
fn one_kind(plain: &str, at: usize) -> Option<Readings> {
    let mark = if plain[at..].starts_with('.') { '.' } else { ',' };
    let (whole, fraction) = (&plain[..at], &plain[at + 1..]);
    let digits: String = plain.chars().filter(char::is_ascii_digit).collect();
    let grouped = || decimal(&digits, "").filter(|_| are_groups(plain.split(mark)));
    if whole.contains(mark) {
        return grouped().map(Readings::one);
    }
    let split = decimal(whole, fraction)?;
    let grouped = grouped().filter(|_| !whole.is_empty() && !whole.starts_with('0'));
    Some(match grouped {
        Some(grouped) if mark == ',' => Readings { first: grouped, second: Some(split) },
        second => Readings { first: split, second },
    })
}

/// Whether digits are grouped as people do: three each, or two and two and three in India.
fn are_groups<'t>(groups: impl Iterator<Item = &'t str>) -> bool {
    let lengths: Vec<usize> = groups.map(str::len).collect();
    let Some((last, rest)) = lengths.split_last() else { return false };
    let Some((first, middle)) = rest.split_first() else { return true };
    *last == 3 && (1..=3).contains(first) && middle.iter().all(|length| (2..=3).contains(length))
}

fn decimal(whole: &str, fraction: &str) -> Option<Reading> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let value: f64 =
        format!("{}.{fraction}0", if whole.is_empty() { "0" } else { whole }).parse().ok()?;
    let place = 10f64.powi(-i32::try_from(fraction.len()).ok()?);
    value.is_finite().then_some(Reading { value, place })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &str) -> Vec<f64> {
        read(text)
            .map(|readings| readings.iter().map(|one| one.value).collect())
            .unwrap_or_default()
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("1234.5", &[1234.5][..]),
            ("1,234.50", &[1234.5]),
            ("1.234,50", &[1234.5]),
            ("1'234.5", &[1234.5]),
            ("1_000", &[1000.0]),
            ("1\u{202f}234", &[1234.0]),
            ("12,34,567", &[1_234_567.0]),
            ("1,234", &[1234.0, 1.234]),
            ("1.234", &[1.234, 1234.0]),
            ("12,5", &[12.5]),
            ("0.250", &[0.25]),
            (".5", &[0.5]),
            ("-5.57", &[5.57]),
            ("\u{2212}3", &[3.0]),
            ("007", &[7.0]),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_has_no_reading() {
        for text in ["", ".", "1.2.3", "1,2,3", "1,23.4", "12a", "1,234.", "1''2", "--", "1 2"] {
            assert!(values(text).is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "\\PC{0,30}") {
            let _ = read(&text);
        }

        #[test]
        fn grouping_changes_nothing(value in 0u64..10_000_000_000) {
            let plain = value.to_string();
            let mut grouped = String::new();
            for (index, digit) in plain.chars().enumerate() {
                if index > 0 && (plain.len() - index) % 3 == 0 {
                    grouped.push(',');
                }
                grouped.push(digit);
            }
            prop_assert_eq!(values(&grouped)[0] as u64, value);
            prop_assert_eq!(values(&grouped.replace(',', "'"))[0] as u64, value);
        }
    }
}
