//! Which results were used: whose values reappear in later arguments and in what the application says.

use std::collections::{HashMap, HashSet};

use quintain_evidence::lexicon;
use quintain_evidence::trace::{Args, Call, Role, Trace, TraceStep};
use serde_json::Value;

use super::embedded_json::embedded;
use super::known::Known;
use super::leaves::leaves;
use super::token::{Kind, Token, Written, tokens};
use super::word_list::WordList;
use crate::fast_hash::FastSet;

/// Words that say nothing about where they come from: common ones, and those of the frame around results.
static COMMON: WordList = WordList::new(
    "content text type structuredcontent iserror result results data items item value values name \
     title description status state success true false null message about above after again also \
     been before being below between both could does done down each found from further have \
     having here into just list more most need only other over same should some such than that \
     their them then there these they this those through under until very want were what when \
     where which while will with would your yours total count number first last next date time \
     today currently current details information please like know help user file page full update \
     updated created https http www code example summary note notes level well",
);

/// The calls whose results a later step uses.
pub struct Uses {
    /// For every call, the calls on whose results its arguments depend.
    pub of_calls: Vec<HashSet<usize>>,
    /// The calls on whose results what the application says depends.
    pub of_answers: HashSet<usize>,
    /// How much each call brought that was new.
    pub fresh: Vec<usize>,
}

/// What a text has from one step.
#[derive(Default)]
struct Share {
    is_certain: bool,
    words: HashSet<String>,
}

impl Uses {
    pub fn new(trace: &Trace, known: &Known) -> Self {
        let fresh = known.fresh();
        let steps = trace.steps.iter().enumerate();
        let calls: Vec<(usize, &Call)> =
            steps.filter_map(|(step, entry)| Some((step, entry.as_call()?))).collect();
        let positions: HashMap<usize, usize> =
            calls.iter().enumerate().map(|(position, (step, _))| (*step, position)).collect();
        // Words that the application used itself say nothing about the result.
        let mut own: FastSet<(usize, String)> = FastSet::default();
        for (step, call) in &calls {
            let args = call.args.json().map(ToString::to_string).unwrap_or_default();
            let words = lexicon::words(&call.name).into_iter().chain(lexicon::words(&args));
            own.extend(words.take(2_000).map(|word| (*step, word)));
        }
        let mut uses = Self {
            of_calls: Vec::with_capacity(calls.len()),
            of_answers: HashSet::new(),
            fresh: calls.iter().map(|(step, _)| fresh.get(step).copied().unwrap_or(0)).collect(),
        };
        for (step, entry) in trace.steps.iter().enumerate() {
            match entry {
                TraceStep::Call(call) => {
                    let mut shares = HashMap::new();
                    add_text(known, &call.name, step, &mut shares);
                    if let Args::Json(value) = &call.args {
                        add_json(known, value, step, &mut shares);
                    }
                    let used = used(shares, &positions, &uses.fresh, &own);
                    uses.of_calls.push(used);
                }
                TraceStep::Message(message) if message.role == Role::Assistant => {
                    let mut shares = HashMap::new();
                    add_text(known, &message.text, step, &mut shares);
                    uses.of_answers.extend(used(shares, &positions, &uses.fresh, &own));
                }
                TraceStep::Message(_) => {}
            }
        }
        uses
    }
}

fn used(
    shares: HashMap<usize, Share>,
    positions: &HashMap<usize, usize>,
    fresh: &[usize],
    own: &FastSet<(usize, String)>,
) -> HashSet<usize> {
    let calls = shares.into_iter().filter_map(|(step, share)| {
        let position = *positions.get(&step)?;
        let words =
            share.words.into_iter().filter(|word| !own.contains(&(step, word.clone()))).count();
        let is_small = fresh.get(position).is_some_and(|fresh| *fresh <= 12);
        (share.is_certain || words >= 2 || words == 1 && is_small).then_some(position)
    });
    calls.collect()
}

fn add_json(known: &Known, value: &Value, step: usize, shares: &mut HashMap<usize, Share>) {
    for leaf in leaves(value) {
        match leaf.value {
            Value::String(text) => {
                if let Some(inner) = embedded(text) {
                    leaves(&inner)
                        .iter()
                        .for_each(|leaf| add_text(known, &leaf.value.to_string(), step, shares));
                } else {
                    note(known.since(text), text, text.len() > 3, step, shares);
                    add_text(known, text, step, shares);
                }
            }
            Value::Number(number) => {
                let text = number.to_string();
                note(known.since(&text), &text, text.len() > 2, step, shares);
            }
            _ => {}
        }
    }
}

fn add_text(known: &Known, text: &str, step: usize, shares: &mut HashMap<usize, Share>) {
    for token in tokens(text) {
        let (since, is_certain) = origin(known, &token);
        note(since, token.text, is_certain, step, shares);
    }
}

/// Where a value comes from, and whether it can hardly come from elsewhere.
fn origin(known: &Known, token: &Token<'_>) -> (Option<usize>, bool) {
    match &token.kind {
        Kind::Word => {
            let lower = token.text.to_lowercase();
            let is_common = lower.len() < 4 || COMMON.has(&lower);
            (known.since(token.text).filter(|_| !is_common), false)
        }
        Kind::Number(number) => {
            let reading = number.readings.first;
            let is_long = reading.value >= 100.0
                || reading.place < 1.0
                || number.unit.is_some() && reading.value >= 10.0;
            let count = known
                .count_since(reading.value)
                .filter(|_| number.written != Written::Ordinal && reading.place >= 1.0);
            match known.number_since(number).filter(|_| number.written == Written::Digits) {
                Some(since) => (Some(since), is_long),
                None => (count, false),
            }
        }
        Kind::Days(days) => (days.iter().find_map(|day| known.day_since(*day)), true),
        Kind::Time(time) => (known.time_since(*time), true),
        Kind::Month(..) => (None, false),
        Kind::Url | Kind::Email | Kind::Path | Kind::Id | Kind::Phone(_) => {
            (known.since(token.text), true)
        }
    }
}

fn note(
    since: Option<usize>,
    text: &str,
    is_certain: bool,
    step: usize,
    shares: &mut HashMap<usize, Share>,
) {
    let Some(since) = since.filter(|since| *since < step) else { return };
    let share = shares.entry(since).or_default();
    share.is_certain |= is_certain;
    if !is_certain && share.words.len() < 4 {
        share.words.insert(text.to_lowercase());
    }
}
