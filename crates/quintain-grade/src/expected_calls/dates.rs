//! Whether two values name the same day or moment in different notations.

use serde_json::Value;
use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

/// A day, and the time of day if one is written.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moment {
    date: Date,
    time: Option<(Time, Option<UtcOffset>)>,
}

/// Whether both are dates and name the same day, or the same moment if both have a time.
pub(super) fn same_date(left: &Value, right: &Value) -> bool {
    match (moment(left), moment(right)) {
        (Some(one), Some(other)) => is_same(one, other),
        _ => false,
    }
}

fn is_same(one: Moment, other: Moment) -> bool {
    match (one.time, other.time) {
        (Some((time, Some(offset))), Some((other_time, Some(other_offset)))) => {
            let left = PrimitiveDateTime::new(one.date, time).assume_offset(offset);
            left == PrimitiveDateTime::new(other.date, other_time).assume_offset(other_offset)
        }
        (Some((time, _)), Some((other_time, _))) => one.date == other.date && time == other_time,
        _ => one.date == other.date,
    }
}

fn moment(value: &Value) -> Option<Moment> {
    if let Some(number) = value.as_f64() {
        return seconds(number);
    }
    let text = value.as_str()?.trim();
    if text.len() > 60 {
        return None;
    }
    let mut parts: Vec<String> = Vec::new();
    // A date is made of words; `T` between date and time separates them, too.
    let spaced: String = text.chars().map(|c| if c == ',' { ' ' } else { c }).collect();
    for word in spaced.split_whitespace() {
        match word
            .split_once(['T', 't'])
            .filter(|(day, _)| day.ends_with(|c: char| c.is_ascii_digit()) && day.contains('-'))
        {
            Some((day, time)) => parts.extend([day.to_owned(), time.to_owned()]),
            None => parts.push(word.to_owned()),
        }
    }
    let (date, used) = numeric(parts.first()?).map(|date| (date, 1)).or_else(|| {
        let skip = usize::from(is_weekday(&parts[0]));
        worded(parts.get(skip..skip + 3)?).map(|date| (date, skip + 3))
    })?;
    let rest = &parts[used..];
    if rest.is_empty() {
        return Some(Moment { date, time: None });
    }
    Some(Moment { date, time: Some(clock(rest)?) })
}

/// Seconds or milliseconds since 1970.
fn seconds(number: f64) -> Option<Moment> {
    let seconds = if number.abs() >= 1e11 { number / 1000.0 } else { number };
    if !(1e8..1e11).contains(&seconds) {
        return None;
    }
    let moment = OffsetDateTime::from_unix_timestamp(seconds as i64).ok()?;
    Some(Moment { date: moment.date(), time: Some((moment.time(), Some(UtcOffset::UTC))) })
}

/// `2026-03-05`, `2026/3/5`, `20260305` or `05.03.2026`.
fn numeric(word: &str) -> Option<Date> {
    if word.len() == 8 && word.bytes().all(|b| b.is_ascii_digit()) {
        return date(word.get(..4)?, word.get(4..6)?, word.get(6..)?);
    }
    let separator = word.chars().find(|c| matches!(c, '-' | '/' | '.'))?;
    let parts: Vec<&str> = word.trim_end_matches('.').split(separator).collect();
    match parts.as_slice() {
        [year, month, day] if year.len() == 4 => date(year, month, day),
        [day, month, year] if year.len() == 4 && separator == '.' => date(year, month, day),
        // Whether day or month comes first is known only if one of them cannot be a month.
        [first, second, year] if year.len() == 4 => {
            let (one, other): (u8, u8) = (first.parse().ok()?, second.parse().ok()?);
            match (one > 12, other > 12) {
                (true, false) => date(year, second, first),
                (false, true) => date(year, first, second),
                (false, false) if one == other => date(year, first, second),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `March 5 2026`, `5 March 2026` or `5th Mar 2026`.
fn worded(words: &[String]) -> Option<Date> {
    let [first, second, year] = words else { return None };
    let (month, day) = match (month(first), month(second)) {
        (Some(month), None) => (month, second),
        (None, Some(month)) => (month, first),
        _ => return None,
    };
    let day = day.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
    Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()
}

fn date(year: &str, month: &str, day: &str) -> Option<Date> {
    let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
    Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

fn month(word: &str) -> Option<Month> {
    let word = word.trim_end_matches('.').to_lowercase();
    let position = MONTHS.iter().position(|name| word.len() >= 3 && name.starts_with(&word))?;
    Month::try_from(position as u8 + 1).ok()
}

fn is_weekday(word: &str) -> bool {
    let word = word.trim_end_matches('.').to_lowercase();
    let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    word.len() >= 3 && days.iter().any(|day| day.starts_with(&word))
}

/// `14:30`, `14:30:05Z`, `2:30 PM`, `14:30 +02:00`.
fn clock(words: &[String]) -> Option<(Time, Option<UtcOffset>)> {
    let mut text = words.concat().to_lowercase();
    let mut afternoon = None;
    for (suffix, is_afternoon) in [("am", false), ("pm", true)] {
        if let Some(rest) = text.strip_suffix(suffix) {
            afternoon = Some(is_afternoon);
            text = rest.to_owned();
            break;
        }
    }
    let (digits, offset) = offset(&text)?;
    let mut fields = digits.split(':');
    let hour: u8 = fields.next()?.parse().ok()?;
    let minute: u8 = fields.next().map_or(Some(0), |field| field.parse().ok())?;
    let second: f64 = fields.next().map_or(Some(0.0), |field| field.parse().ok())?;
    let hour = match afternoon {
        None => hour,
        Some(_) if hour > 12 => return None,
        Some(is_afternoon) => hour % 12 + if is_afternoon { 12 } else { 0 },
    };
    let time = Time::from_hms(hour, minute, second as u8).ok()?;
    fields.next().is_none().then_some((time, offset))
}

fn offset(text: &str) -> Option<(&str, Option<UtcOffset>)> {
    for zone in ["z", "utc", "gmt"] {
        if let Some(rest) = text.strip_suffix(zone) {
            return Some((rest, Some(UtcOffset::UTC)));
        }
    }
    let Some(at) = text.find(['+', '-']) else { return Some((text, None)) };
    let (digits, written) = text.split_at(at);
    let sign = if written.starts_with('-') { -1 } else { 1 };
    let written: String = written.chars().filter(char::is_ascii_digit).collect();
    let hours: i8 = written.get(..2)?.parse().ok()?;
    let minutes: i8 = written.get(2..4).map_or(Some(0), |minutes| minutes.parse().ok())?;
    let offset = UtcOffset::from_hms(sign * hours, sign * minutes, 0).ok()?;
    Some((digits, Some(offset)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn notations_of_the_same_day_agree() {
        let day = json!("2026-03-05");
        for other in [
            "2026/3/5",
            "05.03.2026",
            "March 5, 2026",
            "5 March 2026",
            "5th Mar. 2026",
            "Thu, 05 Mar 2026 10:00:00 GMT",
            "2026-03-05T23:59:59Z",
            "20260305",
        ] {
            assert!(same_date(&day, &json!(other)), "{other}");
        }
        for other in ["2026-03-06", "03/05/2026", "March 2026", "2026-13-05", "soon", ""] {
            assert!(!same_date(&day, &json!(other)), "{other}");
        }
        assert!(same_date(&json!("2026-03-25"), &json!("03/25/2026")));
    }

    #[test]
    fn moments_are_compared_across_time_zones() {
        let noon = json!("2026-03-05T12:00:00Z");
        assert!(same_date(&noon, &json!("2026-03-05 14:00 +02:00")));
        assert!(same_date(&noon, &json!("2026-03-05T12:00:00.000Z")));
        assert!(same_date(&noon, &json!(1_772_712_000)));
        assert!(same_date(&noon, &json!(1_772_712_000_000_i64)));
        assert!(!same_date(&noon, &json!("2026-03-05T12:00:01Z")));
        assert!(same_date(&json!("2026-03-05 14:30"), &json!("March 5, 2026 2:30 PM")));
        assert!(!same_date(&json!(5), &json!(5)), "a small number is not a date");
    }

    proptest! {
        #[test]
        fn odd_texts_are_no_dates_and_do_no_harm(text in ".{0,40}") {
            let value = json!(text);
            let _ = same_date(&value, &json!("2026-03-05"));
        }
    }
}
