//! What an answer may compute from numbers that are known: totals, differences, means and shares, each only in a sentence
//! that speaks of one.

use crate::values::known::Known;
use crate::values::token::Number;
use crate::values::units::Dimension;
use crate::values::word_list::WordList;

/// What the words of a sentence say about its numbers.
#[derive(Debug, Default)]
pub(super) struct Context {
    adds: bool,
    subtracts: bool,
    averages: bool,
    divides: bool,
    /// How many of one period make another of which the sentence speaks: 12 for `a year` and `a month`.
    periods: Vec<f64>,
    /// General advice: `usually 30 minutes`.
    pub(super) is_advice: bool,
    /// Spans up to now: `3 days ago`.
    pub(super) is_about_now: bool,
    /// A state after a change: `the balance is now 80`.
    pub(super) is_update: bool,
    /// Only the end of a number is shown.
    pub(super) is_masked: bool,
}

static UPDATES: WordList = WordList::new("now new balance remaining left after updated");
static ADDS: WordList = WordList::new(
    "total totals totaling totalling sum combined altogether together overall subtotal \
     aggregate adds plus both cumulative gesamt summe",
);
static SUBTRACTS: WordList = WordList::new(
    "difference above below more less fewer cheaper higher lower left remaining remain remains saved saves \
     save saving savings increase increased decrease decreased change changed gap between after \
     leaving leaves net rose fell dropped grew growth gain loss decline declined minus faster \
     slower longer shorter gained lost balance free available unused discount than age aged interest profit extra",
);
static AVERAGES: WordList = WordList::new("average averages averaging mean avg median typical");
static DIVIDES: WordList = WordList::new(
    "per each times ratio share rate percent percentage half third split every equals \
     equivalent converts converted worth margin yield x gross net tax vat incl including \
     excluding excl",
);
static ADVISES: WordList = WordList::new(
    "usually typically generally often recommend recommended suggest consider tip tips might \
     may should try allow plan ideally minimum least most could expect within early",
);
static UP_TO_NOW: WordList =
    WordList::new("ago old since until left remaining ahead now away uptime last past");

impl Context {
    /// `answer` has the periods that all of it names.
    pub(super) fn new(sentence: &str, answer: &Periods) -> Self {
        let lower = sentence.to_lowercase();
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        Self {
            adds: ADDS.has_any(&words) || lower.contains('='),
            subtracts: SUBTRACTS.has_any(&words),
            averages: AVERAGES.has_any(&words),
            divides: DIVIDES.has_any(&words) || lower.contains(['%', '×', '÷', '=']),
            periods: answer.factors(&Periods::of(&words)),
            is_advice: ADVISES.has_any(&words),
            is_about_now: UP_TO_NOW.has_any(&words),
            is_update: UPDATES.has_any(&words),
            is_masked: [
                "ending in",
                "ends in",
                "ending with",
                "last four",
                "last 4",
                "****",
                "••••",
            ]
            .iter()
            .any(|sign| lower.contains(sign)),
        }
    }

    /// Whether the sentence compares or combines numbers at all.
    pub(super) fn compares(&self) -> bool {
        self.adds || self.subtracts || self.averages || self.divides
    }
}

/// Periods that a text names, by how many of them a year has.
#[derive(Debug, Default)]
pub(super) struct Periods(Vec<f64>);

impl Periods {
    pub(super) fn new(text: &str) -> Self {
        let lower = text.to_lowercase();
        Self::of(&lower.split(|c: char| !c.is_alphanumeric()).collect::<Vec<_>>())
    }

    fn of(words: &[&str]) -> Self {
        const PER_YEAR: [(&str, &str, f64); 6] = [
            ("year", "annual", 1.0),
            ("quarter", "quarterly", 4.0),
            ("month", "monthly", 12.0),
            ("week", "weekly", 52.0),
            ("day", "daily", 365.0),
            ("hour", "hourly", 8_760.0),
        ];
        let named = PER_YEAR.iter().filter(|(noun, adjective, _)| {
            words.iter().any(|word| word.starts_with(noun) || word.starts_with(adjective))
        });
        Self(named.map(|(.., count)| *count).collect())
    }

    /// The factors between periods of an answer, one of which its sentence names.
    fn factors(&self, sentence: &Self) -> Vec<f64> {
        let pairs = sentence.0.iter().flat_map(|one| self.0.iter().map(move |other| one / other));
        pairs.filter(|factor| (factor - 1.0).abs() > f64::EPSILON).collect()
    }
}

/// Whether the words before a number say that it is not exact: `about`, `nearly`, `more than`.
pub(super) fn is_rough(before: &str) -> bool {
    static WORDS: WordList = WordList::new(
        "about around approximately approx roughly nearly almost over circa ca close estimated \
         ungefähr rund etwa just exceeding than some under above",
    );
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(28))..];
    let line = near.rsplit(['\n', '.', ';', ',', '(', ':']).next().unwrap_or(near).to_lowercase();
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let last: Vec<&str> = words.collect();
    last.iter().rev().take(3).any(|word| WORDS.has(word))
}

/// Numbers from which an answer may compute others: those that it states itself and those of the user.
pub(super) struct Operands {
    /// In the order of the answer.
    stated: Vec<f64>,
    all: Vec<f64>,
    /// Numbers of listed things that the answer states, and all others: shares are made of them, too.
    counted: Vec<f64>,
    /// Those that the answer computed itself.
    computed: Vec<f64>,
}

/// With more numbers, some result is always near by coincidence.
const MAX_OPERANDS: usize = 48;

impl Operands {
    /// `stated` are numbers of the answer that are known, `counts` those that count what is known.
    pub(super) fn new(
        stated: impl Iterator<Item = Number>,
        counts: impl Iterator<Item = Number>,
        known: &Known,
        before: usize,
    ) -> Self {
        let stated: Vec<f64> =
            stated.map(|number| number.readings.first.value).take(MAX_OPERANDS).collect();
        let mut all = stated.clone();
        all.extend(known.asked(before).take(8));
        let mut counted = all.clone();
        counted.extend(counts.map(|number| number.readings.first.value).take(MAX_OPERANDS));
        for operands in [&mut all, &mut counted] {
            operands.sort_by(f64::total_cmp);
            operands.dedup();
        }
        Self { stated, all, counted, computed: Vec::new() }
    }

    /// Adds a number that the answer computed, so that others follow from it.
    pub(super) fn add(&mut self, value: f64) {
        if self.all.len() < MAX_OPERANDS {
            self.stated.push(value);
            self.all.push(value);
            self.counted.push(value);
            self.computed.push(value);
        }
    }

    /// The numbers that the answer computed.
    pub(super) fn computed(&self) -> &[f64] {
        &self.computed
    }

    /// Whether the operands make a number in the way of which its sentence speaks.
    pub(super) fn make(&self, number: &Number, context: &Context, is_rough: bool) -> bool {
        let is_share = number.unit.is_some_and(|unit| unit.dimension == Dimension::Percent);
        number.readings.iter().any(|reading| {
            let place =
                if is_rough { reading.place.max(reading.value * 0.02) } else { reading.place };
            let near = |value: f64| {
                (value.abs() - reading.value).abs() <= place / 2.0 + reading.value * 1e-9
            };
            let all = &self.all;
            is_share
                && pairs(&self.counted, |a, b| near(a / b * 100.0) || near((a - b) / b * 100.0))
                || context.adds && (self.runs(|sum, _| near(sum)) || pairs(all, |a, b| near(a + b)))
                || context.averages
                    && (self.runs(|sum, count| near(sum / count as f64))
                        || pairs(all, |a, b| near(f64::midpoint(a, b))))
                || context.adds && pairs(all, |a, b| b.fract() == 0.0 && b <= 100.0 && near(a * b))
                || context.subtracts && pairs(all, |a, b| near(a - b))
                || context.divides
                    && pairs(all, |a, b| near(a / b) || near(a * b) || near(a * b / 100.0))
                || context.periods.iter().any(|factor| {
                    all.iter().any(|value| near(value * factor) || near(value / factor))
                })
        })
    }

    /// Sums of numbers that follow each other in the answer.
    fn runs(&self, is: impl Fn(f64, usize) -> bool) -> bool {
        (0..self.stated.len()).any(|from| {
            let mut sum = 0.0;
            self.stated[from..].iter().enumerate().any(|(index, value)| {
                sum += value;
                index > 0 && is(sum, index + 1)
            })
        })
    }
}

fn pairs(of: &[f64], is: impl Fn(f64, f64) -> bool) -> bool {
    let mut pairs = of.iter().flat_map(|a| of.iter().map(move |b| (*a, *b)));
    pairs.any(|(a, b)| (a - b).abs() > f64::EPSILON && b != 0.0 && is(a, b))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::Trace;

    use super::*;

    #[test]
    fn only_what_the_sentence_speaks_of_is_computed() {
        let known = Known::new(&Trace::default());
        let numbers = [120.0, 45.0, 35.0].map(Number::of).into_iter();
        let operands = Operands::new(numbers, std::iter::empty(), &known, 0);
        let makes = |value: f64, sentence: &str| {
            let periods = Periods::new(sentence);
            operands.make(&Number::of(value), &Context::new(sentence, &periods), false)
        };
        assert!(makes(200.0, "The total is 200.") && !makes(200.0, "The price is 200."));
        assert!(makes(75.0, "It is 75 cheaper.") && !makes(76.0, "It is 76 cheaper."));
        assert!(makes(40.0, "On average 40."));
        assert!(makes(10.0, "120 a year, which is 10 a month.") && !makes(10.0, "10 a month."));
    }
}
