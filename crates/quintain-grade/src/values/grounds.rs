//! Whether addresses, paths, ids and days come from something that was known: as a whole, or joined from known parts.

use super::date::{Day, Minutes};
use super::keys::{self, Role};
use super::known::Known;
use super::shape;
use super::word_list::WordList;

/// Files that every project has; looking for them needs no hint.
static USUAL_FILES: WordList = WordList::new(
    "readme.md readme readme.txt package.json cargo.toml pyproject.toml requirements.txt makefile \
     dockerfile docker-compose.yml .gitignore .env tsconfig.json go.mod pom.xml setup.py license \
     changelog.md index.html contributing.md build.gradle gemfile",
);

/// Folders that every project has.
static USUAL_FOLDERS: WordList = WordList::new("src lib test tests docs app bin public include");

/// Segments of URLs that carry no information.
static USUAL_SEGMENTS: WordList =
    WordList::new("api v1 v2 v3 en wiki docs search index.html latest rest home main rooms");

/// Whether a path is given, or joined from given parts. A new file may have any name in a folder that is given, unless the
/// user named one of this type.
pub fn path(known: &Known, path: &str, before: usize, is_new: bool) -> bool {
    let plain = shape::plain_path(path);
    if plain.contains('*') || known.word(&plain, before) {
        return true;
    }
    let segments: Vec<&str> = shape::segments(path).collect();
    let Some((name, folders)) = segments.split_last() else { return true };
    let in_temp = folders.first().is_some_and(|first| matches!(*first, "tmp" | "temp"));
    let is_relative = !shape::is_rooted(path);
    let has_folder = in_temp && is_new
        || folders.iter().all(|segment| {
            known.part(segment, before) || is_relative && USUAL_FOLDERS.has(segment)
        });
    if !has_folder {
        return false;
    }
    let is_usual = USUAL_FILES.has(&name.to_lowercase());
    let may_be_named =
        is_new && !shape::extension(name).is_some_and(|ending| known.named_file(ending, before));
    // `cat_thumb.png` of `cat.png`
    let is_derived = || {
        let stem = name.rsplit_once('.').map_or(*name, |(stem, _)| stem);
        let ends = stem.match_indices(['_', '-', '.']).map(|(at, _)| at);
        let mut starts = ends.map(|at| &stem[..at]).filter(|start| start.len() >= 3);
        starts.any(|start| known.part(start, before))
    };
    known.part(name, before)
        || is_usual
        || may_be_named
        || in_temp && is_new
        || is_new && is_derived()
}

/// Whether a URL is given, or joined from a given host and given parts.
pub fn url(known: &Known, url: &str, before: usize) -> bool {
    let parts = shape::url_parts(url);
    if known.word(url, before) {
        return true;
    }
    let is_query_given = || {
        parts.query.split('&').filter_map(|pair| pair.split_once('=')).all(|(key, value)| {
            let value = shape::unescaped(value);
            let digits = value.bytes().filter(u8::is_ascii_digit).count();
            // What is searched for is in the application's own words, and so are pages and flags.
            let is_free = digits < 2 && digits < value.len()
                || matches!(&*value, "0" | "1")
                || keys::role(key) == Role::OwnChoice;
            is_free || known.part(&value, before)
        })
    };
    if known.word(&format!("{}{}", parts.host, parts.path.trim_end_matches('/')), before) {
        return is_query_given();
    }
    let scheme = url.split_once("://").map_or("https", |(scheme, _)| scheme).to_ascii_lowercase();
    if scheme == "file" {
        return path(known, parts.path, before, false);
    }
    if !host(known, &parts.host, before) {
        return false;
    }
    let usual = |segment: &str| USUAL_SEGMENTS.has(&segment.to_lowercase());
    let mut segments = shape::segments(parts.path);
    segments.all(|segment| usual(segment) || known.part(segment, before)) && is_query_given()
}

/// Whether a host is given, or a part of its domain.
fn host(known: &Known, host: &str, before: usize) -> bool {
    let name = host.split(':').next().unwrap_or(host);
    if matches!(name, "localhost" | "127.0.0.1")
        || known.word(host, before)
        || known.word(name, before)
    {
        return true;
    }
    let labels: Vec<&str> = name.split('.').collect();
    let [.., domain, ending] = labels.as_slice() else { return known.part(name, before) };
    known.word(&format!("{domain}.{ending}"), before)
        || domain.len() > 3 && known.word(domain, before)
}

/// Whether an id is given, in any case of letters, shortened if it is a hash, or joined from given parts.
pub fn id(known: &Known, id: &str, before: usize) -> bool {
    let bare = id.trim_start_matches('#');
    known.word(id, before)
        || known.word(bare, before)
        || shape::uuid(bare).is_some_and(|uuid| known.word(&uuid, before))
        || bare.strip_prefix(['v', 'V']).is_some_and(|version| known.word(version, before))
        || known.word(&format!("v{bare}"), before)
        || follows_version(known, bare, before)
        || bare.contains(|c: char| !c.is_alphanumeric()) && known.part(bare, before)
        || bare.bytes().all(|byte| byte.is_ascii_digit())
            && known.word(bare.trim_start_matches('0'), before)
}

/// Whether a version is the next one after a known one: 1.9.0 after 1.8.3.
fn follows_version(known: &Known, version: &str, before: usize) -> bool {
    const LAST: u32 = 30;
    let parts: Vec<Option<u32>> =
        version.trim_start_matches(['v', 'V']).split('.').map(|part| part.parse().ok()).collect();
    let [Some(major), Some(minor), Some(patch)] = parts[..] else { return false };
    let has = |major: u32, minor: u32, patch: u32| {
        let text = format!("{major}.{minor}.{patch}");
        known.word(&text, before) || known.word(&format!("v{text}"), before)
    };
    match (major, minor, patch) {
        (0, 0, 0) => false,
        (major, 0, 0) => {
            (0..=LAST).any(|minor| (0..=LAST).any(|patch| has(major - 1, minor, patch)))
        }
        (major, minor, 0) => (0..=LAST).any(|patch| has(major, minor - 1, patch)),
        (major, minor, patch) => has(major, minor, patch - 1),
    }
}

/// Whether a day is given, or follows from a given one by a given number of days.
pub fn day(known: &Known, day: Day, before: usize) -> bool {
    if known.day(day, before) || known.leaves_day_open(before) && is_soon(known, day, before) {
        return true;
    }
    let is_edge = day.day == 1 || Day::new(day.year, day.month, day.day + 1).is_none();
    if is_edge {
        let of_month = known.month(day.year, day.month, before);
        let previous = if day.month == 1 { 12 } else { day.month - 1 };
        let after_month = day.day == 1 && known.month(day.year, previous, before);
        let of_year = day.year.is_some_and(|year| {
            known.year(year, before) || day.month == 1 && known.year(year - 1, before)
        });
        if of_month || after_month || of_year {
            return true;
        }
    }
    let Some(number) = day.number() else { return false };
    known.asked(before).filter(|span| span.fract() == 0.0 && (1.0..400.0).contains(span)).any(
        |span| {
            let span = span as i32;
            [span, span - 1, span * 7].iter().any(|days| {
                *days > 0
                    && (known.day_number(number - days, before)
                        || known.day_number(number + days, before))
            })
        },
    )
}

/// Whether a day may be meant by words such as `tomorrow`: it is not years away from all days that are given.
fn is_soon(known: &Known, day: Day, before: usize) -> bool {
    const FAR: i32 = 400;
    const FAR_YEARS: i32 = 2;
    let given = known.some_days(before);
    let Some(number) = day.number() else { return true };
    // Without a day, a year that was named shows when the conversation takes place.
    if given.is_empty()
        && let Some(year) = day.year
        && let Some(near) = known.is_near_year(year, FAR_YEARS, before)
    {
        return near;
    }
    given.is_empty() || given.iter().any(|other| (other - number).abs() <= FAR)
}

/// Whether an answer may state a time of day: it is given, in another zone, or a given duration away from a given one.
pub fn stated_time(known: &Known, time: Minutes, before: usize, may_shift: bool) -> bool {
    if matches!(time, 0 | 1439) || known.time(time, before) || known.leaves_time_open(before) {
        return true;
    }
    let mut given = known.times(before).peekable();
    if given.peek().is_none() {
        return time.is_multiple_of(30);
    }
    let spans: Vec<u16> = known
        .asked(before)
        .filter(|span| span.fract() == 0.0 && (1.0..=720.0).contains(span))
        .flat_map(|span| [span as u16, (span as u16).saturating_mul(60)])
        .collect();
    let shifts = may_shift && known.has_zone(before);
    given.any(|other| {
        let apart = time.abs_diff(other);
        spans.contains(&apart) || shifts && apart.is_multiple_of(60)
    })
}

/// Whether a time of day is given, or follows from a given one: by a given duration, or in another zone. The end of
/// a span (`is_free`) may be a usual duration away.
pub fn time(known: &Known, time: Minutes, before: usize, is_free: bool) -> bool {
    if matches!(time, 0 | 1439) || known.time(time, before) || known.leaves_time_open(before) {
        return true;
    }
    let given: Vec<Minutes> = known.times(before).collect();
    if given.is_empty() {
        // Without any time in the conversation, a round one is as good as any.
        return time.is_multiple_of(30);
    }
    let spans: Vec<u16> = known
        .asked(before)
        .filter(|span| span.fract() == 0.0 && (1.0..=720.0).contains(span))
        .flat_map(|span| [span as u16, (span as u16).saturating_mul(60)])
        .chain([15, 30, 45, 60, 90, 120].into_iter().filter(|_| is_free))
        .collect();
    given.iter().any(|other| {
        let apart = time.abs_diff(*other);
        spans.contains(&apart) || known.has_zone(before) && apart % 60 == 0
    })
}

/// Numbers of the user from which others are computed.
const MAX_OPERANDS: usize = 16;

/// Whether a number is the product, the share or the sum of numbers that the user gave, or of one of them and of a result:
/// three nights at 89 a night, 15 % of 240.
pub fn computed(known: &Known, value: f64, tolerance: f64, before: usize) -> bool {
    let asked: Vec<f64> = known.asked(before).filter(|one| *one > 0.0).take(MAX_OPERANDS).collect();
    asked.iter().enumerate().any(|(index, one)| {
        made_with(known, value, tolerance, *one, before)
            || asked.iter().enumerate().any(|(place, other)| {
                let sums = [one + other, one - other, one * other, one / other];
                place != index && sums.iter().any(|sum| (sum - value).abs() <= tolerance)
            })
    })
}

/// Whether a number is the product of a factor and of a number that is written somewhere, or such a number with a
/// percentage of it, added or taken off.
pub fn made_with(known: &Known, value: f64, tolerance: f64, factor: f64, before: usize) -> bool {
    let near = |other: f64, tolerance: f64| known.is_written(other, tolerance, before);
    let share = factor / 100.0;
    near(value / factor, tolerance / factor)
        || (factor < 100.0 && near(value / share, tolerance / share))
        || (factor < 100.0 && near(value / (1.0 - share), tolerance))
        || (factor <= 100.0 && near(value / (1.0 + share), tolerance))
}
