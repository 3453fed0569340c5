//! Days, months and times of day as people and programs write them.

use super::word_list::WordList;
use time::{Date, Month, OffsetDateTime};

/// A day; the year may be left to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Day {
    pub year: Option<i32>,
    pub month: u8,
    pub day: u8,
}

impl Day {
    pub fn new(year: Option<i32>, month: u8, day: u8) -> Option<Self> {
        // Any leap year accepts every day that exists.
        let date = Month::try_from(month)
            .ok()
            .and_then(|name| Date::from_calendar_date(year.unwrap_or(2024), name, day).ok());
        date.filter(|date| (1800..=2200).contains(&date.year())).map(|_| Self { year, month, day })
    }

    /// The number of the day since a fixed one, if the year is known.
    pub fn number(self) -> Option<i32> {
        let month = Month::try_from(self.month).ok()?;
        Some(Date::from_calendar_date(self.year?, month, self.day).ok()?.to_julian_day())
    }
}

/// The time of day in minutes.
pub type Minutes = u16;

const NAMES: [(&str, &str); 12] = [
    ("jan", "january"),
    ("feb", "february"),
    ("mar", "march"),
    ("apr", "april"),
    ("may", "may"),
    ("jun", "june"),
    ("jul", "july"),
    ("aug", "august"),
    ("sep", "september"),
    ("oct", "october"),
    ("nov", "november"),
    ("dec", "december"),
];

/// Names of months in other languages of Europe that differ from the English ones.
const FOREIGN: [(&str, u8); 20] = [
    ("januar", 1),
    ("februar", 2),
    ("märz", 3),
    ("mai", 5),
    ("juni", 6),
    ("juli", 7),
    ("oktober", 10),
    ("dezember", 12),
    ("janvier", 1),
    ("février", 2),
    ("mars", 3),
    ("avril", 4),
    ("juin", 6),
    ("juillet", 7),
    ("août", 8),
    ("enero", 1),
    ("mayo", 5),
    ("junio", 6),
    ("julio", 7),
    ("diciembre", 12),
];

/// The month that a word names.
pub fn month(word: &str) -> Option<u8> {
    if word.len() < 3 || word.len() > 10 {
        return None;
    }
    let begins = word.chars().next().is_some_and(|c| "jfmasondeJFMASONDE".contains(c));
    if !begins {
        return None;
    }
    let english = NAMES.iter().position(|(short, long)| {
        word.eq_ignore_ascii_case(short) || word.eq_ignore_ascii_case(long)
    });
    let english = english.or_else(|| word.eq_ignore_ascii_case("sept").then_some(8));
    let found = english.and_then(|index| u8::try_from(index + 1).ok());
    let foreign = || FOREIGN.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    found.or_else(|| foreign().map(|(_, number)| *number))
}

/// Words that leave the day to the reader: whoever uses them may mean any day.
pub fn is_relative(word: &str) -> bool {
    static WORDS: WordList = WordList::new(
        "today tonight tomorrow yesterday now weekend monday tuesday wednesday thursday friday \
         saturday sunday mon tue wed thu fri recent recently lately upcoming ago ytd christmas easter heute morgen gestern montag dienstag mittwoch donnerstag freitag \
         samstag sonntag hoy mañana ayer demain hier lunes lundi fortnight",
    );
    WORDS.has(word)
}

/// Whether two neighbouring words leave the day to the reader: `next week`, `past 30` (days), `this quarter`.
pub fn is_relative_pair(first: &str, second: &str) -> bool {
    let points = matches!(
        first,
        "this"
            | "next"
            | "last"
            | "past"
            | "coming"
            | "previous"
            | "current"
            | "following"
            | "nächste"
            | "nächsten"
            | "letzte"
            | "letzten"
            | "diese"
            | "dieser"
    );
    let span = matches!(
        second,
        "day"
            | "days"
            | "week"
            | "weeks"
            | "month"
            | "months"
            | "quarter"
            | "year"
            | "years"
            | "few"
            | "couple"
            | "hour"
            | "hours"
            | "woche"
            | "monat"
            | "jahr"
    );
    points && (span || second.bytes().all(|byte| byte.is_ascii_digit()))
        || first == "from" && matches!(second, "now" | "here")
        || first == "in" && span
}

/// Words that leave the time of day to the reader.
pub fn is_relative_time(word: &str) -> bool {
    matches!(
        word,
        "now"
            | "morning"
            | "afternoon"
            | "evening"
            | "tonight"
            | "night"
            | "noon"
            | "midnight"
            | "lunch"
            | "lunchtime"
            | "dinner"
            | "breakfast"
            | "hour"
            | "hours"
            | "minutes"
            | "later"
            | "early"
            | "earliest"
            | "late"
            | "immediately"
            | "asap"
            | "am"
            | "pm"
            | "o'clock"
            | "oclock"
    )
}

/// The first month of a quarter: `Q2`.
pub fn quarter(word: &str) -> Option<u8> {
    let number: u8 = word.strip_prefix(['q', 'Q'])?.parse().ok()?;
    (1..=4).contains(&number).then_some(number * 3 - 2)
}

/// The numbers of the days of a week of ISO 8601.
pub fn week(year: i32, week: u8) -> Option<std::ops::Range<i32>> {
    let monday = Date::from_iso_week_date(year, week, time::Weekday::Monday).ok()?.to_julian_day();
    Some(monday..monday + 7)
}

/// A week in the form of ISO 8601: `2026-W21`.
pub fn iso_week(text: &str) -> Option<std::ops::Range<i32>> {
    let (year, number) = text.split_once(['W', 'w'])?;
    let year = year.strip_suffix('-').unwrap_or(year);
    week(full_year(year).filter(|_| year.len() == 4)?, number.parse().ok()?)
}

/// The seconds of a duration in the form of ISO 8601: `PT3H35M`, `P2D`.
pub fn iso_duration(text: &str) -> Option<f64> {
    let rest = text.strip_prefix('P').filter(|rest| !rest.is_empty() && rest.len() < 30)?;
    let (mut total, mut digits, mut in_time) = (0.0, String::new(), false);
    for c in rest.chars() {
        let size = match c {
            'T' => {
                in_time = true;
                continue;
            }
            '0'..='9' | '.' => {
                digits.push(c);
                continue;
            }
            'W' => 604_800.0,
            'D' => 86_400.0,
            'H' => 3600.0,
            'M' if in_time => 60.0,
            'S' => 1.0,
            _ => return None,
        };
        total += digits.parse::<f64>().ok()? * size;
        digits.clear();
    }
    (digits.is_empty() && rest.len() > 1).then_some(total)
}

/// The days that a text of digits and separators may mean: `2026-05-03`, `05/03/2026`, `3.5.26`, `20260503`.
pub fn days(text: &str) -> Vec<Day> {
    if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let plausible = text.starts_with("19") || text.starts_with("20");
        let day = plausible.then(|| from_parts(&text[..4], &text[4..6], &text[6..])).flatten();
        return day.into_iter().collect();
    }
    let Some(mark) = text.chars().find(|c| !c.is_ascii_alphanumeric()) else { return Vec::new() };
    if !matches!(mark, '-' | '/' | '.') {
        return Vec::new();
    }
    let parts: Vec<&str> = text.split(mark).collect();
    let [a, b, c] = parts.as_slice() else { return Vec::new() };
    if let Some(number) = month(b) {
        // `03-May-2026`
        let day = a.parse().ok().and_then(|day| Day::new(full_year(c), number, day));
        return day.into_iter().collect();
    }
    if a.len() == 4 {
        return from_parts(a, b, c).into_iter().collect();
    }
    // Europe writes the day first, America the month.
    let mut found: Vec<Day> = Vec::new();
    for day in [from_parts(c, b, a), from_parts(c, a, b)].into_iter().flatten() {
        if !found.contains(&day) {
            found.push(day);
        }
    }
    found
}

fn from_parts(year: &str, month: &str, day: &str) -> Option<Day> {
    let short = |text: &str| text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !short(month) || !short(day) {
        return None;
    }
    Day::new(Some(full_year(year)?), month.parse().ok()?, day.parse().ok()?)
}

/// A year of two or four digits.
pub fn full_year(text: &str) -> Option<i32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let year: i32 = text.parse().ok().filter(|_| digits)?;
    match text.len() {
        4 => (1800..=2200).contains(&year).then_some(year),
        2 => Some(if year < 70 { 2000 + year } else { 1900 + year }),
        _ => None,
    }
}

/// The time of day in a text: `14:30`, `14:30:15.250`, `9:05`. Seconds are not kept.
pub fn clock(text: &str) -> Option<Minutes> {
    let mut parts = text.split(':');
    let (hour, minute) = (parts.next()?, parts.next()?);
    let two = |text: &str| {
        (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let seconds = parts.next().map(|rest| rest.split('.').next().unwrap_or(rest));
    if !two(hour)
        || minute.len() != 2
        || !two(minute)
        || !seconds.is_none_or(two)
        || parts.next().is_some()
    {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

/// A day, a time or both in the form of ISO 8601 or RFC 3339, and whether a zone is given.
pub fn timestamp(text: &str) -> Option<(Day, Option<Minutes>, bool)> {
    let (date, rest) = (text.get(..10)?, text.get(10..)?);
    let day = days(date).into_iter().next().filter(|_| date.as_bytes().get(4) == Some(&b'-'))?;
    if rest.is_empty() {
        return Some((day, None, false));
    }
    let rest = rest.strip_prefix(['T', 't', ' ', '_'])?;
    let end = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(end);
    let time = match time.len() {
        // `T14`, `T1430`
        2 => time.parse().ok().map(|hour: u16| hour * 60),
        4 | 6 if time.bytes().all(|byte| byte.is_ascii_digit()) => {
            clock(&format!("{}:{}", &time[..2], &time[2..4]))
        }
        _ => clock(time),
    };
    time.map(|time| (day, Some(time), !zone.is_empty()))
}

/// The moment that seconds or milliseconds since 1970 mean, if they are of this age.
pub fn from_unix(value: f64) -> Option<(Day, Minutes)> {
    let seconds = match value {
        946_684_800.0..4_102_444_800.0 => value,
        946_684_800e3..4_102_444_800e3 => value / 1e3,
        946_684_800e6..4_102_444_800e6 => value / 1e6,
        _ => return None,
    };
    let moment = OffsetDateTime::from_unix_timestamp(seconds as i64).ok()?;
    let day = Day::new(Some(moment.year()), moment.month().into(), moment.day())?;
    Some((day, u16::from(moment.hour()) * 60 + u16::from(moment.minute())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(year: i32, month: u8, day: u8) -> Day {
        Day { year: Some(year), month, day }
    }

    #[test]
    fn dates_have_one_reading_or_two() {
        for text in ["2026-05-03", "2026/05/03", "20260503", "03-May-2026"] {
            assert_eq!(days(text), [day(2026, 5, 3)], "{text}");
        }
        assert_eq!(days("05/03/2026"), [day(2026, 3, 5), day(2026, 5, 3)]);
        assert_eq!(days("31.12.2026"), [day(2026, 12, 31)]);
        assert_eq!(days("5/5/26"), [day(2026, 5, 5)]);
        for text in ["2026-13-01", "1.2.3", "2.4.1", "99999999", "2026-02-30", "1/2", "a-b-c", ""] {
            assert!(
                days(text).iter().all(|day| day.year.is_some_and(|year| year < 2010)),
                "{text}"
            );
        }
        assert!(days("2026-02-30").is_empty() && days("32/13/2026").is_empty());
    }

    #[test]
    fn timestamps_hold_a_time_and_perhaps_a_zone() {
        let may = day(2026, 5, 3);
        assert_eq!(timestamp("2026-05-03T14:30:00Z"), Some((may, Some(870), true)));
        assert_eq!(timestamp("2026-05-03T14:30:00.123+02:00"), Some((may, Some(870), true)));
        assert_eq!(timestamp("2026-05-03T14:30"), Some((may, Some(870), false)));
        assert_eq!(timestamp("2026-05-03"), Some((may, None, false)));
        assert_eq!(timestamp("2026-05-03Thursday"), None);
        assert_eq!(from_unix(1_777_818_600.0), Some((may, 870)));
        assert_eq!(from_unix(1_777_818_600_000.0), Some((may, 870)));
        assert_eq!(from_unix(42.0), None);
    }

    #[test]
    fn weeks_begin_on_monday() {
        let monday = day(2026, 5, 18).number().unwrap();
        assert_eq!(iso_week("2026-W21"), Some(monday..monday + 7));
        assert_eq!((iso_week("2026-W60"), iso_week("W21"), iso_week("26W21")), (None, None, None));
    }

    #[test]
    fn months_have_names_and_times_have_colons() {
        assert_eq!((month("Sept"), month("märz"), month("maybe")), (Some(9), Some(3), None));
        assert_eq!(
            (clock("9:05"), clock("24:00"), clock("1:2"), clock("14:30:15")),
            (Some(545), None, None, Some(870))
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "\\PC{0,30}") {
            let _ = (days(&text), timestamp(&text), clock(&text), month(&text), full_year(&text));
        }

        #[test]
        fn every_day_is_read_back(number in 2_440_000i32..2_480_000) {
            let date = Date::from_julian_day(number).unwrap();
            let text = date.to_string();
            prop_assert_eq!(days(&text)[0].number(), Some(number));
        }
    }
}
