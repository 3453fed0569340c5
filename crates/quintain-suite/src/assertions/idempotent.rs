//! Repeated calls return the same result.

use quintain_content::registry::Meta;
use quintain_content::text_diff;
use quintain_evidence::evidence::Outcome;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::probe::Step;
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::verdict::Verdict;
use quintain_source::wrong_type;
use serde_json::{Value, json};

use crate::check::{Builtin, Check, Scene, Spec};
use crate::masks::Masks;
use crate::snapshot;
use crate::views;

pub(super) static IDEMPOTENT: Builtin = Builtin {
    meta: &Meta {
        id: "idempotent",
        aliases: &[],
        summary: "Repeated calls return the same result",
        docs: r"# What it does
Makes the last call of the test `times` times in total (default 2, at most 10) and compares the results as
the server sent them, without `_meta`. Stops at the first result that differs. Mask values that differ
every time, as in `snapshot`: `mask` is a list of JSONPaths and of regular expressions after `regex:`,
`volatile` a list of `timestamp`, `date`, `epoch`, `uuid`, `hash`, `address`, `ip`, `duration`, or `all`.

# Why it matters
Clients and models repeat a call if they lose its response. A tool with `idempotentHint` promises that
this does no harm.

# What counts as proof
The first result and the one that differs, with the differing lines.

# Example
```yaml
- type: idempotent
  times: 3
  mask: [$.requested_at, 'regex:req_[0-9a-z]+']
  volatile: [uuid]
```
",
        since: "0.1.0",
    },
    compile,
};

const MAX_TIMES: u64 = 10;

struct Idempotent {
    /// Number of calls after the first.
    again: usize,
    masks: Masks,
    negated: bool,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let mut again = 1;
    if let Some(node) = spec.fields.get("times") {
        match node.as_u64().filter(|times| (2..=MAX_TIMES).contains(times)) {
            Some(times) => again = usize::try_from(times - 1).unwrap_or(1),
            None => wrong_type("times", "a number from 2 to 10", node, spec.dx),
        }
    }
    let masks = Masks::read(spec);
    Some(Box::new(Idempotent { again, masks, negated: spec.negated }))
}

impl Check for Idempotent {
    /// Asks for one call per round, so that it can stop at the first difference.
    fn next(&self, scene: &Scene<'_>, rounds: &Rounds) -> Next<Verdict> {
        match self.compare(scene, rounds) {
            Err(verdict) => Next::Done(*verdict),
            Ok(step) if rounds.len() < self.again => {
                Next::Ask(vec![Question::Call { step, nth: rounds.len() }])
            }
            Ok(_) => {
                let reason = format!("{} calls returned the same result", self.again + 1);
                let verdict = Verdict::of(!self.negated, reason);
                Next::Done(match views::last(scene) {
                    Ok((index, _)) => verdict.proof(index, ""),
                    Err(_) => verdict,
                })
            }
        }
    }

    fn asks(&self) -> bool {
        true
    }
}

impl Idempotent {
    /// The call to repeat, if all responses so far equal the first.
    fn compare(&self, scene: &Scene<'_>, rounds: &Rounds) -> Result<Step, Box<Verdict>> {
        let (index, first) = views::last(scene)?;
        let Some(expected) = self.text(&first.outcome) else {
            let why = first.outcome.failure().unwrap_or_default();
            let verdict = Verdict::fail(format!("the server did not respond: {why}"));
            return Err(Box::new(verdict.proof(index, "")));
        };
        let step = first.step();
        let error = |why: &str| Err(Box::new(Verdict::error(why)));
        if rounds.answers().count() < rounds.len() {
            return error("the call was not repeated");
        }
        for (nth, answer) in rounds.answers().enumerate() {
            let exchange = match answer {
                Answer::Exchange(exchange) => exchange,
                Answer::Failed(why) | Answer::Unavailable(why) => return error(why),
                Answer::Value(_) | Answer::Reply(_) => return error("the call was not repeated"),
            };
            let place = scene.evidence.index_of_step(&step, nth);
            let prove = |verdict: Verdict| match place {
                Some(place) => verdict.proof(index, "").proof(place, ""),
                None => verdict.proof(index, ""),
            };
            let count = nth + 2;
            let Some(found) = self.text(&exchange.outcome) else {
                let why = exchange.outcome.failure().unwrap_or_default();
                let reason = format!("no response to call {count} of {}: {why}", self.again + 1);
                return Err(Box::new(prove(Verdict::fail(reason))));
            };
            if found != expected {
                let diff = text_diff::lines(&expected, &found);
                let reason =
                    format!("call {count} returned a different result than the first:\n{diff}");
                return Err(Box::new(prove(Verdict::of(self.negated, reason))));
            }
        }
        Ok(step)
    }

    /// A response in the form that is compared; none if there is no response.
    fn text(&self, outcome: &Outcome) -> Option<String> {
        let value = match outcome {
            Outcome::Reply(result) | Outcome::ToolError(result) => {
                let mut result = result.clone();
                if let Value::Object(map) = &mut result {
                    map.shift_remove("_meta");
                }
                result
            }
            Outcome::RpcError { code, message, data } => {
                json!({"error": {"code": code, "message": message, "data": data}})
            }
            _ => return None,
        };
        Some(snapshot::text(&value, &self.masks))
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Extra;
    use quintain_evidence::tool_call::ToolCall;
    use quintain_evidence::verdict::Status;

    use super::*;
    use crate::suite::NoFiles;
    use crate::testing::{TestScene, compile as compiled, compile_with, exchange, only_check};

    fn reply(text: &str) -> Outcome {
        Outcome::Reply(json!({"content": [{"type": "text", "text": text}], "_meta": {"t": text}}))
    }

    fn judged(options: &str, outcomes: &[&str]) -> Verdict {
        let mut stage = TestScene::called("t", json!({"a": 1}), reply(outcomes[0]));
        let step = stage.evidence.exchanges[0].step();
        let mut answers = Vec::new();
        for text in &outcomes[1..] {
            let exchange = exchange("t", json!({"a": 1}), reply(text));
            stage.evidence.extra.push(Extra { step: step.clone(), exchange: exchange.clone() });
            answers.push(Answer::Exchange(Box::new(exchange)));
        }
        stage.judge_with(&format!("[{{type: {options}}}]"), &answers)
    }

    #[test]
    fn the_same_call_is_made_again() {
        let asserts = compiled("[{type: idempotent, times: 3}]");
        let stage = TestScene::called("t", json!({"a": 1}), reply("x"));
        let check = only_check(&asserts);
        let Value::Object(args) = json!({"a": 1}) else { panic!() };
        let call = ToolCall { tool: "t".to_owned(), args, server: Some("s".to_owned()) };
        let call = |nth| vec![Question::Call { step: Step::Call(call.clone()), nth }];
        let answer =
            |text: &str| Answer::Exchange(Box::new(exchange("t", json!({"a": 1}), reply(text))));
        stage.with(|scene| {
            let mut rounds = Rounds::default();
            assert_eq!(check.next(scene, &rounds), Next::Ask(call(0)));
            rounds.push(call(0), vec![answer("x")]);
            assert_eq!(check.next(scene, &rounds), Next::Ask(call(1)), "another round");
            let mut same = rounds.clone();
            same.push(call(1), vec![answer("x")]);
            assert!(matches!(check.next(scene, &same), Next::Done(verdict) if verdict.passed()));
            let mut differs = Rounds::default();
            differs.push(call(0), vec![answer("y")]);
            let next = check.next(scene, &differs);
            assert!(matches!(next, Next::Done(verdict) if !verdict.passed()), "one is enough");
        });
    }

    #[test]
    fn results_are_compared_under_the_mask() {
        assert!(judged("idempotent", &["{\"n\": 1}", "{\"n\": 1}"]).passed());
        let verdict = judged("idempotent", &["{\"n\": 1}", "{\"n\": 2}"]);
        assert!(!verdict.passed());
        assert!(verdict.reason.contains("-           \"n\": 1"), "{}", verdict.reason);
        let places: Vec<usize> = verdict.proofs.iter().map(|proof| proof.exchange).collect();
        assert_eq!(places, [0, 1]);
        assert!(judged("idempotent, mask: $.n", &["{\"n\": 1}", "{\"n\": 2}"]).passed());
        assert!(judged("idempotent, mask: 'regex:[0-9]+'", &["at 1", "at 22"]).passed());
        assert!(judged("idempotent, volatile: date", &["2024-05-06", "2024-05-07"]).passed());
        let third = judged("idempotent, times: 3", &["a", "a", "b"]);
        assert!(third.reason.starts_with("call 3 returned a different result"), "{}", third.reason);
        assert_eq!(third.proofs[1].exchange, 2);
    }

    #[test]
    fn the_opposite_needs_a_difference() {
        assert!(judged("not-idempotent", &["a", "b"]).passed());
        assert!(!judged("not-idempotent", &["a", "a"]).passed());
        let unasked = judged("not-idempotent", &["a"]);
        assert_eq!(unasked.status, Status::Error);
        let stage = TestScene::called("t", json!({}), reply("x"));
        let closed = Outcome::Closed { why: "it ended".to_owned() };
        let answer = Answer::Exchange(Box::new(exchange("t", json!({}), closed)));
        let verdict = stage.judge_with("[{type: not-idempotent}]", &[answer]);
        assert_eq!(verdict.reason, "no response to call 2 of 2: it ended");
        assert!(!verdict.passed());
    }

    #[test]
    fn mistakes_are_reported() {
        for (options, part) in [
            ("times: 1", "a number from 2 to 10"),
            ("mask: '$['", "invalid JSONPath"),
            ("mask: 'regex:('", "invalid regular expression"),
            ("volatile: uid", "did you mean `uuid`?"),
        ] {
            let yaml = format!("[{{type: idempotent, {options}}}]");
            let (_, complaints) = compile_with(&yaml, &NoFiles);
            assert!(complaints.contains(part), "{options}: {complaints}");
        }
    }
}
