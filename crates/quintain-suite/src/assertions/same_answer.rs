//! Two calls get the same response.

use quintain_content::registry::Meta;
use quintain_content::text_diff;
use quintain_evidence::echo;
use quintain_evidence::evidence::Exchange;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::probe::{self, PlannedStep, Step};
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::verdict::Verdict;
use quintain_source::wrong_type;

use crate::check::{Builtin, Check, Scene, Spec};
use crate::views;

pub(super) static SAME_ANSWER: Builtin = Builtin {
    meta: &Meta {
        id: "same-answer",
        aliases: &[],
        summary: "Another call gets the same response",
        docs: r"# What it does
Makes the call in `as` after the last call of the test and compares both responses, results as well as
errors: in lower case, without the texts that the calls sent. The call is written like a prompt: `tool` and
`args`, or `method` and `params`.

`not-same-answer` passes only if the responses differ.

# Why it matters
A search for `x' OR 'a'<'b` and one for `x' OR 'b'<'a` return the same, unless the text becomes part of a
query.

# What counts as proof
Both responses, with the lines that differ.

# Example
```yaml
- type: same-answer
  as: {tool: find_user, args: {name: nobody}}
```
",
        since: "0.1.0",
    },
    compile,
};

struct SameAnswer {
    other: PlannedStep,
    negated: bool,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let node = spec.fields.required("as", spec.dx)?;
    let steps = probe::steps(&node.to_json()).unwrap_or_default();
    let Ok([other]) = <[PlannedStep; 1]>::try_from(steps) else {
        wrong_type("as", "a call: `tool` and `args`, or `method` and `params`", node, spec.dx);
        return None;
    };
    Some(Box::new(SameAnswer { other, negated: spec.negated }))
}

impl SameAnswer {
    /// The other call, with the variables of the case, to the server of the first call.
    fn step(&self, scene: &Scene<'_>, first: &Exchange) -> Result<Step, String> {
        let mut step = crate::step_templates::fill(&self.other, scene.vars, scene.templates)
            .map_err(|error| error.to_string())?;
        let (Step::Call(quintain_evidence::tool_call::ToolCall { server, .. })
        | Step::Request { server, .. }) = &mut step;
        if server.is_none() && !first.server.is_empty() {
            *server = Some(first.server.clone());
        }
        Ok(step)
    }
}

impl Check for SameAnswer {
    fn next(&self, scene: &Scene<'_>, rounds: &Rounds) -> Next<Verdict> {
        rounds.once(|| self.questions(scene), |answers| self.judge(scene, answers))
    }

    fn asks(&self) -> bool {
        true
    }

    fn wants_errors(&self) -> bool {
        true
    }
}

impl SameAnswer {
    fn questions(&self, scene: &Scene<'_>) -> Vec<Question> {
        let Ok((_, first)) = views::last(scene) else { return Vec::new() };
        self.step(scene, first).map(Question::call).into_iter().collect()
    }

    fn judge(&self, scene: &Scene<'_>, answers: &[Answer]) -> Verdict {
        let (index, first) = match views::last(scene) {
            Ok(last) => last,
            Err(verdict) => return *verdict,
        };
        let step = match self.step(scene, first) {
            Ok(step) => step,
            Err(why) => return Verdict::error(why),
        };
        let second = match answers.first() {
            Some(Answer::Exchange(exchange)) => exchange,
            Some(Answer::Failed(why) | Answer::Unavailable(why)) => return Verdict::error(why),
            Some(Answer::Value(_) | Answer::Reply(_)) | None => {
                return Verdict::error("the other call was not made");
            }
        };
        let prove = |verdict: Verdict| match scene.evidence.index_of_step(&step, 0) {
            Some(place) => verdict.proof(index, "").proof(place, ""),
            None => verdict.proof(index, ""),
        };
        for exchange in [first, second] {
            if let Some(why) = exchange.outcome.failure() {
                return prove(Verdict::fail(format!("the server did not respond: {why}")));
            }
        }
        if !echo::differ(first, second) {
            return prove(Verdict::of(!self.negated, "both calls get the same response"));
        }
        let words = |exchange| echo::own_words(exchange).unwrap_or_default();
        let diff = text_diff::lines(&words(first), &words(second));
        let reason = format!("the other call gets a different response:\n{diff}");
        prove(Verdict::of(self.negated, reason))
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Outcome;
    use quintain_evidence::verdict::Status;
    use serde_json::{Value, json};

    use super::*;
    use crate::suite::NoFiles;
    use crate::testing::{
        TestScene, compile as compiled, compile_with, exchange, first_questions, only_check,
    };

    const YAML: &str = "[{type: same-answer, as: {tool: find, args: {q: '{{b}}'}}}]";

    fn reply(text: &str) -> Outcome {
        Outcome::Reply(json!({"content": [{"type": "text", "text": text}]}))
    }

    fn judged(yaml: &str, first: &str, second: Outcome) -> Verdict {
        let mut stage = TestScene::called("find", json!({"q": "one"}), reply(first));
        stage.vars.insert("b".into(), "two".into());
        let answer = Answer::Exchange(Box::new(exchange("find", json!({"q": "two"}), second)));
        stage.judge_with(yaml, &[answer])
    }

    #[test]
    fn the_other_call_is_made_of_the_same_server() {
        let mut stage = TestScene::called("find", json!({"q": "one"}), reply("x"));
        stage.vars.insert("b".into(), "two".into());
        let asserts = compiled(YAML);
        let asked = stage.with(|scene| first_questions(only_check(&asserts), scene));
        let [Question::Call { step: Step::Call(call), nth: 0 }] = &asked[..] else {
            panic!("{asked:?}")
        };
        assert_eq!((call.server.as_deref(), &call.args["q"]), (Some("s"), &Value::from("two")));
    }

    #[test]
    fn repetitions_make_no_difference() {
        assert!(judged(YAML, "nothing like one", reply("nothing like two")).passed());
        let other = judged(YAML, "ann", reply("nobody"));
        assert!(other.reason.starts_with("the other call gets a different response:"));
        assert_eq!(other.status, Status::Fail);
        let not = YAML.replace("same", "not-same");
        assert!(judged(&not, "ann", reply("nobody")).passed());
        assert!(!judged(&not, "one", reply("two")).passed());
    }

    #[test]
    fn silence_is_neither() {
        let closed = || Outcome::Closed { why: "it ended".into() };
        assert!(!judged(YAML, "x", closed()).passed());
        assert!(!judged(&YAML.replace("same", "not-same"), "x", closed()).passed());
    }

    #[test]
    fn mistakes_are_reported() {
        for (options, part) in
            [("a: 1", "missing key `as`"), ("as: 5", "a call"), ("as: {}", "a call")]
        {
            let (_, complaints) =
                compile_with(&format!("[{{type: same-answer, {options}}}]"), &NoFiles);
            assert!(complaints.contains(part), "{options}: {complaints}");
        }
    }
}
