//! Points in time as runs are stored with them, and as users write them. Pure: the clock is handed in.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use time::format_description::well_known::Rfc3339;
use time::{Date, Month, OffsetDateTime, Time, UtcOffset};

/// A second in UTC, from year 0 to 9999. Its text form sorts as time does: `2026-11-15T22:33:44Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(OffsetDateTime);

impl Moment {
    /// The earliest moment at or after `time`; none beyond the year 9999.
    fn of(time: OffsetDateTime) -> Option<Self> {
        let time = time.checked_to_offset(UtcOffset::UTC)?;
        let whole = time.replace_nanosecond(0).ok()?;
        let whole = if whole < time { whole.checked_add(time::Duration::SECOND)? } else { whole };
        (0..=9999).contains(&whole.year()).then_some(Self(whole))
    }
}

impl From<SystemTime> for Moment {
    /// The second that `time` is in.
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

/// The end of a time that lies in the past, as a user writes it: how long ago, or when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cutoff {
    /// `30m`, `12h`, `7d`, `2w`.
    Ago(Duration),
    /// `2026-11-01` (the beginning of that day in UTC) or an RFC 3339 timestamp.
    At(Moment),
}

impl Cutoff {
    /// The moment it means.
    pub fn moment(self, now: SystemTime) -> Moment {
        match self {
            Self::Ago(span) => now.checked_sub(span).unwrap_or(SystemTime::UNIX_EPOCH).into(),
            Self::At(moment) => moment,
        }
    }
}

/// Why a text is no [`Cutoff`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCutoff {
    /// It looks like none at all.
    #[error(
        "expected a span such as 30m, 12h, 7d or 2w, a date such as 2026-11-01, or a timestamp such as 2026-11-01T12:00:00Z"
    )]
    Unknown,
    /// It looks like a date, but the calendar has none like it.
    #[error("there is no such date")]
    NoDate,
    /// It is a span of no length.
    #[error("expected a span above 0")]
    Zero,
    /// It is a span beyond any run.
    #[error("expected a span of at most {LONGEST_DAYS} days")]
    TooLong,
    /// A timestamp that could mean two dozen moments.
    #[error("expected an offset at the end of the timestamp, such as Z for UTC, or +01:00")]
    NoOffset,
}

const LONGEST_DAYS: u64 = 36_500;
const DAY: u64 = 24 * 60 * 60;

impl FromStr for Cutoff {
    type Err = NoCutoff;

    fn from_str(text: &str) -> Result<Self, NoCutoff> {
        match text.bytes().next() {
            Some(first) if first.is_ascii_digit() && text.is_ascii() => {}
            _ => return Err(NoCutoff::Unknown),
        }
        if text.contains('-') { at(text).map(Self::At) } else { span(text).map(Self::Ago) }
    }
}

fn span(text: &str) -> Result<Duration, NoCutoff> {
    let (digits, unit) = text.split_at(text.len() - 1);
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => DAY,
        "w" => 7 * DAY,
        _ => return Err(NoCutoff::Unknown),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NoCutoff::Unknown);
    }
    // What overflows is longer than the longest span.
    let number = digits.parse::<u64>().map_err(|_| NoCutoff::TooLong)?;
    match number.checked_mul(seconds) {
        Some(0) => Err(NoCutoff::Zero),
        Some(seconds) if seconds <= LONGEST_DAYS * DAY => Ok(Duration::from_secs(seconds)),
        _ => Err(NoCutoff::TooLong),
    }
}

fn at(text: &str) -> Result<Moment, NoCutoff> {
    if text.len() <= "2026-11-01".len() {
        let midnight = date(text)?.with_time(Time::MIDNIGHT).assume_utc();
        return Moment::of(midnight).ok_or(NoCutoff::NoDate);
    }
    date(text.get(..10).unwrap_or_default())?;
    match OffsetDateTime::parse(text, &Rfc3339) {
        Ok(time) => Moment::of(time).ok_or(NoCutoff::NoDate),
        // With an offset it is right, so nothing but the offset was missing.
        Err(_) if OffsetDateTime::parse(&format!("{text}Z"), &Rfc3339).is_ok() => {
            Err(NoCutoff::NoOffset)
        }
        Err(_) => Err(NoCutoff::Unknown),
    }
}

/// `2026-11-01`, with all its digits.
fn date(text: &str) -> Result<Date, NoCutoff> {
    let bytes = text.as_bytes();
    let is_shaped = bytes.len() == 10
        && bytes.iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_shaped {
        return Err(NoCutoff::Unknown);
    }
    let number = |from: usize, to: usize| text[from..to].parse::<u16>().unwrap_or_default();
    let month = Month::try_from(number(5, 7) as u8).map_err(|_| NoCutoff::NoDate)?;
    let date = Date::from_calendar_date(number(0, 4).into(), month, number(8, 10) as u8);
    date.map_err(|_| NoCutoff::NoDate)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_mins(29_915_000)
    }

    fn moment(text: &str) -> Result<String, NoCutoff> {
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
            // A run of that second was before it.
            ("2026-11-01T12:00:00.5Z", "2026-11-01T12:00:01Z"),
        ] {
            assert_eq!(moment(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        use NoCutoff::*;
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
        /// Nothing that is not understood completely is taken for something.
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
