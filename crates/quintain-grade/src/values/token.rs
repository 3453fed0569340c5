//! The values in a text: numbers with their units, days, times, addresses, paths, ids and words.

mod dates;

use super::date;
pub use super::kind::Kind;
use super::literal::{Reading, Readings};
use super::number::half_day;
pub use super::number::{Number, Written};
use super::numeral::{self, Numeral};
use super::pieces::{Piece, pieces};
use super::units::{self, Dimension, Unit};
use super::{phone, shape, spoken};

/// A value in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Token<'t> {
    /// In bytes.
    pub start: usize,
    pub end: usize,
    pub text: &'t str,
    pub kind: Kind,
}

/// The values of a text in their order.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let phones = phone::runs(text);
    let mut next_phone = phones.iter().peekable();
    let mut scan = Scan { text, pieces: pieces(text), found: Vec::new() };
    let mut at = 0;
    while let Some(piece) = scan.pieces.get(at).copied() {
        if let Some(run) = next_phone
            .next_if(|run| run.start <= piece.start.max(run.start) && piece.end > run.start)
        {
            let digits = run.digits.clone();
            scan.push(run.start, run.end, Kind::Phone(digits));
            while scan.pieces.get(at).is_some_and(|piece| piece.start < run.end) {
                at += 1;
            }
            continue;
        }
        at += scan.read(at).max(1);
    }
    scan.found
}

struct Scan<'t> {
    text: &'t str,
    pieces: Vec<Piece>,
    found: Vec<Token<'t>>,
}

impl<'t> Scan<'t> {
    fn word(&self, at: usize) -> &'t str {
        self.pieces.get(at).map_or("", |piece| piece.of(self.text))
    }

    /// The text between a piece and the next one.
    fn gap(&self, at: usize) -> &'t str {
        let after = self.pieces.get(at).map_or(self.text.len(), |piece| piece.end);
        let until = self.pieces.get(at + 1).map_or(self.text.len(), |piece| piece.start);
        self.text.get(after..until).unwrap_or_default()
    }

    fn push(&mut self, start: usize, end: usize, kind: Kind) {
        let text = self.text.get(start..end).unwrap_or_default();
        self.found.push(Token { start, end, text, kind });
    }

    fn push_pieces(&mut self, from: usize, to: usize, kind: Kind) {
        if let (Some(first), Some(last)) = (self.pieces.get(from), self.pieces.get(to)) {
            self.push(first.start, last.end, kind);
        }
    }

    /// Reads the value that begins at a piece; returns how many pieces it took.
    fn read(&mut self, at: usize) -> usize {
        let word = self.word(at);
        if let Some(used) = self.read_date(at) {
            return used;
        }
        let first = word.trim_start_matches(['-', '+', '\u{2212}', '.']).chars().next();
        let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '½' | '¼' | '¾');
        if first.is_some_and(is_digit) && !word.contains("://") {
            return self.read_numeral(at);
        }
        if first.is_some_and(char::is_alphabetic)
            && !word.contains(['/', '.', '@', '\\'])
            && let Some(used) = self.read_words(at)
        {
            return used;
        }
        self.push_pieces(at, at, shape::kind(word));
        1
    }

    fn read_words(&mut self, at: usize) -> Option<usize> {
        let first = self.word(at);
        // Most words do not begin a number, and this runs for every word.
        if !spoken::may_begin(first) {
            return None;
        }
        let lower: Vec<String> = (at..at + 7).map(|at| self.word(at).to_lowercase()).collect();
        let words: Vec<&str> = lower.iter().map(String::as_str).collect();
        if let Some((value, used)) = spoken::share(&words).filter(|_| words[1] != "half") {
            let place = if value < 1.0 { 0.01 } else { 1.0 };
            let readings = Readings::one(Reading { value, place });
            let number = Number { readings, unit: None, written: Written::Words };
            self.push_pieces(at, at + used - 1, Kind::Number(number));
            return Some(used);
        }
        if let Some(value) = spoken::ordinal(words[0]) {
            let readings = Readings::one(Reading::whole(value));
            self.push_pieces(
                at,
                at,
                Kind::Number(Number { readings, unit: None, written: Written::Ordinal }),
            );
            return Some(1);
        }
        let (value, mut used) = match spoken::read(&words) {
            Some(found) => found,
            // `an hour`
            None if matches!(words[0], "a" | "an" | "per") => {
                let unit =
                    units::named(words[1]).filter(|unit| unit.dimension == Dimension::Time)?;
                (unit.size > 1.0 || words[1].len() > 2).then_some((1.0, 1))?
            }
            None => return None,
        };
        // `half an hour`
        if value < 1.0 && matches!(words.get(used), Some(&"a" | &"an")) {
            used += 1;
        }
        let unit =
            words.get(used).filter(|word| word.len() > 2).and_then(|word| units::named(word));
        let last = at + used - 1;
        // `an hour and a half`
        let more = unit.and_then(|_| spoken::fraction(words.get(used + 1..)?));
        let (value, used) =
            more.map_or((value, used), |(more, words)| (value + more, used + words));
        let place = if value.fract() == 0.0 { 1.0 } else { 0.01 };
        let readings = Readings::one(Reading { value, place });
        self.push_pieces(
            at,
            last,
            Kind::Number(Number { readings, unit, written: Written::Words }),
        );
        Some(used + usize::from(unit.is_some()))
    }

    fn read_numeral(&mut self, at: usize) -> usize {
        let piece = self.pieces[at];
        match numeral::read(piece.of(self.text)) {
            Numeral::Moment(day, time) => {
                self.push_pieces(at, at, Kind::Days(vec![day]));
                time.into_iter().for_each(|time| self.push_pieces(at, at, Kind::Time(time)));
                1
            }
            Numeral::Days(days) => {
                self.push_pieces(at, at, Kind::Days(days));
                1
            }
            Numeral::Time(time) => {
                let next = self.word(at + 1);
                let is_near = self.gap(at).len() <= 1;
                let time = half_day(time, next).filter(|_| is_near);
                let plain = date::clock(piece.of(self.text)).or(time);
                let used = 1 + usize::from(time.is_some());
                if let Some(time) = time.or(plain) {
                    self.push_pieces(at, at + used - 1, Kind::Time(time));
                }
                used
            }
            Numeral::Times(times) => {
                let half = half_day(times.last().copied().unwrap_or(0), self.word(at + 1));
                for time in times {
                    let time = half_day(time, self.word(at + 1)).unwrap_or(time);
                    self.push_pieces(at, at, Kind::Time(time));
                }
                1 + usize::from(half.is_some())
            }
            Numeral::HalfDay(time) => {
                self.push_pieces(at, at, Kind::Time(time));
                1
            }
            Numeral::Numbers(numbers) => self.push_numbers(at, numbers),
            Numeral::Other => {
                self.push_pieces(at, at, shape::kind(piece.of(self.text)));
                1
            }
        }
    }

    /// Numbers with the unit that follows, or the currency that comes before.
    fn push_numbers(&mut self, at: usize, numbers: Vec<Number>) -> usize {
        let mut used = 1;
        // `17h45` is a duration or a time of day.
        if let Some(time) = numeral::clock_of_hours(self.word(at)) {
            self.push_pieces(at, at, Kind::Time(time));
        }
        // `17.45 Uhr`, `17 Uhr`
        if self.word(at + 1).eq_ignore_ascii_case("uhr") && self.gap(at).len() <= 2 {
            let word = self.word(at).replace('.', ":");
            let time = date::clock(&if word.contains(':') { word } else { word + ":00" });
            if let Some(time) = time {
                self.push_pieces(at, at + 1, Kind::Time(time));
                return 2;
            }
        }
        // `2 pm`
        if let [number] = numbers.as_slice() {
            let hour = number.readings.first.value;
            let is_hour =
                number.is_count() && (1.0..=12.0).contains(&hour) && self.gap(at).len() <= 1;
            let time = if is_hour { half_day(hour as u16 * 60, self.word(at + 1)) } else { None };
            if let Some(time) = time {
                self.push_pieces(at, at + 1, Kind::Time(time));
                return 2;
            }
        }
        let (mut factor, mut unit) = (1.0, None);
        let gap = self.gap(at);
        let symbol = gap.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
        if symbol.starts_with('%') {
            unit = Some(units::PERCENT);
        } else if symbol.starts_with('°') {
            unit = Some(Unit { dimension: Dimension::Temperature, size: 1.0 });
        } else if symbol.starts_with(['€', '$', '£', '¥', '₹']) {
            unit = Some(units::MONEY);
        } else if matches!(gap, " " | "-" | "\u{a0}" | "\u{202f}" | "") {
            let word = self.word(at + 1);
            let is_scale = word.len() > 1 || matches!(word, "k" | "K" | "M");
            if let Some(scale) = units::scale(word).filter(|_| is_scale) {
                factor = scale;
                used += 1;
                let after = self.word(at + 2);
                unit = units::named(after).filter(|_| self.gap(at + 1) == " " && after.len() > 1);
                used += usize::from(unit.is_some());
            } else if let Some(found) = units::named(word).or_else(|| speed(word, "")) {
                let after = &self.text[self.pieces[at + 1].end..];
                unit = Some(speed(word, after).unwrap_or(found));
                used += 1;
            }
        }
        let piece = self.pieces[at];
        let before = self.text[..piece.start].trim_end_matches([' ', '\u{a0}', '-', '+', '~']);
        let code = at.checked_sub(1).map(|at| self.word(at)).and_then(units::named);
        let is_priced = before.ends_with(['€', '$', '£', '¥', '₹'])
            || code == Some(units::MONEY)
                && self.text[..piece.start].ends_with(' ')
                && before.ends_with(char::is_alphabetic);
        let unit = if is_priced { Some(units::MONEY) } else { unit };
        for number in &numbers {
            let readings = number.readings.times(factor);
            let unit = number.unit.or(unit);
            self.push_pieces(
                at,
                at,
                Kind::Number(Number { readings, unit, written: number.written }),
            );
        }
        // `2 h 15 min` is one duration.
        if let ([_], Some(Unit { dimension: Dimension::Time | Dimension::Length, .. })) =
            (numbers.as_slice(), number_unit(&self.found))
        {
            self.join_durations();
        }
        used
    }

    /// Joins the last two numbers if both are durations next to each other, the larger unit first.
    fn join_durations(&mut self) {
        let (first, second) = match self.found.as_slice() {
            [.., first, and, second] if and.text == "and" => (first, second),
            [.., first, second] => (first, second),
            _ => return,
        };
        let (Kind::Number(large), Kind::Number(small)) = (&first.kind, &second.kind) else {
            return;
        };
        let (Some(large_unit), Some(mut small_unit)) = (large.unit, small.unit) else { return };
        // After hours, `m` means minutes.
        if large_unit.dimension == Dimension::Time && second.text.ends_with('m') {
            small_unit = Unit { dimension: Dimension::Time, size: 60.0 };
        }
        let between = self.text.get(first.end..second.start).unwrap_or_default();
        let is_near = between.len() <= 16
            && between.chars().all(|c| c.is_alphabetic() || c == ' ' || c == ',');
        // What was joined before is in seconds, but as coarse as its last part.
        let grain = |number: &Number, unit: Unit| number.readings.first.place * unit.size;
        if large_unit.dimension != Dimension::Time
            || small_unit.dimension != Dimension::Time
            || grain(large, large_unit) <= grain(small, small_unit)
            || !is_near
        {
            return;
        }
        let value = large.readings.first.value * large_unit.size
            + small.readings.first.value * small_unit.size;
        let place = small.readings.first.place * small_unit.size;
        let unit = Some(Unit { dimension: Dimension::Time, size: 1.0 });
        let number = Number {
            readings: Readings::one(Reading { value, place }),
            unit,
            written: Written::Digits,
        };
        let (start, end) = (first.start, second.end);
        while self.found.pop_if(|token| token.start >= start).is_some() {}
        self.push(start, end, Kind::Number(number));
    }
}

/// `km/h`, `m/s`
fn speed(word: &str, after: &str) -> Option<Unit> {
    match word {
        "km/h" => Some(units::SPEED_KMH),
        "m/s" => Some(units::SPEED_MS),
        "km" if after.starts_with("/h") => Some(units::SPEED_KMH),
        "m" if after.starts_with("/s") => Some(units::SPEED_MS),
        _ => None,
    }
}

fn number_unit(found: &[Token<'_>]) -> Option<Unit> {
    match &found.last()?.kind {
        Kind::Number(number) => number.unit,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::date::Day;
    use super::*;

    fn numbers(text: &str) -> Vec<(f64, Option<Dimension>)> {
        let found = tokens(text).into_iter().filter_map(|token| match token.kind {
            Kind::Number(number) => {
                let size = number.unit.map_or(1.0, |unit| unit.size);
                let scaled = if number.unit.is_some_and(|unit| unit.dimension == Dimension::Time) {
                    size
                } else {
                    1.0
                };
                Some((number.readings.first.value * scaled, number.unit.map(|unit| unit.dimension)))
            }
            _ => None,
        });
        found.collect()
    }

    fn days(text: &str) -> Vec<Vec<Day>> {
        let found = tokens(text).into_iter().filter_map(|token| match token.kind {
            Kind::Days(days) => Some(days),
            _ => None,
        });
        found.collect()
    }

    #[test]
    fn numbers_come_with_scale_and_unit() {
        use Dimension::{Data, Money, Percent, Temperature, Time};
        for (text, expected) in [
            ("1.2 k users", &[(1200.0, None)][..]),
            ("2.5k", &[(2500.0, None)]),
            ("$3.17 trillion", &[(3.17e12, Some(Money))]),
            ("45,00 €", &[(45.0, Some(Money))]),
            ("EUR 45.50 in all", &[(45.5, Some(Money))]),
            ("15 % off", &[(15.0, Some(Percent))]),
            ("4.5MB", &[(4.5, Some(Data))]),
            ("21 °C", &[(21.0, Some(Temperature))]),
            ("three items", &[(3.0, None)]),
            ("half an hour", &[(1800.0, Some(Time))]),
            ("an hour", &[(3600.0, Some(Time))]),
            ("an hour and a half", &[(5400.0, Some(Time))]),
            ("two and a half hours", &[(9000.0, Some(Time))]),
            ("a dozen eggs", &[(12.0, None)]),
            ("10k-20k", &[(10_000.0, None), (20_000.0, None)]),
            ("50 basis points", &[(50.0, Some(Percent))]),
            ("a third off", &[(1.0 / 3.0, None)]),
            ("2½ hours", &[(9000.0, Some(Time))]),
            ("2 h 15 min", &[(8100.0, Some(Time))]),
            ("1h30m", &[(5400.0, Some(Time))]),
            ("2 hours and 5 minutes", &[(7500.0, Some(Time))]),
            ("1,2,3", &[(1.0, None), (2.0, None), (3.0, None)]),
            ("5-7 people", &[(5.0, None), (7.0, None)]),
            ("2.1/5.0", &[(2.1, None), (5.0, None)]),
            ("a 45-minute call", &[(2700.0, Some(Time))]),
            ("544元", &[(544.0, Some(Money))]),
            ("1e3 times", &[(1000.0, None)]),
            ("9071,12.50,2026-04-30", &[(9071.0, None), (12.5, None)]),
            ("7,10.5,3", &[(7.0, None), (10.5, None), (3.0, None)]),
            ("½ cup", &[(0.5, None)]),
            ("temp=18.96C", &[(18.96, Some(Temperature))]),
        ] {
            assert_eq!(numbers(text), expected, "{text}");
        }
        assert!(numbers("GPT-4 and v1.2.3, 192.168.1.1, a1b2c3").is_empty());
    }

    #[test]
    fn days_are_found_in_prose() {
        let may = |day| Day { year: Some(2026), month: 5, day };
        for text in [
            "on 3 May 2026",
            "May 3rd, 2026",
            "3rd of May 2026",
            "due 2026-05-03.",
            "at 2026-05-03T10:00:00Z",
            "3-May-2026",
        ] {
            assert_eq!(days(text), [vec![may(3)]], "{text}");
        }
        assert_eq!(days("May 3–7, 2026"), [vec![may(3)], vec![may(7)]]);
        assert_eq!(days("3-7 May 2026"), [vec![may(3)], vec![may(7)]]);
        assert_eq!(days("from 3 to 7 May 2026"), [vec![may(3)], vec![may(7)]]);
        assert_eq!(days("Sunday, May 3 at noon"), [vec![Day { year: None, month: 5, day: 3 }]]);
        assert!(days("3 may be enough, you may 5 times").is_empty());
    }

    #[test]
    fn times_addresses_and_ids_are_distinguished() {
        let kinds =
            |text: &str| tokens(text).into_iter().map(|token| token.kind).collect::<Vec<_>>();
        assert_eq!(kinds("2:30 PM"), [Kind::Time(870)]);
        assert_eq!(kinds("2pm"), [Kind::Time(840)]);
        assert_eq!(kinds("14:30"), [Kind::Time(870)]);
        assert_eq!(kinds("17.45 Uhr"), [Kind::Time(1065)]);
        assert_eq!(kinds("9 Uhr"), [Kind::Time(540)]);
        assert_eq!(kinds("17h45")[0], Kind::Time(1065));
        assert_eq!(kinds("https://a.b/c"), [Kind::Url]);
        assert_eq!(kinds("/root/a.md"), [Kind::Path]);
        assert_eq!(kinds("ann@b.org"), [Kind::Email]);
        assert_eq!(kinds("ORD-1042"), [Kind::Id]);
        assert_eq!(kinds("+1 (555) 010-9999"), [Kind::Phone("15550109999".to_owned())]);
        assert_eq!(kinds("and/or"), [Kind::Word]);
    }

    proptest! {
        #[test]
        fn any_text_has_tokens_inside_of_it(text in "\\PC{0,80}") {
            for token in tokens(&text) {
                prop_assert_eq!(text.get(token.start..token.end), Some(token.text));
            }
        }

        #[test]
        fn digits_and_marks_do_no_harm(text in "[0-9 .,:/+()hmkM%€-]{0,40}") {
            let _ = tokens(&text);
        }
    }
}
