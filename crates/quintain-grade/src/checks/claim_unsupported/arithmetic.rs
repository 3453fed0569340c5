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
     slower longer shorter gained lost balance free available unused discount than",
);
static AVERAGES: WordList = WordList::new("average averages averaging mean avg median typical");
static DIVIDES: WordList = WordList::new(
    "per each times ratio share rate percent percentage half third split every equals \
     equivalent converts converted worth margin yield x",
);
static ADVISES: WordList = WordList::new(
    "usually typically generally often recommend recommended suggest consider tip tips might \
     may should try allow plan ideally minimum least most could expect within early",
);
static UP_TO_NOW: WordList =
    WordList::new("ago old since until left remaining ahead now away uptime last past");

impl Context {
    pub(super) fn new(sentence: &str) -> Self {
        let lower = sentence.to_lowercase();
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        Self {
            adds: ADDS.has_any(&words) || lower.contains('='),
            subtracts: SUBTRACTS.has_any(&words),
            averages: AVERAGES.has_any(&words),
            divides: DIVIDES.has_any(&words) || lower.contains(['%', '×', '÷', '=']),
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
}

/// With more numbers, some result is always near by coincidence.
const MAX_OPERANDS: usize = 48;

impl Operands {
    pub(super) fn new(stated: impl Iterator<Item = Number>, known: &Known, before: usize) -> Self {
        let stated: Vec<f64> =
            stated.map(|number| number.readings.first.value).take(MAX_OPERANDS).collect();
        let mut all = stated.clone();
        all.extend(known.asked(before).take(8));
        all.sort_by(f64::total_cmp);
        all.dedup();
        Self { stated, all }
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
            is_share && self.pairs(|a, b| near(a / b * 100.0) || near((a - b) / b * 100.0))
                || context.adds && (self.runs(|sum, _| near(sum)) || self.pairs(|a, b| near(a + b)))
                || context.averages
                    && (self.runs(|sum, count| near(sum / count as f64))
                        || self.pairs(|a, b| near(f64::midpoint(a, b))))
                || context.adds && self.pairs(|a, b| b.fract() == 0.0 && b <= 100.0 && near(a * b))
                || context.subtracts && self.pairs(|a, b| near(a - b))
                || context.divides
                    && self.pairs(|a, b| near(a / b) || near(a * b) || near(a * b / 100.0))
        })
    }

    fn pairs(&self, is: impl Fn(f64, f64) -> bool) -> bool {
        let mut pairs = self.all.iter().flat_map(|a| self.all.iter().map(move |b| (*a, *b)));
        pairs.any(|(a, b)| (a - b).abs() > f64::EPSILON && b != 0.0 && is(a, b))
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

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::Trace;

    use super::*;

    #[test]
    fn only_what_the_sentence_speaks_of_is_computed() {
        let known = Known::new(&Trace::default());
        let operands = Operands::new([120.0, 45.0, 35.0].map(Number::of).into_iter(), &known, 0);
        let makes = |value: f64, sentence: &str| {
            operands.make(&Number::of(value), &Context::new(sentence), false)
        };
        assert!(makes(200.0, "The total is 200.") && !makes(200.0, "The price is 200."));
        assert!(makes(75.0, "It is 75 cheaper.") && !makes(76.0, "It is 76 cheaper."));
        assert!(makes(40.0, "On average 40."));
    }
}
