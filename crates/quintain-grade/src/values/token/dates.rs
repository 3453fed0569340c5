//! Days and months that are written with the names of months.

use super::{Kind, Scan};
use crate::values::date::{self, Day};

impl Scan<'_> {
    /// `3 May 2026`, `May 3rd, 2026`, `3-7 May`, `May 3–7`, `May 2026`, `May`.
    pub(super) fn read_date(&mut self, at: usize) -> Option<usize> {
        let close = |gap: &str| gap.len() <= 3 && !gap.contains(['\n', '(', ')', '|', ';']);
        let word = self.word(at);
        let (days, month_at) = if let Some(days) = days_of_month(word) {
            let mut next = at + 1;
            let mut days = days;
            if !close(self.gap(at)) {
                return None;
            }
            if self.gap(at).contains(['-', '–', '—'])
                || matches!(self.word(next), "to" | "and" | "bis")
            {
                let other = if self.gap(at).trim().is_empty() { next + 1 } else { next };
                if let Some(more) = days_of_month(self.word(other)) {
                    days.extend(more);
                    next = other + 1;
                }
            }
            if matches!(self.word(next), "of" | "de") {
                next += 1;
            }
            (days, next)
        } else {
            (Vec::new(), at)
        };
        let name = self.word(month_at);
        let number = date::month(name)?;
        if days.is_empty() {
            return self.read_month(at, number, close);
        }
        // `3 may be` does not name a month.
        if name == "may" || name == "mars" {
            return None;
        }
        let year = date::full_year(self.word(month_at + 1))
            .filter(|_| close(self.gap(month_at)) && self.word(month_at + 1).len() == 4);
        let last = month_at + usize::from(year.is_some());
        self.push_days(at, last, year, number, &days);
        Some(last - at + 1)
    }

    fn read_month(&mut self, at: usize, number: u8, close: impl Fn(&str) -> bool) -> Option<usize> {
        let name = self.word(at);
        let is_name = name.starts_with(char::is_uppercase)
            || !matches!(name, "may" | "march" | "mars" | "mar" | "dec");
        let is_near = close(self.gap(at)) && !matches!(name, "may" | "mars");
        let mut days = days_of_month(self.word(at + 1)).filter(|_| is_near).unwrap_or_default();
        if days.is_empty() {
            let year = date::full_year(self.word(at + 1))
                .filter(|_| is_near && self.word(at + 1).len() == 4);
            if !is_name || (year.is_none() && matches!(name, "Mar" | "Dec" | "Jan" | "Mars")) {
                return None;
            }
            let last = at + usize::from(year.is_some());
            self.push_pieces(at, last, Kind::Month(year, number));
            return Some(last - at + 1);
        }
        let mut last = at + 1;
        if self.gap(last).trim().starts_with(['-', '–', '—'])
            && let Some(more) = days_of_month(self.word(last + 1))
        {
            days.extend(more);
            last += 1;
        }
        let next = self.word(last + 1);
        let year = date::full_year(next).filter(|_| next.len() == 4 && close(self.gap(last)));
        last += usize::from(year.is_some());
        self.push_days(at, last, year, number, &days);
        Some(last - at + 1)
    }

    fn push_days(&mut self, from: usize, to: usize, year: Option<i32>, month: u8, days: &[u8]) {
        for day in days.iter().filter_map(|day| Day::new(year, month, *day)) {
            self.push_pieces(from, to, Kind::Days(vec![day]));
        }
    }
}

/// The days of a month in a piece: `3`, `3rd`, `3-7`.
fn days_of_month(word: &str) -> Option<Vec<u8>> {
    if word.len() > 9 || !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let day = |text: &str| -> Option<u8> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let end = &text[digits.len()..];
        let is_day = digits.len() <= 2 && matches!(end, "" | "st" | "nd" | "rd" | "th");
        digits.parse().ok().filter(|day| is_day && (1..=31).contains(day))
    };
    word.split('-').map(day).collect::<Option<Vec<u8>>>().filter(|days| days.len() <= 2)
}
