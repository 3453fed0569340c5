//! Decides whether a trial says anything about its place: only what a working target answers does.

use std::collections::HashSet;

use quintain_evidence::accepted::{is_outage, is_unreachable};
use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::finding::Place;

use super::trial::Trial;

/// The code of errors inside a server, whatever it was asked.
const INTERNAL_ERROR: i64 = -32603;
/// HTTP statuses that say that a server does not work, or has lost the session.
const NOT_WORKING: [&str; 3] = ["404", "408", "429"];

impl Trial<'_> {
    /// Whether the target answered at least half of the attempts as a working target does, and was still there at the
    /// last one, so that one that dies meanwhile does not look clean. A protocol error counts only if a harmless call of the tool works, or if errors depend on
    /// what is sent.
    pub fn is_answered(&self) -> bool {
        let (Place::Tool { server, tool } | Place::Argument { server, tool, .. }) = &self.aim.place
        else {
            let is_input = matches!(self.aim.place, Place::Input { .. });
            if is_input && self.exchanges().last().is_some_and(is_lost) {
                return false;
            }
            return at_least_half(self.exchanges(), |one| {
                is_reply(one) && !is_outage(&one.outcome) && !is_internal(&one.outcome)
                    || is_refused_by_target(&one.outcome)
            });
        };
        // A ping says nothing about the tool.
        let calls = || self.exchanges().filter(|one| one.is_none_or(|one| one.method != "ping"));
        if calls().last().is_some_and(is_lost) {
            return false;
        }
        if self.view.lacks_tool(server, tool) {
            // A harmless call of a tool that the server does not list is refused, so a refusal is an answer.
            return at_least_half(calls(), |one| {
                is_reply(one) && !is_outage(&one.outcome) && !is_internal(&one.outcome)
                    || is_refused_by_target(&one.outcome)
            });
        }
        let learned = self.view.knowledge.baseline(server, tool);
        let harmless = self.baseline().or(learned.map(|baseline| &baseline.exchange));
        if harmless.is_some_and(is_reply) {
            return at_least_half(calls(), |one| {
                is_reply(one) && !is_outage(&one.outcome) || is_refused_by_target(&one.outcome)
            });
        }
        let mut errors = HashSet::new();
        calls().flatten().any(|one| {
            let said = one.outcome.said();
            let shows = is_reply(one)
                && !is_outage(&one.outcome)
                && !is_internal(&one.outcome)
                && !is_unreachable(&said);
            match &one.outcome {
                Outcome::Reply(_) | Outcome::ToolError(_) => shows,
                Outcome::RpcError { .. } => shows && errors.insert(said) && errors.len() > 1,
                _ => false,
            }
        })
    }

    /// The exchanges of all attempts; none for an attempt that could not be sent at all.
    fn exchanges(&self) -> impl Iterator<Item = Option<&Exchange>> {
        self.tried.iter().flat_map(|tried| {
            let exchanges = &tried.evidence.exchanges;
            let not_sent = exchanges.is_empty().then_some(None);
            not_sent.into_iter().chain(exchanges.iter().map(Some))
        })
    }
}

/// Whether some exchanges are answers, and not fewer than the others.
fn at_least_half<'e>(
    exchanges: impl Iterator<Item = Option<&'e Exchange>>,
    is_answer: impl Fn(&Exchange) -> bool,
) -> bool {
    let (answers, others): (Vec<_>, Vec<_>) =
        exchanges.partition(|one| one.is_some_and(&is_answer));
    !answers.is_empty() && answers.len() >= others.len()
}

/// Whether there is no connection any more, so that nothing after it could be answered.
fn is_lost(exchange: Option<&Exchange>) -> bool {
    let Some(exchange) = exchange else { return true };
    match &exchange.outcome {
        Outcome::Closed { .. } => true,
        Outcome::Refused { why } => is_unreachable(why),
        _ => false,
    }
}

/// Whether a server sent a valid response. The result of a method is an object.
fn is_reply(exchange: &Exchange) -> bool {
    match &exchange.outcome {
        Outcome::Reply(result) | Outcome::ToolError(result) => result.is_object(),
        Outcome::RpcError { .. } => true,
        _ => false,
    }
}

fn is_internal(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::RpcError { code: INTERNAL_ERROR, .. })
}

/// Whether the target refused a request by an HTTP status, such as 403 for another identity.
fn is_refused_by_target(outcome: &Outcome) -> bool {
    let Outcome::Refused { why } = outcome else { return false };
    let status = why.split_once(" answered ").map(|(_, status)| status);
    status.is_some_and(|status| {
        status.starts_with('4') && !NOT_WORKING.iter().any(|code| status.starts_with(code))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use quintain_evidence::evidence::Evidence;
    use quintain_evidence::probe::Step;
    use quintain_evidence::tool_call::ToolCall;
    use serde_json::{Map, json};

    use super::*;
    use crate::attack::{Action, Attempt, Capabilities, MarkKey, TargetView, Tried};
    use crate::knowledge::{Aim, Baseline, Knowledge};

    fn exchange(outcome: Outcome) -> Exchange {
        Exchange::called("s", "t", json!({}), outcome)
    }

    fn is_answered(baseline: Option<Outcome>, outcomes: Vec<Outcome>) -> bool {
        let call = ToolCall { tool: "t".into(), args: Map::new(), server: None };
        let step = Step::Call(call);
        let mut aim = Aim::at(Place::Tool { server: "s".into(), tool: "t".into() });
        aim.baseline = baseline.map(|outcome| Baseline {
            server: "s".into(),
            step: step.clone(),
            exchange: exchange(outcome),
        });
        let tried = outcomes.into_iter().map(|outcome| Tried {
            attempt: Attempt {
                form: String::new(),
                set: 0,
                role: String::new(),
                action: Action::Steps { steps: vec![step.clone()], identity: 0 },
                nonce: MarkKey::of_seed(1).marks("test").mark(),
                payload: None,
            },
            evidence: Evidence { exchanges: vec![exchange(outcome)], ..Evidence::default() },
        });
        let tried: Vec<Tried> = tried.collect();
        let (knowledge, capabilities) = (Knowledge::default(), Capabilities::default());
        let view = TargetView { surfaces: &[], knowledge: &knowledge, capabilities: &capabilities };
        Trial { view: &view, aim: &aim, tried: &tried }.is_answered()
    }

    #[test]
    fn a_refused_call_of_a_tool_that_is_not_listed_is_an_answer() {
        use quintain_evidence::surface::{Surface, Tool};

        let aim = Aim::at(Place::Tool { server: "s".into(), tool: "hidden".into() });
        let listed = Surface { tools: vec![Tool(json!({"name": "t"}))], ..Surface::default() };
        let partly = Surface { problems: vec!["tools/list: page 2".into()], ..listed.clone() };
        let (knowledge, capabilities) = (Knowledge::default(), Capabilities::default());
        let of = |surface: Surface, outcome: Outcome| {
            let surfaces = [("s".to_owned(), surface)];
            let view = TargetView {
                surfaces: &surfaces,
                knowledge: &knowledge,
                capabilities: &capabilities,
            };
            let attempt = Attempt {
                form: String::new(),
                set: 0,
                role: String::new(),
                action: Action::Steps { steps: Vec::new(), identity: 0 },
                nonce: MarkKey::of_seed(1).marks("test").mark(),
                payload: None,
            };
            let evidence = Evidence { exchanges: vec![exchange(outcome)], ..Evidence::default() };
            let tried = [Tried { attempt, evidence }];
            Trial { view: &view, aim: &aim, tried: &tried }.is_answered()
        };
        assert!(of(listed.clone(), rpc(-32602, "tool not found")));
        assert!(!of(listed.clone(), rpc(-32603, "internal error")));
        assert!(!of(listed, silence()));
        assert!(!of(partly, rpc(-32602, "tool not found")), "it may be on the missing page");
    }

    fn rpc(code: i64, message: &str) -> Outcome {
        Outcome::RpcError { code, message: message.into(), data: None }
    }

    fn tool_error(text: &str) -> Outcome {
        Outcome::ToolError(json!({"isError": true, "content": [{"type": "text", "text": text}]}))
    }

    fn silence() -> Outcome {
        Outcome::TimedOut { after: Duration::from_secs(1) }
    }

    #[test]
    fn a_tool_that_works_answers_with_results_and_errors() {
        let works = || Some(Outcome::says("ok"));
        assert!(is_answered(works(), vec![silence(), Outcome::says("no")]));
        assert!(is_answered(works(), vec![tool_error("invalid host")]));
        assert!(is_answered(works(), vec![rpc(-32602, "invalid params")]));
        let refused = "http://127.0.0.1/mcp answered 403 Forbidden".to_owned();
        assert!(is_answered(works(), vec![Outcome::Refused { why: refused }]));
    }

    #[test]
    fn what_no_working_tool_says_is_no_answer() {
        let works = || Some(Outcome::says("ok"));
        assert!(!is_answered(works(), vec![]));
        assert!(!is_answered(works(), vec![silence(), silence()]));
        let dies = vec![Outcome::says("no"), silence(), silence()];
        assert!(!is_answered(works(), dies), "the target died soon");
        let closed = Outcome::Closed { why: "the process exited".into() };
        assert!(!is_answered(works(), vec![closed.clone()]));
        let ends = vec![Outcome::says("no"), Outcome::says("no"), Outcome::says("no"), closed];
        assert!(!is_answered(works(), ends), "the target is gone at the end");
        assert!(!is_answered(works(), vec![Outcome::Refused { why: "not allowed".into() }]));
        assert!(!is_answered(works(), vec![rpc(-32000, "Rate limit exceeded")]));
        assert!(!is_answered(works(), vec![tool_error("503 backend unavailable")]));
        assert!(!is_answered(works(), vec![Outcome::Reply(json!("x"))]));
    }

    #[test]
    fn errors_of_a_tool_that_never_worked_count_only_if_they_depend_on_the_request() {
        let same = || rpc(-32000, "not ready");
        assert!(!is_answered(None, vec![same(), same()]));
        assert!(is_answered(None, vec![rpc(-32602, "no host a"), rpc(-32602, "no host b")]));
        assert!(is_answered(None, vec![tool_error("invalid branch")]), "a tool that refuses works");
        assert!(is_answered(None, vec![same(), Outcome::says("ok")]));
        let internal = || rpc(-32603, "internal error, database down");
        assert!(!is_answered(None, vec![internal(), rpc(-32603, "other")]));
        assert!(!is_answered(Some(Outcome::Reply(json!("x"))), vec![internal(), internal()]));
    }
}
