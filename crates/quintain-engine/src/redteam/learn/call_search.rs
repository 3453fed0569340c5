//! Searches for a valid call of one tool.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use quintain_evidence::accepted::{accepted, is_unreachable};
use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::probe::Step;
use quintain_evidence::surface::Tool;
use quintain_evidence::tool_call::ToolCall;
use quintain_redteam::knowledge::{
    Baseline, Hints, Knowledge, Learned, RefusedArguments, Tries, amend, complaints, harvest,
};
use serde_json::{Map, Value};

use super::{DEADLY, ping};
use crate::redteam::budget::Budget;
use crate::redteam::gate::Gate;
use crate::redteam::identity_sessions::IdentitySessions;
use crate::redteam::observer::Observer;

/// Maximum number of calls, and maximum time, for one tool in one round.
const MAX_CALLS: usize = 32;
const MAX_TIME: Duration = Duration::from_secs(10);
/// Number of identical answers after which the search stops, since the arguments make no difference.
const MAX_SAME: usize = 8;
/// Number of failures to reach a backend after which the search stops. More than one, since the URL may be an
/// argument.
const MAX_UNREACHED: usize = 4;

/// Why no call was sent.
const HELD: &str = "a valid call would need an object that this run did not create";

/// The search for one valid call.
pub(super) struct CallSearch<'a> {
    pub(super) identity_sessions: &'a IdentitySessions,
    pub(super) identity: usize,
    pub(super) server: &'a str,
    pub(super) tool: &'a Tool,
    pub(super) name: &'a str,
    /// A valid call from the interrupted run.
    pub(super) known: Option<&'a Baseline>,
    pub(super) hints: &'a Hints,
    pub(super) gate: &'a Gate,
    pub(super) budget: &'a Budget,
    pub(super) observer: &'a Observer,
    pub(super) time_limit: Duration,
}

/// Why there is no valid call.
pub(super) enum Failure {
    /// The tool does not answer. Trying again would only cost time.
    SilentTools,
    Other(String),
}

/// Why a search found nothing.
pub(super) enum Missed {
    SilentTools,
    /// The arguments that came closest, and the message.
    Refused {
        args: Option<Map<String, Value>>,
        said: String,
    },
}

/// Refused calls, to find the one that came closest.
#[derive(Default)]
struct RefusedCalls {
    last: Option<Map<String, Value>>,
    /// The first arguments without a complaint: the call failed for another reason.
    fitting: Option<Map<String, Value>>,
    said: String,
    same: usize,
    /// How often the server could not reach a backend.
    unreached: usize,
}

impl RefusedCalls {
    fn refused(&mut self, args: Map<String, Value>, said: &str, complains: bool) {
        self.same = if self.said == said { self.same + 1 } else { 1 };
        said.clone_into(&mut self.said);
        self.unreached += usize::from(is_unreachable(said));
        let names = |name: &String| said.contains(name.as_str());
        if self.fitting.is_none() && !complains && !args.keys().any(names) {
            self.fitting = Some(args.clone());
        }
        self.last = Some(args);
    }

    /// Whether other arguments would make no difference.
    fn is_always_the_same(&self) -> bool {
        self.same >= MAX_SAME || self.unreached >= MAX_UNREACHED
    }

    fn best(self) -> Option<Map<String, Value>> {
        self.fitting.or(self.last)
    }
}

impl CallSearch<'_> {
    /// `schema` describes the arguments. Refusals add to it.
    pub(super) async fn run(
        &self,
        schema: &mut Value,
        knowledge: &mut Knowledge,
    ) -> Result<Option<Baseline>, Failure> {
        if let Some(known) = self.known
            && self.identity_sessions.allows(&known.step)
            && self.budget.take()
        {
            let exchange = self.identity_sessions.step(&known.step).await;
            if matches!(exchange.outcome, Outcome::Reply(_)) {
                return Ok(Some(self.keep(known.step.clone(), exchange, knowledge)));
            }
        }
        match self.search(schema, MAX_CALLS, knowledge).await {
            Ok(found) => Ok(Some(self.keep(found.step, found.exchange, knowledge))),
            Err(Missed::SilentTools) => Err(Failure::SilentTools),
            Err(Missed::Refused { args, said }) => {
                if let Some(args) = args {
                    let (server, tool) = (self.server.to_owned(), self.name.to_owned());
                    knowledge.drafts.retain(|draft| draft.server != server || draft.tool != tool);
                    knowledge.drafts.push(RefusedArguments { server, tool, args });
                }
                Err(Failure::Other(said))
            }
        }
    }

    /// Tries at most `most` calls until one works.
    pub(super) async fn search(
        &self,
        schema: &mut Value,
        most: usize,
        knowledge: &Knowledge,
    ) -> Result<Baseline, Missed> {
        let known: Vec<Learned> =
            knowledge.values.iter().chain(&knowledge.given).cloned().collect();
        let mut tries = Tries::new(self.tool, schema, &known, self.hints);
        let mut error: Option<String> = None;
        let mut first_error = None;
        let mut has_ended = false;
        let mut seen = HashSet::new();
        let mut draft = RefusedCalls::default();
        // An answer that is not marked as an error but reads like one.
        let mut doubtful: Option<Baseline> = None;
        let started = Instant::now();
        // Arguments that the tool should accept and that may be sent.
        let mut queue: VecDeque<Map<String, Value>> = VecDeque::new();
        loop {
            let Some(args) = queue.pop_front() else {
                let Some(args) = tries.next(error.as_deref()) else { break };
                queue.extend(self.gate.fitted(self.server, self.tool, schema, args));
                continue;
            };
            if !seen.insert(Value::Object(args.clone()).to_string()) {
                continue;
            }
            if seen.len() > most || started.elapsed() > MAX_TIME || draft.is_always_the_same() {
                break;
            }
            let server = Some(self.server.to_owned()).filter(|server| !server.is_empty());
            let sent_args = args.clone();
            let step = Step::Call(ToolCall { tool: self.name.to_owned(), args, server });
            if !self.identity_sessions.allows(&step) {
                first_error.get_or_insert_with(|| HELD.to_owned());
                continue;
            }
            if !self.budget.take() {
                let said = "the budget was spent before a valid call was found".to_owned();
                return Err(Missed::Refused { args: draft.best(), said });
            }
            let sent = serde_json::to_value(&step).unwrap_or_default();
            self.observer.with_planted(|planted| planted.asked(&sent));
            let exchange = self.identity_sessions.step_within(&step, self.time_limit).await;
            match &exchange.outcome {
                Outcome::Reply(_) if accepted(&exchange.outcome) => {
                    return Ok(Baseline { server: self.server.to_owned(), step, exchange });
                }
                Outcome::TimedOut { .. } => return Err(Missed::SilentTools),
                Outcome::Closed { .. } => {
                    // A harmless call crashed the server; restart it.
                    has_ended = true;
                    self.identity_sessions.step(&ping()).await;
                    error = None;
                }
                other => {
                    let said = error_text(other);
                    let complaints = complaints(&said);
                    draft.refused(sent_args, &said, !complaints.is_empty());
                    // A refusal may describe what the schema does not.
                    if amend(schema, &complaints) {
                        tries = Tries::new(self.tool, schema, &known, self.hints);
                    }
                    first_error.get_or_insert_with(|| said.clone());
                    error = Some(said);
                    if matches!(other, Outcome::Reply(_)) && doubtful.is_none() {
                        let server = self.server.to_owned();
                        doubtful = Some(Baseline { server, step, exchange });
                    }
                }
            }
        }
        if let Some(found) = doubtful {
            return Ok(found);
        }
        if first_error.is_none() && has_ended {
            return Err(Missed::Refused { args: draft.best(), said: DEADLY.to_owned() });
        }
        // The first call was the most likely to work, so its message is the most useful.
        let said = first_error.unwrap_or_default();
        let said = format!("no valid call found: {}", first_line(&said));
        Err(Missed::Refused { args: draft.best(), said })
    }
}

/// The message of a refusal.
fn error_text(outcome: &Outcome) -> String {
    let texts = outcome.texts();
    if texts.is_empty() { outcome.said() } else { texts.join("\n") }
}

impl CallSearch<'_> {
    /// Stores a valid call and the values in its answer.
    fn keep(&self, step: Step, exchange: Exchange, knowledge: &mut Knowledge) -> Baseline {
        let said = harvest(&exchange, self.name, self.identity);
        let given = self.given(&step);
        let is_known = |value: &Value| {
            let known = knowledge.values.iter().chain(&knowledge.given).chain(&given);
            known.map(|one| &one.value).any(|known| known == value)
        };
        self.gate.add_created(self.server, self.name, &said, is_known);
        knowledge.values.extend(said);
        // Another tool may accept the same value under the same name.
        knowledge.given.extend(given);
        Baseline { server: self.server.to_owned(), step, exchange }
    }

    /// The arguments of a valid call.
    fn given(&self, step: &Step) -> Vec<Learned> {
        let Step::Call(call) = step else { return Vec::new() };
        let plain = |value: &Value| value.is_string() || value.is_number();
        let given =
            call.args.iter().filter(|(_, value)| plain(value)).map(|(name, value)| Learned {
                name: name.clone(),
                value: value.clone(),
                tool: self.name.to_owned(),
                identity: self.identity,
            });
        given.collect()
    }
}

fn first_line(text: &str) -> String {
    // `text` is the type of the block that contains the message.
    let says = |line: &&str| !matches!(line.trim(), "" | "text");
    let line = text.lines().find(says).unwrap_or_default();
    line.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nothing_is_said_against_comes_closest() {
        let args = |value: i64| json!({"id": value}).as_object().cloned().unwrap_or_default();
        let mut draughts = RefusedCalls::default();
        draughts.refused(args(1), "id must be a uuid", true);
        draughts.refused(args(2), "connection refused", false);
        draughts.refused(args(3), "id is unknown", false);
        assert!(!draughts.is_always_the_same());
        assert_eq!(draughts.best(), Some(args(2)));
    }

    #[test]
    fn the_same_words_again_and_again_are_enough() {
        let mut draughts = RefusedCalls::default();
        for _ in 0..MAX_SAME {
            assert!(!draughts.is_always_the_same());
            draughts.refused(Map::new(), "no", false);
        }
        assert!(draughts.is_always_the_same());
    }
}
