//! `proof` of a defined attack: what shows that it worked, and how certain that is.

use quintain_content::glob;
use quintain_evidence::accepted::accepted;
use quintain_evidence::evidence::{Evidence, Exchange, Observation, Outcome};
use quintain_evidence::finding::Confidence;
use regex::Regex;
use serde_json::Value;

use super::text::{Name, Text, Values};
use crate::attack::{Attack, Trial, Tried};
use crate::opinion::Votes;
use quintain_evidence::demands::{Around, Demands};

/// Signs that must occur together.
pub(crate) struct Proof {
    pub(crate) signs: Vec<Sign>,
    /// Always suspected only, whatever the signs show.
    pub(crate) doubtful: bool,
}

impl Proof {
    /// A proof of one sign.
    pub(crate) fn of(sign: Sign) -> Self {
        Self { signs: vec![sign], doubtful: false }
    }
}

impl std::fmt::Debug for Proof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proof").field("signs", &self.signs.len()).finish_non_exhaustive()
    }
}

/// One observable effect.
pub(crate) enum Sign {
    /// The response contains a text.
    Answer(Text),
    /// The response matches, and that of the baseline call does not.
    Matches(Regex),
    /// The target connected to the listener.
    Listener,
    /// A file appeared in the canary folder: this one, or any with the mark.
    File(Option<Text>),
    /// A program was started with an argument that matches, or that contains the mark.
    Program { name: String, argument: Option<Text> },
    /// The server process ended.
    Exit,
    /// The call ended in an error, and the baseline call did not.
    Error(Fault),
    /// The call succeeded, formally and by its text.
    Accepted,
    /// The response breaks an assertion.
    Assert(Box<dyn Demands>),
    /// The response differs from that of the baseline call.
    Differs,
    /// A built-in attack detects what it looks for.
    Detector(&'static dyn Attack),
    /// A call of a tool that the server does not list succeeded.
    Unlisted,
    /// A judge says that the response breaks a rule.
    Judged(JudgedRule),
}

/// A rule in words, and who asks a judge about it.
pub(crate) struct JudgedRule {
    pub(crate) asked_by: String,
    pub(crate) rule: String,
}

/// Kinds of errors by the words that suites use; a number is a JSON-RPC error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Timeout,
    Closed,
    Garbled,
    Protocol,
    Tool,
    Code(i64),
}

impl Fault {
    pub(crate) const WORDS: [(&'static str, Self); 5] = [
        ("timeout", Self::Timeout),
        ("closed", Self::Closed),
        ("garbled", Self::Garbled),
        ("protocol", Self::Protocol),
        ("tool", Self::Tool),
    ];

    fn is(self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::TimedOut { .. } => self == Self::Timeout,
            Outcome::Closed { .. } => self == Self::Closed,
            Outcome::Garbled { .. } => self == Self::Garbled,
            Outcome::RpcError { code, .. } => self == Self::Protocol || self == Self::Code(*code),
            Outcome::ToolError(_) => self == Self::Tool,
            Outcome::Reply(_) | Outcome::Refused { .. } => false,
        }
    }
}

/// What a sign showed.
pub(crate) struct Seen {
    pub(crate) what: String,
    /// Whether neither an echo nor coincidence explains it.
    pub(crate) sure: bool,
    pub(crate) pointer: Option<String>,
}

impl Seen {
    fn sure(what: impl Into<String>) -> Self {
        Self { what: what.into(), sure: true, pointer: None }
    }

    fn unsure(what: impl Into<String>) -> Self {
        Self { sure: false, ..Self::sure(what) }
    }
}

/// An attempt as proofs read it.
pub(crate) struct AttemptView<'a> {
    trial: &'a Trial<'a>,
    tried: &'a Tried,
    values: Values,
    /// All texts of the requests.
    sent: String,
    /// Whether the user wrote the whole call, so that there is no baseline to compare with.
    whole: bool,
}

impl<'a> AttemptView<'a> {
    pub(crate) fn new(trial: &'a Trial<'a>, tried: &'a Tried, whole: bool) -> Self {
        let values = Values::of_role(&tried.attempt.role);
        Self { trial, tried, values, sent: sent(tried), whole }
    }

    /// Index of the payload or call in its attack.
    pub(crate) fn shot(&self) -> Option<usize> {
        self.values.shot()
    }

    fn innocent(&self) -> Option<&Exchange> {
        self.trial.baseline()
    }

    /// A sign in the response. `holds` decides whether a text has it; the request and the baseline must not.
    fn in_answer(&self, what: String, fresh: bool, holds: impl Fn(&str) -> bool) -> Option<Seen> {
        if !holds(&self.tried.said()) {
            return None;
        }
        if holds(&self.sent) {
            return Some(Seen::unsure(format!("{what}, but so does the request (weak evidence)")));
        }
        if fresh || self.whole {
            return Some(Seen::sure(what));
        }
        match self.innocent() {
            Some(innocent) if holds(&innocent.outcome.said()) => None,
            Some(_) => Some(Seen::sure(format!("{what}, that of the baseline call does not"))),
            None => {
                Some(Seen::unsure(format!("{what}; there is no baseline call to compare with")))
            }
        }
    }

    fn observed(&self) -> &[Observation] {
        &self.tried.evidence.observations
    }

    fn broken(&self, demands: &dyn Demands) -> Option<Seen> {
        let around = Around { surfaces: self.trial.view.surfaces, vars: self.values.vars() };
        let breach = demands.broken(&self.tried.evidence, around)?;
        let of = |exchange: Exchange| Evidence { exchanges: vec![exchange], ..Evidence::default() };
        let holds = |exchange: Exchange| demands.broken(&of(exchange), around).is_none();
        // For a whole call, an empty response serves as the baseline.
        let innocent =
            if self.whole { Some(Exchange::answered("")) } else { self.innocent().cloned() };
        let echo = innocent.clone().map(|exchange| with_echo(exchange, &self.sent));
        let sure = match (innocent, echo) {
            (Some(innocent), _) if !holds(innocent.clone()) => {
                if !self.whole {
                    return None;
                }
                true
            }
            (Some(_), Some(echo)) => holds(echo),
            _ => false,
        };
        Some(Seen { what: breach.what, sure, pointer: breach.pointer })
    }
}

impl Proof {
    /// What all signs show together; certain if one of them is.
    pub(crate) fn seen(&self, attempt_view: &AttemptView<'_>) -> Option<Seen> {
        let seen: Vec<Seen> =
            self.signs.iter().map(|sign| sign.seen(attempt_view)).collect::<Option<_>>()?;
        let what: Vec<&str> = seen.iter().map(|one| one.what.as_str()).collect();
        Some(Seen {
            what: what.join("; "),
            sure: !self.doubtful && seen.iter().any(|one| one.sure),
            pointer: seen.iter().find_map(|one| one.pointer.clone()),
        })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = Name> {
        self.signs.iter().flat_map(|sign| match sign {
            Sign::Answer(text)
            | Sign::File(Some(text))
            | Sign::Program { argument: Some(text), .. } => text.names().collect(),
            _ => Vec::new(),
        })
    }
}

impl Sign {
    fn seen(&self, attempt_view: &AttemptView<'_>) -> Option<Seen> {
        match self {
            Self::Answer(text) => {
                let wanted = text.fill(&attempt_view.values).filter(|wanted| !wanted.is_empty())?;
                let what = format!("the response contains `{wanted}`");
                attempt_view.in_answer(what, text.is_fresh(), |said| said.contains(&wanted))
            }
            Self::Matches(pattern) => {
                let what = format!("the response matches `{pattern}`");
                attempt_view.in_answer(what, false, |said| pattern.is_match(said))
            }
            Self::Listener => attempt_view.observed().iter().find_map(|one| match one {
                Observation::Connection { request, .. } => {
                    Some(Seen::sure(format!("the target connected to the listener: {request}")))
                }
                _ => None,
            }),
            Self::File(wanted) => file(attempt_view, wanted.as_ref()),
            Self::Program { name, argument } => program(attempt_view, name, argument.as_ref()),
            Self::Exit => attempt_view.observed().iter().find_map(|one| match one {
                Observation::Exit { why } => Some(Seen::sure(format!("the server ended: {why}"))),
                _ => None,
            }),
            Self::Error(fault) => {
                let outcome = &attempt_view.tried.last()?.outcome;
                if !fault.is(outcome) {
                    return None;
                }
                let said = outcome.failure().unwrap_or_else(|| outcome.said());
                let line = said.lines().next().unwrap_or_default();
                let what = format!("the call ended in an error: {line}");
                match attempt_view.innocent() {
                    _ if attempt_view.whole => Some(Seen::sure(what)),
                    Some(innocent) if fault.is(&innocent.outcome) => None,
                    Some(_) => Some(Seen::sure(what)),
                    None => Some(Seen::unsure(what)),
                }
            }
            Self::Accepted => {
                let outcome = &attempt_view.tried.last()?.outcome;
                let did = accepted(outcome);
                did.then(|| Seen::sure("the call succeeded"))
            }
            Self::Assert(demands) => attempt_view.broken(&**demands),
            Self::Differs => {
                let innocent = attempt_view.innocent()?.outcome.said();
                (attempt_view.tried.said() != innocent)
                    .then(|| Seen::unsure("the response differs from that of the baseline call"))
            }
            Self::Detector(attack) => detected(attempt_view, *attack),
            Self::Judged(JudgedRule { asked_by, .. }) => {
                let votes = Votes::of(&attempt_view.tried.evidence.answers, asked_by);
                votes.see_violation().then(|| Seen::unsure(votes.describe()))
            }
            Self::Unlisted => {
                let exchange = attempt_view.tried.last()?;
                let name = exchange.sent.get("name").and_then(Value::as_str)?;
                let mut listed = attempt_view.trial.view.tools();
                let hidden = exchange.method == "tools/call"
                    && !listed.any(|(_, tool)| tool.name() == Some(name));
                (hidden && accepted(&exchange.outcome))
                    .then(|| Seen::sure(format!("`{name}` is not listed, and the call succeeded")))
            }
        }
    }
}

/// What a built-in attack detects in this attempt alone.
fn detected(attempt_view: &AttemptView<'_>, attack: &dyn Attack) -> Option<Seen> {
    let tried = std::slice::from_ref(attempt_view.tried);
    let hits = attack.detect(&Trial { tried, ..*attempt_view.trial });
    let hit = hits.into_iter().max_by_key(|hit| hit.confidence)?;
    let sure = hit.confidence == Confidence::Confirmed;
    Some(Seen { what: format!("{}: {}", attack.meta().id, hit.what), sure, pointer: hit.pointer })
}

fn file(attempt_view: &AttemptView<'_>, wanted: Option<&Text>) -> Option<Seen> {
    let wanted = match wanted {
        Some(text) => Some(text.fill(&attempt_view.values)?),
        None => None,
    };
    attempt_view.observed().iter().find_map(|one| match one {
        Observation::File { path, .. } => {
            let path = path.display().to_string();
            let is_it = wanted.as_ref().is_none_or(|wanted| *wanted == path);
            is_it.then(|| Seen::sure(format!("the file {path} appeared")))
        }
        _ => None,
    })
}

/// A program that gets the payload as an argument is not always a fault; one that gets an argument named in the
/// definition is.
fn program(attempt_view: &AttemptView<'_>, wanted: &str, argument: Option<&Text>) -> Option<Seen> {
    let pattern = match argument {
        Some(text) => Some(text.fill(&attempt_view.values)?),
        None => None,
    };
    attempt_view.observed().iter().find_map(|one| {
        let Observation::Program { program, arguments } = one else { return None };
        if !glob::matches(wanted, program) {
            return None;
        }
        let what = format!("{program} was started with {arguments:?}");
        match &pattern {
            None => Some(Seen::unsure(what)),
            Some(pattern) => {
                let found = arguments.iter().any(|argument| glob::matches(pattern, argument));
                found.then(|| Seen::sure(what))
            }
        }
    })
}

/// A response that also repeats what was sent.
fn with_echo(mut exchange: Exchange, sent: &str) -> Exchange {
    let echo = serde_json::json!({"type": "text", "text": sent});
    match &mut exchange.outcome {
        Outcome::Reply(result) | Outcome::ToolError(result) => {
            match result.get_mut("content").and_then(Value::as_array_mut) {
                Some(blocks) => blocks.push(echo),
                None => *result = serde_json::json!({"content": [echo]}),
            }
        }
        _ => {}
    }
    exchange
}

/// All texts and numbers in the requests of an attempt.
fn sent(tried: &Tried) -> String {
    let value = serde_json::to_value(tried.attempt.action.steps()).unwrap_or_default();
    // Reads a request like a response.
    Outcome::Reply(value).said()
}
