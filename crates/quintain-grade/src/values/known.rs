//! All values of a trace, each with the first step at which the application could know it. Built once; checks ask it.

mod builder;

use quintain_evidence::trace::Trace;

use super::date::{Day, Minutes};
use super::derived::Derivation;
use super::shape;
use super::token::Number;
use super::units::{self, Dimension, Unit};
use crate::fast_hash::{FastMap, caseless as hash};

/// Numbers of the user from which others are computed.
const MAX_ASKED: usize = 32;
const NEVER: u32 = u32::MAX;

/// What is known in a trace, and since when.
pub struct Known {
    words: FastMap<u64, u32>,
    /// Sorted by table and value.
    numbers: Vec<Entry>,
    days: FastMap<i32, u32>,
    /// Some of them, by step.
    first_days: Vec<(u32, i32)>,
    /// Month and day of every day.
    month_days: FastMap<(u8, u8), u32>,
    /// Days whose year is not given.
    yearless: FastMap<(u8, u8), u32>,
    /// Months that are named without a day; year 0 stands for any.
    months: FastMap<(i32, u8), u32>,
    /// Years that the user names by themselves.
    years: FastMap<i32, u32>,
    times: Vec<u32>,
    phone_ends: FastMap<u64, u32>,
    phones: FastMap<u64, u32>,
    relative_day: u32,
    relative_time: u32,
    /// The first day or month without its year.
    year_open: u32,
    zone: u32,
    /// Endings of files that the user names.
    endings: FastMap<u64, u32>,
    /// The longest list so far.
    longest: Vec<(u32, usize)>,
    /// Numbers of the user and of the developer.
    asked: Vec<(u32, f64)>,
    /// The step from which on values are missing here.
    cut_from: u32,
}

struct Entry {
    table: Table,
    value: f64,
    step: u32,
}

/// Numbers are looked for in one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Table {
    /// As written.
    Written,
    /// As written, without a unit.
    Bare,
    /// In the base unit.
    Measured(Dimension),
    Derived(Derivation),
}

/// How a number is looked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Search {
    /// Rounded numbers do not count: it is an id.
    pub exact: bool,
    /// The same amount in another unit counts.
    pub units: bool,
    /// Sums and means of columns count.
    pub sums: bool,
    /// Counts of listed items count.
    pub counts: bool,
    /// What two fields of a record make counts.
    pub pairs: bool,
    /// The text says that it is not exact: `about 1,200`.
    pub rough: bool,
}

impl Known {
    pub fn new(trace: &Trace) -> Self {
        Self::in_order(trace, 0..trace.steps.len())
    }

    /// What is known if the steps happened in another order. Steps are then counted in that order.
    pub fn in_order(trace: &Trace, order: impl IntoIterator<Item = usize>) -> Self {
        builder::build(trace, order.into_iter())
    }

    /// Whether all values before a step are here.
    pub fn is_whole(&self, before: usize) -> bool {
        self.cut_from as usize >= before
    }

    /// Whether a text was known, without regard to case.
    pub fn word(&self, text: &str, before: usize) -> bool {
        is_before(self.words.get(&hash(text)), before)
    }

    /// Whether a part of a name was known: as a whole, without its ending, or all its words.
    pub fn part(&self, text: &str, before: usize) -> bool {
        let text = shape::unescaped(text);
        if self.word(&text, before) {
            return true;
        }
        let stem = match shape::extension(&text) {
            Some(ending) => &text[..text.len() - ending.len() - 1],
            None => &*text,
        };
        let mut words =
            stem.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
        let is_joined = stem.contains(|c: char| !c.is_alphanumeric());
        words.peek().is_some()
            && words.all(|word| {
                self.word(word, before)
                    || self.word(word.trim_start_matches('0'), before) && word.len() > 1
                    || is_joined
                        && word.len() == 1
                        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
            })
    }

    pub fn number(&self, number: &Number, before: usize, search: Search) -> bool {
        let readings = number.readings;
        readings.iter().any(|reading| {
            let (value, mut place) = (reading.value, reading.place);
            if search.rough {
                place = rough_place(value, place);
            }
            // The less likely reading must be written somewhere.
            let is_first = reading == readings.first;
            let search = if is_first {
                search
            } else {
                Search { sums: false, counts: false, pairs: false, ..search }
            };
            self.value(value, place, number.unit, before, search)
        })
    }

    fn value(
        &self,
        value: f64,
        place: f64,
        unit: Option<Unit>,
        before: usize,
        search: Search,
    ) -> bool {
        let range = |factor: f64| {
            let (value, place) = (value * factor, if search.exact { 0.0 } else { place * factor });
            let slack = value.abs().max(1.0) * 1e-9;
            // Roughly means to one side or the other; otherwise the last place is rounded or cut off.
            let (below, above) =
                if search.rough { (place, place) } else { (place / 2.0, place * 0.999) };
            // Whole numbers are rounded, not cut off: 4.7 is not "4".
            let above = if search.rough || place < factor { above } else { place / 2.0 };
            (value - below - slack, value + above + slack)
        };
        let has = |table: Table, factor: f64| {
            let (low, high) = range(factor);
            self.is_in(table, low, high, before)
        };
        if has(Table::Written, 1.0) || place >= 1.0 && self.word(&format!("{value:.0}"), before) {
            return true;
        }
        let dimension = unit.map(|unit| unit.dimension);
        if dimension == Some(Dimension::Percent)
            && (has(Table::Written, 0.01) || has(Table::Bare, 0.01))
        {
            return true;
        }
        if search.sums && has(Table::Derived(Derivation::Sum), 1.0) {
            return true;
        }
        if search.pairs {
            let share = if dimension == Some(Dimension::Percent) { 0.01 } else { 1.0 };
            if has(Table::Derived(Derivation::Pair), share) {
                return true;
            }
        }
        if search.counts
            && dimension.is_none()
            && place >= 1.0
            && has(Table::Derived(Derivation::Count), 1.0)
        {
            return true;
        }
        search.units && self.converted(value, place, unit, before, search, &has)
    }

    /// Whether an amount was known in another unit.
    fn converted(
        &self,
        value: f64,
        place: f64,
        unit: Option<Unit>,
        before: usize,
        search: Search,
        has: &impl Fn(Table, f64) -> bool,
    ) -> bool {
        let Some(unit) = unit else {
            // Prices are often kept in cents.
            return (place - 0.01).abs() < 1e-12 && has(Table::Bare, 100.0);
        };
        if has(Table::Measured(unit.dimension), unit.size) {
            return true;
        }
        if unit.dimension == Dimension::Time && has(Table::Derived(Derivation::Seconds), unit.size)
        {
            return true;
        }
        if unit.dimension == Dimension::Data {
            let binary = [
                (1e3, 1024.0),
                (1e6, 1_048_576.0),
                (1e9, 1_073_741_824.0),
                (1e12, 1_099_511_627_776.0),
            ];
            let found = binary.iter().find(|(size, _)| (size - unit.size).abs() < 0.5);
            if found.is_some_and(|(_, size)| has(Table::Measured(unit.dimension), *size)) {
                return true;
            }
        }
        if unit.dimension == Dimension::Temperature {
            let half = place.max(1.0) / 2.0 + 1e-9;
            let others = [
                (value - 32.0) * 5.0 / 9.0,
                value * 9.0 / 5.0 + 32.0,
                value - 273.15,
                value + 273.15,
            ];
            return others.iter().any(|other| {
                self.is_in(Table::Written, other.abs() - half, other.abs() + half, before)
            });
        }
        let sums = search.sums.then_some(Table::Derived(Derivation::Sum));
        let tables = [Some(Table::Bare), sums];
        // Only large amounts are given in thousands or millions.
        let is_usual = |factor: f64| {
            (factor - 1.0).abs() > 1e-12
                && (unit.dimension != Dimension::Money || factor > 1.0 || value >= 1e5)
        };
        let mut factors = units::factors(unit.dimension).iter().filter(|factor| is_usual(**factor));
        factors.any(|factor| tables.iter().flatten().any(|table| has(*table, *factor)))
    }

    fn is_in(&self, table: Table, low: f64, high: f64, before: usize) -> bool {
        self.first_in(table, low, high).is_some_and(|step| (step as usize) < before)
    }

    /// The first step of a number in a range.
    fn first_in(&self, table: Table, low: f64, high: f64) -> Option<u32> {
        let from = self.numbers.partition_point(|entry| {
            entry.table.cmp(&table).then(entry.value.total_cmp(&low)).is_lt()
        });
        let range = self.numbers[from..].iter();
        let range = range.take_while(|entry| entry.table == table && entry.value <= high);
        // Only crowded ranges have more; in them, something is always near.
        range.take(256).map(|entry| entry.step).min()
    }

    /// The step at which a text was first known.
    pub fn since(&self, text: &str) -> Option<usize> {
        self.words.get(&hash(text)).map(|step| *step as usize)
    }

    /// The step at which a number was first known, perhaps rounded or in another unit.
    pub fn number_since(&self, number: &Number) -> Option<usize> {
        let unit = number.unit;
        let steps = number.readings.iter().flat_map(|reading| {
            // Small whole numbers are near to too much.
            let is_small = reading.place >= 1.0 && reading.value < 10.0;
            let half = if is_small { 0.0 } else { reading.place / 2.0 } + reading.value * 1e-9;
            let near = |table: Table, factor: f64| {
                let (value, half) = (reading.value * factor, half * factor);
                self.first_in(table, value - half, value + half)
            };
            let measured = unit.and_then(|unit| near(Table::Measured(unit.dimension), unit.size));
            let share = unit.filter(|unit| unit.dimension == Dimension::Percent);
            let share = share.and_then(|_| near(Table::Written, 0.01));
            let sum = near(Table::Derived(Derivation::Sum), 1.0);
            [near(Table::Written, 1.0).or(measured).or(share).or(sum)]
        });
        steps.flatten().min().map(|step| step as usize)
    }

    /// The step at which a list first had this number of items.
    pub fn count_since(&self, count: f64) -> Option<usize> {
        self.first_in(Table::Derived(Derivation::Count), count - 0.1, count + 0.1)
            .map(|step| step as usize)
    }

    pub fn day_since(&self, day: Day) -> Option<usize> {
        let days = day.number().and_then(|number| self.days.get(&number));
        days.or_else(|| self.month_days.get(&(day.month, day.day))).map(|step| *step as usize)
    }

    pub fn time_since(&self, time: Minutes) -> Option<usize> {
        self.times.get(usize::from(time)).filter(|step| **step != NEVER).map(|step| *step as usize)
    }

    /// How many words and numbers were first known at each step.
    pub fn fresh(&self) -> FastMap<usize, usize> {
        let mut fresh = FastMap::default();
        for step in self.words.values() {
            *fresh.entry(*step as usize).or_default() += 1;
        }
        fresh
    }

    /// Whether a value lies near one that was written, for sums and products.
    pub fn is_written(&self, value: f64, tolerance: f64, before: usize) -> bool {
        value.is_finite()
            && self.is_in(Table::Written, value - tolerance, value + tolerance, before)
    }

    pub fn day(&self, day: Day, before: usize) -> bool {
        match day.number() {
            Some(number) => {
                is_before(self.days.get(&number), before)
                    || is_before(self.yearless.get(&(day.month, day.day)), before)
            }
            None => is_before(self.month_days.get(&(day.month, day.day)), before),
        }
    }

    /// Whether a day is at a distance from one that was known.
    pub fn day_number(&self, number: i32, before: usize) -> bool {
        is_before(self.days.get(&number), before)
    }

    pub fn month(&self, year: Option<i32>, month: u8, before: usize) -> bool {
        let keys = [(year.unwrap_or(0), month), (0, month)];
        keys.iter().any(|key| is_before(self.months.get(key), before))
    }

    pub fn year(&self, year: i32, before: usize) -> bool {
        is_before(self.years.get(&year), before)
    }

    /// Whether a year is near to one that was named; none if no year was named.
    pub fn is_near_year(&self, year: i32, distance: i32, before: usize) -> Option<bool> {
        let months = self.months.iter().map(|((year, _), step)| (year, step));
        let named = self.years.iter().chain(months).filter(|(year, _)| **year > 0);
        let mut named = named.filter(|(_, step)| is_before(Some(step), before)).peekable();
        named.peek()?;
        Some(named.any(|(named, _)| (named - year).abs() <= distance))
    }

    pub fn time(&self, time: Minutes, before: usize) -> bool {
        is_before(self.times.get(usize::from(time)), before)
    }

    /// The times of day that were known.
    pub fn times(&self, before: usize) -> impl Iterator<Item = Minutes> {
        let known =
            self.times.iter().enumerate().filter(move |(_, step)| (**step as usize) < before);
        known.filter_map(|(time, _)| Minutes::try_from(time).ok())
    }

    /// The days that were known first, at most 64.
    pub fn some_days(&self, before: usize) -> Vec<i32> {
        let earlier = self.first_days.iter().take_while(|(step, _)| (*step as usize) < before);
        earlier.map(|(_, day)| *day).collect()
    }

    pub fn phone(&self, digits: &str, before: usize) -> bool {
        let digits = digits.trim_start_matches('0');
        if digits.len() < 6 {
            return false;
        }
        let end = &digits[digits.len() - digits.len().min(9)..];
        let shorter = (7..=digits.len()).any(|length| {
            is_before(self.phones.get(&hash(&digits[digits.len() - length..])), before)
        });
        is_before(self.phone_ends.get(&hash(end)), before) || shorter
    }

    /// Whether the user left a day to the application: `tomorrow`, `next week`.
    pub fn leaves_day_open(&self, before: usize) -> bool {
        (self.relative_day as usize) < before
    }

    /// Whether a day or month was named without its year.
    pub fn leaves_year_open(&self, before: usize) -> bool {
        (self.year_open as usize) < before
    }

    pub fn leaves_time_open(&self, before: usize) -> bool {
        (self.relative_time as usize) < before
    }

    /// Whether a time zone plays a part.
    pub fn has_zone(&self, before: usize) -> bool {
        (self.zone as usize) < before
    }

    /// Whether the user named a file of this type.
    pub fn named_file(&self, ending: &str, before: usize) -> bool {
        is_before(self.endings.get(&hash(ending)), before)
    }

    pub fn longest_list(&self, before: usize) -> usize {
        self.longest
            .iter()
            .take_while(|(step, _)| (*step as usize) < before)
            .last()
            .map_or(0, |(_, length)| *length)
    }

    /// The latest numbers of the user and of the developer.
    pub fn asked(&self, before: usize) -> impl Iterator<Item = f64> {
        let end = self.asked.partition_point(|(step, _)| (*step as usize) < before);
        self.asked[end.saturating_sub(MAX_ASKED)..end].iter().rev().map(|(_, value)| *value)
    }
}

fn is_before(step: Option<&u32>, before: usize) -> bool {
    step.is_some_and(|step| (*step as usize) < before)
}

/// What one is worth in the last place that is not zero, if a number is not exact.
fn rough_place(value: f64, place: f64) -> f64 {
    let mut place = place;
    while value >= place * 20.0 && (value / (place * 10.0)).fract().abs() < 1e-9 {
        place *= 10.0;
    }
    // `about 1,180` for 1,183, `nearly 50` for 48.
    place.max(value * 0.02)
}
