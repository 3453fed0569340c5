//! Numbers with their units, and times of day in twelve hours.

use super::date::Minutes;
use super::literal::{Reading, Readings};
use super::units::Unit;

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    pub readings: Readings,
    pub unit: Option<Unit>,
    pub written: Written,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Digits,
    Words,
    /// `3rd`, `third`
    Ordinal,
}

impl Number {
    pub fn plain(readings: Readings) -> Self {
        Self { readings, unit: None, written: Written::Digits }
    }

    pub fn of(value: f64) -> Self {
        let value = value.abs();
        // The shortest text that means the value shows the places that were written.
        let text = format!("{value}");
        let decimals = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let place = 10f64.powi(-i32::try_from(decimals).unwrap_or(0));
        Self::plain(Readings::one(Reading { value, place }))
    }

    /// Whether it is a whole number without a unit.
    pub fn is_count(&self) -> bool {
        self.unit.is_none() && self.readings.first.place >= 1.0
    }
}

/// A time of a clock with twelve hours.
pub(super) fn half_day(time: Minutes, word: &str) -> Option<Minutes> {
    let hour = time / 60;
    let minutes = time % 60;
    if !(1..=12).contains(&hour) {
        return None;
    }
    match word.to_ascii_lowercase().trim_end_matches('.') {
        "am" | "a.m" => Some(hour % 12 * 60 + minutes),
        "pm" | "p.m" => Some((hour % 12 + 12) * 60 + minutes),
        _ => None,
    }
}
