//! Whether the application mentions a failure to its user. A sentence that names failed calls counts for those alone; a
//! sentence that names no call counts for all of the turn.

use std::collections::HashMap;
use std::sync::LazyLock;

use quintain_evidence::lexicon::{self, Sense};
use quintain_evidence::trace::Role;

use crate::canonical::scalars;
use crate::fast_hash::{FastMap, FastSet};
use crate::statements::{Admission, Statements};
use crate::values::token::{Kind, tokens};
use crate::view::{CallView, View};
use crate::word_list;
use crate::word_pattern::{Test, compile_test, is_match};

/// Characters of the results of a turn that are searched for the subject of a sentence.
const MAX_SEARCHED: usize = 200_000;
/// Subjects that are searched in a turn.
const MAX_SUBJECTS: usize = 64;
/// Letters by which words are compared, so that "orders" equals "order".
const STEM: usize = 5;
/// This number of new values is an answer, not part of a question.
const NEWS: usize = 2;
/// People count with smaller numbers.
const SMALLEST_VALUE: f64 = 10.0;

/// What is said after a failed call, in its turn.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) admits: bool,
    pub(super) asks: bool,
    pub(super) claim: Option<String>,
}

/// Every turn with a failed call.
pub(super) struct Turns {
    turns: HashMap<usize, Turn>,
    is_recorded: bool,
}

/// What the calls of a turn are about, and what is said in it.
#[derive(Default)]
struct Turn {
    /// Words that name failed calls.
    failed: FastSet<String>,
    /// Nouns in the names of all calls.
    subjects: FastSet<String>,
    calls: usize,
    /// Texts of the user and of results, in lower case.
    texts: String,
    /// The words of these texts.
    known: FastSet<String>,
    /// What the user and the arguments say, in lower case.
    asked: String,
    searched: usize,
    admissions: Admissions,
    /// Sentences that say that something is not there. They report a failure only if it says the same.
    absences: Admissions,
    asks: Option<usize>,
    /// Whether the application states several values that nobody gave.
    has_news: bool,
    /// The last step at which a word is said at all.
    said: FastMap<String, usize>,
    last_call: usize,
    /// The last message.
    answer: Option<LastMessage>,
}

#[derive(Default)]
struct Admissions {
    /// The last step at which a failure is admitted that names no call.
    of_all: Option<usize>,
    /// The last step at which a word is in the admission of a failure.
    of: FastMap<String, usize>,
}

impl Admissions {
    fn cover(&self, call: &CallView<'_>, counts: impl Fn(&usize) -> bool) -> bool {
        self.of_all.as_ref().is_some_and(&counts)
            || names(call).any(|word| self.of.get(&word).is_some_and(&counts))
    }
}

/// Errors that say that something is not there.
static ABSENT: Test = LazyLock::new(|| {
    compile_test(
        r"(?i)\b(?:not (?:be )?found|no such|does(?:n't| not) exist|unknown|empty|404|not_found|notfound|missing|nothing|none|unable to find|could(?:n't| not) find|no longer|cannot find|can't find|no \w+)\b|未找到|找不到|不存在|nicht gefunden|introuvable",
    )
});

/// The last message of a turn.
struct LastMessage {
    step: usize,
    /// A sentence that claims success.
    claim: Option<String>,
    /// A sentence that describes a state.
    state: Option<String>,
}

impl Turns {
    pub(super) fn new(view: &View<'_>, failed: &[&CallView<'_>]) -> Self {
        let mut turns: HashMap<usize, Turn> = HashMap::new();
        for call in failed {
            turns.entry(call.turn).or_default().failed.extend(names(call));
            // The user may ask for the result in the next turn.
            turns.entry(call.turn + 1).or_default().failed.extend(names(call));
        }
        for call in &view.calls {
            if let Some(turn) = turns.get_mut(&call.turn) {
                turn.calls += 1;
                turn.last_call = call.step;
                turn.subjects.extend(nouns(call));
                turn.add_asked(&values_text(call));
                if call.failure().is_none() {
                    turn.add_text(call.text());
                }
            }
        }
        let mut is_recorded = false;
        for (step, number, message) in view.messages() {
            is_recorded |= message.role == Role::Assistant;
            let Some(turn) = turns.get_mut(&number) else { continue };
            match message.role {
                Role::User => {
                    turn.add_text(&message.text);
                    turn.add_asked(&message.text);
                }
                Role::Assistant => {
                    turn.said.extend(stems(&message.text).map(|word| (word, step)));
                    turn.add_statements(step, &message.text);
                }
                Role::System => {}
            }
        }
        Self { turns, is_recorded }
    }

    /// Whether anything that the application says is recorded.
    pub(super) fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    pub(super) fn after(&self, call: &CallView<'_>) -> Said {
        let Some(turn) = self.turns.get(&call.turn) else { return Said::default() };
        // Some formats record the answer of a turn before its calls.
        let answered = turn.answer.as_ref().map_or(0, |answer| answer.step);
        let is_later =
            |step: &usize| *step > call.step || (answered < turn.last_call && *step == answered);
        let claim = turn.answer.as_ref().and_then(|answer| {
            // What is in a state was not brought into it by a call that only reads.
            let state = answer.state.as_ref().filter(|_| !call.reads_only());
            answer.claim.as_ref().or(state).cloned()
        });
        Said {
            admits: turn.admits(call, is_later)
                || turn.repeats_error(call, is_later)
                || claim.is_none() && !turn.has_news && self.is_told_next(call),
            asks: turn.asks.as_ref().is_some_and(is_later),
            claim,
        }
    }

    /// Whether the next turn reports the failure of a call whose own turn was left open.
    fn is_told_next(&self, call: &CallView<'_>) -> bool {
        let Some(next) = self.turns.get(&(call.turn + 1)) else { return false };
        next.admits(call, |_| true) && (next.calls == 0 || next.names(call))
            || next.repeats_error(call, |_| true)
    }
}

impl Turn {
    /// Whether a failure is admitted, of this call or of no call in particular.
    fn admits(&self, call: &CallView<'_>, counts: impl Fn(&usize) -> bool + Copy) -> bool {
        let is_absent = || call.failure().is_some_and(|failure| is_match(&ABSENT, &failure.text));
        self.admissions.cover(call, counts) || self.absences.cover(call, counts) && is_absent()
    }

    /// Whether an admission names a call.
    fn names(&self, call: &CallView<'_>) -> bool {
        let all = [&self.admissions, &self.absences];
        names(call).any(|word| all.iter().any(|admissions| admissions.of.contains_key(&word)))
    }

    /// Whether most words of an error are repeated that were not known from the request and the call: "room taken".
    fn repeats_error(&self, call: &CallView<'_>, is_later: impl Fn(&usize) -> bool) -> bool {
        let Some(failure) = call.failure() else { return false };
        let known: FastSet<String> = nouns(call).chain(values(call)).collect();
        let own: FastSet<String> = stems(&failure.text)
            .filter(|word| !known.contains(word) && !self.known.contains(word))
            .collect();
        let said = own.iter().filter(|word| self.said.get(*word).is_some_and(&is_later)).count();
        said * 2 > own.len()
    }

    fn add_text(&mut self, text: &str) {
        let room = MAX_SEARCHED.saturating_sub(self.texts.len());
        let text = &text[..text.floor_char_boundary(room.min(text.len()))];
        self.known.extend(stems(text));
        self.texts.push_str(&text.to_lowercase());
        self.texts.push('\n');
    }

    fn add_asked(&mut self, text: &str) {
        let room = MAX_SEARCHED.saturating_sub(self.asked.len());
        self.asked.push_str(&text[..text.floor_char_boundary(room.min(text.len()))].to_lowercase());
        self.asked.push('\n');
    }

    /// Whether a sentence claims success in words that the request brought: "I set the timeout to 5 s".
    fn is_asked(&self, admission: &Admission) -> bool {
        admission.claims && admission.words.iter().all(|word| self.asked.contains(word.as_str()))
    }

    fn add_statements(&mut self, step: usize, text: &str) {
        let statements = Statements::read(text);
        let mut claim = statements.claim;
        for admission in statements.admissions {
            if self.is_asked(&admission) {
                claim = claim.or(Some(admission.sentence));
            } else if !self.is_subject(&admission) && !self.is_about_data(&admission) {
                self.add_admission(step, &admission);
            }
        }
        // Who presents values that nobody gave does not ask instead of an answer.
        let has_news = self.states_news(text);
        self.has_news |= has_news;
        if statements.asks && !has_news {
            self.asks = Some(step);
        }
        // What is said between calls is not the answer.
        let earlier = self.answer.take().filter(|answer| answer.step > self.last_call);
        let (earlier, before) = earlier.map_or((None, None), |answer| (answer.claim, answer.state));
        let (claim, state) = (earlier.or(claim), before.or(statements.state));
        self.answer = Some(LastMessage { step, claim, state });
    }

    /// Whether a text has several values that neither the user nor a call gave.
    fn states_news(&self, text: &str) -> bool {
        let values = tokens(text).into_iter().filter(|token| match &token.kind {
            Kind::Word => false,
            Kind::Number(number) => number.readings.first.value >= SMALLEST_VALUE,
            _ => true,
        });
        let is_new = |value: &str| !self.asked.contains(value) && !self.texts.contains(value);
        values.filter(|token| is_new(&token.text.to_lowercase())).take(NEWS).count() == NEWS
    }

    /// Whether the words for a failure are the subject of the request or of a result: "the failed payment".
    fn is_subject(&mut self, admission: &Admission) -> bool {
        if admission.topics.is_empty() || self.searched > MAX_SUBJECTS {
            return false;
        }
        self.searched += admission.topics.len();
        admission.topics.iter().all(|topic| self.texts.contains(topic.as_str()))
    }

    /// Whether a sentence reports what a result says about something else: all its values are in results, and none
    /// belongs to a failed call. "Run 4411 failed in 2 of 80 tests."
    fn is_about_data(&self, admission: &Admission) -> bool {
        if admission.topics.is_empty() {
            return false;
        }
        let all = tokens(&admission.sentence);
        let mut values = all.iter().filter(|token| match &token.kind {
            Kind::Word => false,
            Kind::Number(number) => number.readings.first.value >= SMALLEST_VALUE,
            _ => true,
        });
        let is_data = |text: &str| {
            self.texts.contains(text) && !stems(text).any(|stem| self.failed.contains(&stem))
        };
        let Some(first) = values.next() else { return false };
        is_data(first.text) && values.all(|token| is_data(token.text))
    }

    fn add_admission(&mut self, step: usize, admission: &Admission) {
        let words: FastSet<String> = stems(&admission.sentence).collect();
        let named: Vec<&String> = words.iter().filter(|word| self.failed.contains(*word)).collect();
        let covers_all = self.calls == 1
            || named.is_empty() && !words.iter().any(|word| self.subjects.contains(word));
        let named: Vec<String> = named.into_iter().cloned().collect();
        let admissions =
            if admission.is_absence { &mut self.absences } else { &mut self.admissions };
        if covers_all {
            admissions.of_all = Some(step);
        }
        admissions.of.extend(named.into_iter().map(|word| (word, step)));
    }
}

/// The words by which a sentence can name a failed call: of its name, its values and its error.
fn names(call: &CallView<'_>) -> impl Iterator<Item = String> + use<> {
    let failure = call.failure().map(|failure| failure.text.as_str()).unwrap_or_default();
    let failure: Vec<String> = stems(failure).collect();
    nouns(call).chain(values(call)).chain(failure)
}

/// What a call is about, by the nouns of its name.
fn nouns(call: &CallView<'_>) -> impl Iterator<Item = String> + use<> {
    let words = lexicon::words(&call.call.name).into_iter();
    let nouns = words.filter(|word| !Sense::Common.is(word) && !Sense::BeginsNames.is(word));
    nouns.flat_map(|word| stems(&word).collect::<Vec<_>>())
}

fn values(call: &CallView<'_>) -> impl Iterator<Item = String> + use<> {
    let values = call.call.args.json().map(scalars).unwrap_or_default();
    let short = values.into_iter().filter(|value| value.len() <= 200).take(32);
    short.flat_map(|value| stems(&value).collect::<Vec<_>>())
}

/// The arguments of a call as text.
fn values_text(call: &CallView<'_>) -> String {
    let values = call.call.args.json().map(scalars).unwrap_or_default();
    values.into_iter().filter(|value| value.len() <= 2000).take(32).collect::<Vec<_>>().join("\n")
}

/// Words by their first letters, without those that every failure uses.
fn stems(text: &str) -> impl Iterator<Item = String> + '_ {
    static COMMON: LazyLock<FastSet<&str>> = LazyLock::new(|| word_list::set(COMMON_STEMS));
    const COMMON_STEMS: &str = "about after again also and are anoth becau been but canno could did error faile for found from has \
        have here inval issue later missi not pleas probl reque respo retur retry sorry that the their there this timed \
        timeo unabl unava unfor was with would you your tried tryin occur encou went wrong while when which tool call \
        servi serve because please";
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 2);
    let stems = words.map(|word| word.to_lowercase().chars().take(STEM).collect::<String>());
    stems.filter(|stem| !COMMON.contains(stem.as_str()))
}
