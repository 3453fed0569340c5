//! Points in time, as stored with runs and as written by users. Pure: the caller provides the current time.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use time::format_description::well_known::Rfc3339;
use time::{Date, Month, OffsetDateTime, Time, UtcOffset};

/// A second in UTC, from year 0 to 9999. Its text form sorts chronologically: `2026-11-15T22:33:44Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(OffsetDateTime);

impl Moment {
    /// The earliest moment at or after `time`; `None` after the year 9999.
    fn of(time: OffsetDateTime) -> Option<Self> {
        let time = time.checked_to_offset(UtcOffset::UTC)?;
        let whole = time.replace_nanosecond(0).ok()?;
        let whole = if whole < time { whole.checked_add(time::Duration::SECOND)? } else { whole };
        (0..=9999).contains(&whole.year()).then_some(Self(whole))
    }
}

impl From<SystemTime> for Moment {
    /// Truncates to the second.
    fn from(time: SystemTime) -> Self {
        let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let known = i64::try_from(seconds).ok();
        let time = known.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
        Self(time.unwrap_or(OffsetDateTime::UNIX_EPOCH))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.0.to_calendar_date();
        let (hour, minute, second) = self.0.to_hms();
        let month = u8::from(month);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// A point in the past, as written by a user: how long ago, or when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cutoff {
    /// `30m`, `12h`, `7d`, `2w`.
    Ago(Duration),
    /// `2026-11-01` (the beginning of that day in UTC) or an RFC 3339 timestamp.
    At(Moment),
}

impl Cutoff {
    /// The moment of the cutoff.
    pub fn moment(self, now: SystemTime) -> Moment {
        match self {
            Self::Ago(span) => now.checked_sub(span).unwrap_or(SystemTime::UNIX_EPOCH).into(),
            Self::At(moment) => moment,
        }
    }
}

/// Why a text is not a valid [`Cutoff`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CutoffError {
    /// Neither a span, a date nor a timestamp.
    #[error(
        "expected a span such as 30m, 12h, 7d or 2w, a date such as 2026-11-01, or a timestamp such as 2026-11-01T12:00:00Z"
    )]
    Unknown,
    /// A date that does not exist in the calendar.
    #[error("this date does not exist")]
    NoDate,
    /// A span of length 0.
    #[error("expected a span above 0")]
    Zero,
    /// A span that is too long.
    #[error("expected a span of at most {LONGEST_DAYS} days")]
    TooLong,
    /// A timestamp without an offset, which is ambiguous.
    #[error("expected an offset at the end of the timestamp, such as Z for UTC, or +01:00")]
    NoOffset,
}

const LONGEST_DAYS: u64 = 36_500;
const DAY: u64 = 24 * 60 * 60;

impl FromStr for Cutoff {
    type Err = CutoffError;

    fn from_str(text: &str) -> Result<Self, CutoffError> {
        match text.bytes().next() {
            Some(first) if first.is_ascii_digit() && text.is_ascii() => {}
            _ => return Err(CutoffError::Unknown),
        }
        if text.contains('-') { at(text).map(Self::At) } else { span(text).map(Self::Ago) }
    }
}

fn span(text: &str) -> Result<Duration, CutoffError> {
    let (digits, unit) = text.split_at(text.len() - 1);
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => DAY,
        "w" => 7 * DAY,
        _ => return Err(CutoffError::Unknown),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CutoffError::Unknown);
    }
    // A number that overflows is too long in any unit.
    let number = digits.parse::<u64>().map_err(|_| CutoffError::TooLong)?;
    match number.checked_mul(seconds) {
        Some(0) => Err(CutoffError::Zero),
        Some(seconds) if seconds <= LONGEST_DAYS * DAY => Ok(Duration::from_secs(seconds)),
        _ => Err(CutoffError::TooLong),
    }
}

fn at(text: &str) -> Result<Moment, CutoffError> {
    if text.len() <= "2026-11-01".len() {
        let midnight = date(text)?.with_time(Time::MIDNIGHT).assume_utc();
        return Moment::of(midnight).ok_or(CutoffError::NoDate);
    }
    date(text.get(..10).unwrap_or_default())?;
    match OffsetDateTime::parse(text, &Rfc3339) {
        Ok(time) => Moment::of(time).ok_or(CutoffError::NoDate),
        // It is valid with an offset, so only the offset is missing.
        Err(_) if OffsetDateTime::parse(&format!("{text}Z"), &Rfc3339).is_ok() => {
            Err(CutoffError::NoOffset)
        }
        Err(_) => Err(CutoffError::Unknown),
    }
}

/// Parses `2026-11-01`. All digits are required.
fn date(text: &str) -> Result<Date, CutoffError> {
    let bytes = text.as_bytes();
    let is_shaped = bytes.len() == 10
        && bytes.iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_shaped {
        return Err(CutoffError::Unknown);
    }
    let number = |from: usize, to: usize| text[from..to].parse::<u16>().unwrap_or_default();
    let month = Month::try_from(number(5, 7) as u8).map_err(|_| CutoffError::NoDate)?;
    let date = Date::from_calendar_date(number(0, 4).into(), month, number(8, 10) as u8);
    date.map_err(|_| CutoffError::NoDate)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_mins(29_915_000)
    }

    fn moment(text: &str) -> Result<String, CutoffError> {
        text.parse::<Cutoff>().map(|cutoff| cutoff.moment(now()).to_string())
    }

    #[test]
    fn spans_dates_and_timestamps_are_moments() {
        assert_eq!(Moment::from(now()).to_string(), "2026-11-17T07:20:00Z");
        for (text, expected) in [
            ("1s", "2026-11-17T07:19:59Z"),
            ("30m", "2026-11-17T06:50:00Z"),
            ("12h", "2026-11-16T19:20:00Z"),
            ("7d", "2026-11-10T07:20:00Z"),
            ("2w", "2026-11-03T07:20:00Z"),
            ("36500d", "1970-01-01T00:00:00Z"),
            ("2026-11-01", "2026-11-01T00:00:00Z"),
            ("2024-02-29", "2024-02-29T00:00:00Z"),
            ("2026-11-01T12:00:00Z", "2026-11-01T12:00:00Z"),
            ("2026-11-01t12:00:00z", "2026-11-01T12:00:00Z"),
            ("2026-11-01T00:30:00+01:00", "2026-10-31T23:30:00Z"),
            // Rounded up, so that runs in that second count as before it.
            ("2026-11-01T12:00:00.5Z", "2026-11-01T12:00:01Z"),
        ] {
            assert_eq!(moment(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        use CutoffError::*;
        for (text, why) in [
            ("", Unknown),
            ("yesterday", Unknown),
            ("banana", Unknown),
            ("-7d", Unknown),
            ("+7d", Unknown),
            (" 7d", Unknown),
            ("7", Unknown),
            ("7 d", Unknown),
            ("7D", Unknown),
            ("7.5d", Unknown),
            ("1d12h", Unknown),
            ("d", Unknown),
            ("7y", Unknown),
            ("٧d", Unknown),
            ("0d", Zero),
            ("36501d", TooLong),
            ("18446744073709551615w", TooLong),
            ("99999999999999999999999d", TooLong),
            ("2026-13-45", NoDate),
            ("2026-02-29", NoDate),
            ("2026-00-01", NoDate),
            ("2026-11-31T00:00:00Z", NoDate),
            ("2026-11", Unknown),
            ("2026-11-1", Unknown),
            ("20261101", Unknown),
            ("01-11-2026", Unknown),
            ("2026-11-01 x", Unknown),
            ("2026-11-01T12:00:00", NoOffset),
            ("2026-11-01T25:00:00Z", Unknown),
            ("9999-12-31T23:59:59-01:00", NoDate),
        ] {
            assert_eq!(moment(text), Err(why), "{text:?}");
        }
    }

    proptest! {
        /// Every accepted text has one of the documented forms.
        #[test]
        fn what_is_taken_has_one_of_the_three_shapes(text in "[-0-9dhmswTZ:+. ]{0,26}|.*") {
            if let Ok(cutoff) = text.parse::<Cutoff>() {
                let is_span = text.ends_with(['s', 'm', 'h', 'd', 'w'])
                    && text[..text.len() - 1].bytes().all(|byte| byte.is_ascii_digit());
                prop_assert!(is_span || date(&text[..10]).is_ok(), "{text}");
                prop_assert!(!is_span || cutoff.moment(now()) < Moment::from(now()), "{text}");
            }
        }

        #[test]
        fn the_text_of_a_moment_is_that_moment_and_sorts_as_it(
            a in 0_u64..200_000_000_000, b in 0_u64..200_000_000_000,
        ) {
            let at = |seconds| Moment::from(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            prop_assert_eq!(at(a).to_string().parse::<Cutoff>(), Ok(Cutoff::At(at(a))));
            prop_assert_eq!(at(a).to_string().cmp(&at(b).to_string()), a.cmp(&b));
        }
    }
}
