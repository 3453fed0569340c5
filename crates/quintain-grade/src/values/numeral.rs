//! Pieces of text that begin with a digit: numbers, days, times, ranges, durations and ids.

use super::date::{self, Day, Minutes};
use super::literal::{self, Reading, Readings};
use super::number::{Number, Written, half_day};
use super::units::{self, Dimension, Unit};

/// What a piece that begins with a digit means.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Numeral {
    Moment(Day, Option<Minutes>),
    Days(Vec<Day>),
    Time(Minutes),
    /// A span of times.
    Times(Vec<Minutes>),
    /// A time with `am` or `pm`.
    HalfDay(Minutes),
    /// One number; several in a range or a list.
    Numbers(Vec<Number>),
    Other,
}

pub(super) fn read(text: &str) -> Numeral {
    if let Some((day, time, _)) = date::timestamp(text) {
        return Numeral::Moment(day, time);
    }
    // `2,050/oz`, `10-20/hour`: so much of something for each of another.
    if let Some((amount, per)) = text.rsplit_once('/') {
        let is_word = !per.is_empty() && per.chars().all(char::is_alphabetic);
        if is_word && !amount.contains('/') && amount.ends_with(|c: char| c.is_alphanumeric()) {
            return read(amount);
        }
    }
    // `2½`
    let fraction = [('½', 0.5), ('¼', 0.25), ('¾', 0.75)];
    let fraction =
        fraction.iter().find_map(|(mark, value)| Some((text.strip_suffix(*mark)?, *value)));
    if let Some((digits, value)) = fraction
        && let Some(whole) = if digits.is_empty() { Some(0) } else { digits.parse::<u32>().ok() }
    {
        let reading = Reading { value: f64::from(whole) + value, place: 0.01 };
        return Numeral::Numbers(vec![Number::plain(Readings::one(reading))]);
    }
    // `10k-20k`
    if let Some((from, to)) = text.split_once('-')
        && from.ends_with(char::is_alphabetic)
        && to.starts_with(|c: char| c.is_ascii_digit())
        && let (Numeral::Numbers(mut first), Numeral::Numbers(second)) = (read(from), read(to))
    {
        first.extend(second);
        return Numeral::Numbers(first);
    }
    let split = text.find(char::is_alphabetic).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(split);
    if suffix.is_empty() { without_letters(text) } else { with_letters(text, digits, suffix) }
}

fn without_letters(text: &str) -> Numeral {
    let text = text.trim_start_matches('+');
    if text.contains(':') {
        if let Some((from, to)) = text.split_once('-') {
            let ends = [from, to].map(date::clock);
            return match ends {
                [Some(from), Some(to)] => Numeral::Times(vec![from, to]),
                _ => Numeral::Other,
            };
        }
        return match date::clock(text) {
            Some(time) => Numeral::Time(time),
            None => all(text.split(':')),
        };
    }
    if let Some(readings) = literal::read(text) {
        return Numeral::Numbers(vec![Number::plain(readings)]);
    }
    let days = date::days(text);
    if !days.is_empty() {
        return Numeral::Days(days);
    }
    let marks = text.chars().filter(|c| matches!(c, '-' | '/')).count();
    let short = text.split(['-', '/']).all(|part| part.len() <= 10);
    if marks == 1 && short && !text.starts_with('-') {
        // Two long groups of digits are an id, not a range.
        let long =
            text.split('-').filter(|part| part.len() > 4 && !part.contains(['.', ','])).count();
        return if long == 2 { Numeral::Other } else { all(text.split(['-', '/'])) };
    }
    if text.contains(',') {
        return all(text.split(','));
    }
    Numeral::Other
}

/// Numbers, if all of the parts are.
fn all<'t>(parts: impl Iterator<Item = &'t str>) -> Numeral {
    let numbers: Option<Vec<Number>> =
        parts.map(|part| literal::read(part).map(Number::plain)).collect();
    numbers.map_or(Numeral::Other, Numeral::Numbers)
}

fn with_letters(text: &str, digits: &str, suffix: &str) -> Numeral {
    let lower = suffix.to_lowercase();
    let days = date::days(text);
    if !days.is_empty() {
        return Numeral::Days(days);
    }
    if matches!(lower.as_str(), "am" | "pm" | "a.m" | "p.m") {
        let time = date::clock(digits)
            .or_else(|| digits.parse().ok().filter(|hour: &u16| *hour < 24).map(|hour| hour * 60));
        return time
            .and_then(|time| half_day(time, &lower))
            .map_or(Numeral::Other, Numeral::HalfDay);
    }
    if let Some(time) = date::clock(digits).filter(|_| lower == "z") {
        return Numeral::Time(time);
    }
    // `45-minute`, `10-15min`
    let joined = digits.ends_with('-') && suffix.chars().all(char::is_alphabetic);
    let digits = digits.strip_suffix('-').unwrap_or(digits);
    if let Some((from, to)) = digits.split_once('-').filter(|(from, _)| !from.is_empty()) {
        let unit = units::named(suffix);
        let ends = [from, to].map(literal::read);
        // `10-20k`
        if let (None, Some(scale), [Some(from), Some(to)]) = (unit, units::scale(suffix), ends) {
            return Numeral::Numbers(
                [from, to].map(|one| Number::plain(one.times(scale))).to_vec(),
            );
        }
        return match (unit, ends) {
            (Some(unit), [Some(from), Some(to)]) => Numeral::Numbers(
                [from, to]
                    .map(|readings| Number { readings, unit: Some(unit), written: Written::Digits })
                    .to_vec(),
            ),
            _ => Numeral::Other,
        };
    }
    if let Some(reading) = scientific(text) {
        return Numeral::Numbers(vec![Number::plain(Readings::one(reading))]);
    }
    let Some(readings) = literal::read(digits) else { return Numeral::Other };
    let number = |readings, unit| {
        Numeral::Numbers(vec![Number { readings, unit, written: Written::Digits }])
    };
    if matches!(lower.as_str(), "st" | "nd" | "rd" | "th") {
        return Numeral::Numbers(vec![Number { readings, unit: None, written: Written::Ordinal }]);
    }
    match suffix {
        // Metres or millions.
        "m" => {
            let second = Some(readings.first.times(1e6));
            let unit = units::named(suffix);
            return number(Readings { first: readings.first, second }, unit);
        }
        // Billions or bytes.
        "B" => {
            let second = Some(readings.first);
            return number(Readings { first: readings.first.times(1e9), second }, None);
        }
        "x" => return number(readings, None),
        // A temperature; without decimals it is the name of something.
        "C" | "F" if digits.contains('.') => {
            return number(readings, Some(Unit { dimension: Dimension::Temperature, size: 1.0 }));
        }
        _ => {}
    }
    if let Some(scale) = units::scale(suffix) {
        return number(readings.times(scale), None);
    }
    if let Some(unit) = units::named(suffix) {
        return number(readings, Some(unit));
    }
    if let Some(seconds) = duration(text) {
        return number(
            Readings::one(Reading::whole(seconds)),
            Some(Unit { dimension: Dimension::Time, size: 1.0 }),
        );
    }
    // `52-week`, `4-star`: a number and the noun that it counts.
    if joined && suffix.len() > 2 { number(readings, None) } else { Numeral::Other }
}

/// `1e3`, `2.5E+6`
fn scientific(text: &str) -> Option<Reading> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let digits = exponent.trim_start_matches(['+', '-']);
    let is_short = (1..=2).contains(&digits.len()) && mantissa.len() <= 12;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let reading = literal::read(mantissa).filter(|_| is_short && is_plain)?.first;
    Some(reading.times(10f64.powi(exponent.parse().ok()?)))
}

/// The time of day that `17h45` means.
pub(super) fn clock_of_hours(text: &str) -> Option<Minutes> {
    let (hour, minute) = text.split_once(['h', 'H'])?;
    let is_clock = (1..=2).contains(&hour.len()) && minute.len() == 2;
    date::clock(&format!("{hour}:{minute}")).filter(|_| is_clock)
}

/// `1h30`, `2h15m10s`, `1d4h` in seconds.
fn duration(text: &str) -> Option<f64> {
    let (mut total, mut last) = (0.0, f64::INFINITY);
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let value: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let size = match &rest[..letters] {
            "" if (last - 3600.0).abs() < 1.0 => 60.0,
            "m" => 60.0,
            word => units::named(word).filter(|unit| unit.dimension == Dimension::Time)?.size,
        };
        if size >= last {
            return None;
        }
        total += value * size;
        last = size;
        rest = &rest[letters..];
    }
    last.is_finite().then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_versions_are_not_numbers() {
        for text in [
            "1.2.3",
            "192.168.0.1",
            "4d2a9f1",
            "12ab",
            "123456-789012",
            "2h5x",
            "0x1f",
            "3D",
            "1-2-3-4",
        ] {
            assert_eq!(read(text), Numeral::Other, "{text}");
        }
    }

    #[test]
    fn durations_add_up() {
        assert_eq!(duration("1h30"), Some(5400.0));
        assert_eq!(duration("2h15m10s"), Some(8110.0));
        assert_eq!(duration("1d4h"), Some(100_800.0));
        assert_eq!(duration("5m2h"), None);
    }
}
