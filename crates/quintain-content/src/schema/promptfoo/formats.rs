//! The formats of ajv-formats. Where they differ from the standard, they are right here.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

pub(in crate::schema) type Format = (&'static str, fn(&str) -> bool);

pub(in crate::schema) const ALL: &[Format] = &[
    ("date", date),
    ("time", |text| time(text, true)),
    ("date-time", |text| date_time(text, true)),
    ("iso-time", |text| time(text, false)),
    ("iso-date-time", |text| date_time(text, false)),
    ("duration", duration),
    ("uri", uri),
    ("uri-reference", |text| URI_REFERENCE.is_match(text)),
    ("uri-template", |text| URI_TEMPLATE.is_match(text)),
    ("url", url),
    ("email", |text| EMAIL.is_match(text)),
    ("hostname", |text| text.trim_end_matches('.').len() <= 253 && HOSTNAME.is_match(text)),
    ("ipv4", |text| text.parse::<Ipv4Addr>().is_ok()),
    ("ipv6", |text| text.parse::<Ipv6Addr>().is_ok()),
    ("regex", regex),
    ("uuid", |text| UUID.is_match(text)),
    ("json-pointer", |text| POINTER.is_match(text)),
    ("json-pointer-uri-fragment", |text| POINTER_FRAGMENT.is_match(text)),
    ("relative-json-pointer", |text| RELATIVE_POINTER.is_match(text)),
    ("byte", byte),
    ("password", |_| true),
    ("binary", |_| true),
];
/// About numbers; the library asks about text only, so these are known and never violated.
const OF_NUMBERS: [&str; 4] = ["int32", "int64", "float", "double"];

pub(super) fn is_known(name: &str) -> bool {
    ALL.iter().any(|(known, _)| *known == name) || OF_NUMBERS.contains(&name)
}

macro_rules! patterns {
    ($($name:ident = $pattern:expr;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new($pattern).unwrap()
        });)*

        #[cfg(test)]
        fn compile_all() {
            $(let _ = &*$name;)*
        }
    };
}

patterns! {
    DATE = r"^([0-9]{4})-([0-9]{2})-([0-9]{2})$";
    TIME = r"(?i)^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(z|([+-])([0-9]{2})(?::?([0-9]{2}))?)?$";
    DURATION = r"^P(?:(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?(?:T(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?|(?:[0-9]+W)?)$";
    URI_REFERENCE = r#"(?i)^(?:[a-z][a-z0-9+\-.]*:)?(?:[a-z0-9\-._~!$&'"()*+,;=:@/\[\]]|%[0-9a-f]{2})*(?:\?(?:[a-z0-9\-._~!$&'"()*+,;=:@/?]|%[0-9a-f]{2})*)?(?:#(?:[a-z0-9\-._~!$&'"()*+,;=:@/?]|%[0-9a-f]{2})*)?$"#;
    URI = r"(?i)^[a-z][a-z0-9+\-.]*:(?://)?[^\s]*$";
    URI_TEMPLATE = r#"(?i)^(?:(?:[^\x00-\x20"'<>%\\^`{|}]|%[0-9a-f]{2})|\{[+#./;?&=,!@|]?(?:[a-z0-9_]|%[0-9a-f]{2})+(?::[1-9][0-9]{0,3}|\*)?(?:,(?:[a-z0-9_]|%[0-9a-f]{2})+(?::[1-9][0-9]{0,3}|\*)?)*\})*$"#;
    URL = r"(?i)^(?:https?|ftp)://(?:\S+(?::\S*)?@)?(?:((?:[1-9][0-9]?|1[0-9]{2}|2[01][0-9]|22[0-3])(?:\.(?:1?[0-9]{1,2}|2[0-4][0-9]|25[0-5])){2}(?:\.(?:[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-4])))|(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+(?:\.(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+)*\.[a-z\u{a1}-\u{ffff}]{2,})(?::[0-9]{2,5})?(?:/[^\s]*)?$";
    EMAIL = r"(?i)^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$";
    HOSTNAME = r"(?i)^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-0-9a-z]{0,61}[0-9a-z])?)*\.?$";
    UUID = r"(?i)^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$";
    POINTER = r"^(?:/(?:[^~/]|~0|~1)*)*$";
    POINTER_FRAGMENT = r"(?i)^#(?:/(?:[a-z0-9_\-.!$&'()*+,;:=@]|%[0-9a-f]{2}|~0|~1)*)*$";
    RELATIVE_POINTER = r"^(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~0|~1)*)*)$";
    BYTE = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";
}

fn date(text: &str) -> bool {
    let Some(parts) = DATE.captures(text) else { return false };
    let part = |index: usize| parts[index].parse::<u32>().unwrap_or_default();
    let (year, month, day) = (part(1), part(2), part(3));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=last).contains(&day)
}

fn time(text: &str, zone_needed: bool) -> bool {
    let Some(parts) = TIME.captures(text) else { return false };
    let part = |index| {
        parts.get(index).and_then(|part| part.as_str().parse::<i32>().ok()).unwrap_or_default()
    };
    let (hour, minute, second) = (part(1), part(2), part(3));
    let sign = if parts.get(5).is_some_and(|sign| sign.as_str() == "-") { -1 } else { 1 };
    let (zone_hour, zone_minute) = (part(6), part(7));
    if zone_hour > 23 || zone_minute > 59 || zone_needed && parts.get(4).is_none() {
        return false;
    }
    if hour <= 23 && minute <= 59 && second < 60 {
        return true;
    }
    // A leap second is the last one of a day of UTC.
    let utc_minute = minute - zone_minute * sign;
    let utc_hour = hour - zone_hour * sign - i32::from(utc_minute < 0);
    matches!(utc_hour, 23 | -1) && matches!(utc_minute, 59 | -1) && second < 61
}

/// A space may replace the T.
fn date_time(text: &str, zone_needed: bool) -> bool {
    let mut parts = text.split(|c: char| c.eq_ignore_ascii_case(&'t') || c.is_whitespace());
    match (parts.next(), parts.next(), parts.next()) {
        (Some(day), Some(clock), None) => date(day) && time(clock, zone_needed),
        _ => false,
    }
}

fn duration(text: &str) -> bool {
    DURATION.is_match(text) && text != "P" && !text.ends_with('T')
}

/// In addition to the grammar, ajv-formats requires a slash or a colon.
fn uri(text: &str) -> bool {
    URI.is_match(text) && URI_REFERENCE.is_match(text)
}

fn url(text: &str) -> bool {
    let Some(parts) = URL.captures(text) else { return false };
    let address = parts.get(1).and_then(|ip| ip.as_str().parse::<Ipv4Addr>().ok());
    !address.is_some_and(|ip| ip.is_private() || ip.is_loopback() || ip.is_link_local())
}

/// What JavaScript takes for a pattern is near enough to this.
fn regex(text: &str) -> bool {
    if text.ends_with("\\Z") || text.contains("[^\\Z") {
        return false;
    }
    // Lookarounds and back references are fine in JavaScript; only the rest is checked.
    let plain = text.replace("(?=", "(?:").replace("(?!", "(?:");
    let plain = plain.replace("(?<=", "(?:").replace("(?<!", "(?:");
    Regex::new(&plain).is_ok()
}

fn byte(text: &str) -> bool {
    BYTE.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(name: &str, text: &str) -> bool {
        let (_, check) = ALL.iter().find(|(known, _)| *known == name).unwrap();
        check(text)
    }

    #[test]
    fn all_patterns_compile() {
        compile_all();
    }

    #[test]
    fn days_and_clocks() {
        for (name, text, right) in [
            ("date", "2024-02-29", true),
            ("date", "2023-02-29", false),
            ("date-time", "2024-05-06T07:08:09Z", true),
            ("date-time", "2024-05-06 07:08:09+02:00", true),
            ("date-time", "2024-05-06T07:08:09", false),
            ("iso-date-time", "2024-05-06T07:08:09", true),
            ("time", "23:59:60Z", true),
            ("time", "25:08:09Z", false),
            ("duration", "P1DT2H", true),
            ("duration", "P", false),
            ("duration", "P1DT", false),
        ] {
            assert_eq!(fits(name, text), right, "{name} {text}");
        }
    }

    #[test]
    fn names_and_addresses() {
        for (name, text, right) in [
            ("email", "a.b@example.org", true),
            ("email", "a@b", false),
            ("hostname", "-a.example", false),
            ("ipv6", "1::2::3", false),
            ("uri", "/relative", false),
            ("uri", "https://example.org/a?b#c", true),
            ("uri-reference", "/relative", true),
            ("uri-reference", "a b", false),
            ("url", "https://example.org", true),
            ("url", "http://127.0.0.1", false),
            ("uuid", "123e4567", false),
            ("regex", "(", false),
            ("regex", "(?=a)b", true),
            ("byte", "aGk=", true),
            ("byte", "aGk", false),
        ] {
            assert_eq!(fits(name, text), right, "{name} {text}");
        }
    }
}
