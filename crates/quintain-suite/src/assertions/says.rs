//! The response contains a text anywhere, in a result or in an error.

use quintain_content::registry::Meta;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::verdict::Verdict;

use super::words::Words;
use crate::check::{Builtin, Check, Expected, Scene};
use crate::views;

pub(super) static SAYS: Builtin = Builtin {
    meta: &Meta {
        id: "says",
        aliases: &[],
        summary: "The response contains a text, in a result or in an error",
        docs: r"# What it does
Searches the whole response for the text `value`, or for a match of the regular expression after `regex:`:
content blocks of every type, structured content, resources, messages, the message and the data of an
error. Case-sensitive; `regex:/no such/i` ignores case.

`not-says` also requires a response, which may be an error: a crash is never a pass.

# Why it matters
`contains` searches only the output of a result. A text that must never be disclosed must not be in an
error either.

# What counts as proof
The response that contains the text.

# Example
```yaml
- type: not-says
  value: root:x:0:0
- type: says
  value: regex:/order \d+/i
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let words = spec.expect(|value| Words::read("says", value));
        Some(Box::new(Says { words, negated: spec.negated }))
    },
};

struct Says {
    words: Expected<Words>,
    negated: bool,
}

impl Check for Says {
    fn next(&self, scene: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done(self.look(scene).unwrap_or_else(|verdict| *verdict))
    }

    fn wants_errors(&self) -> bool {
        true
    }
}

impl Says {
    fn look(&self, scene: &Scene<'_>) -> Result<Verdict, Box<Verdict>> {
        let words = self.words.get(scene)?;
        let (index, exchange) = views::last(scene)?;
        if let Some(why) = exchange.outcome.failure() {
            let reason = format!("the server did not respond: {why}");
            return Ok(Verdict::fail(reason).proof(index, ""));
        }
        let said = words.occur_in(&exchange.outcome.said())?;
        let does = if said { "contains" } else { "does not contain" };
        let reason = format!("the response {does} {}", words.shown());
        Ok(Verdict::of(said != self.negated, reason).proof(index, ""))
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Outcome;
    use serde_json::json;

    use crate::testing::{TestScene, compile, flaw, only_check};

    fn judged(assert: &str, outcome: Outcome) -> bool {
        TestScene::called("t", json!({}), outcome).judge(&format!("[{{type: {assert}}}]")).passed()
    }

    fn outcomes() -> [Outcome; 4] {
        [
            Outcome::Reply(json!({"structuredContent": {"a": ["order 17"]}})),
            Outcome::ToolError(json!({"content": [{"type": "text", "text": "no order 17"}]})),
            Outcome::RpcError { code: 1, message: "x".into(), data: Some(json!("order 17")) },
            Outcome::Reply(json!({"content": [{"type": "text", "text": "Order"}]})),
        ]
    }

    #[test]
    fn every_side_of_an_answer_counts() {
        for (assert, passes) in [
            ("says, value: order 17", [true, true, true, false]),
            ("not-says, value: order 17", [false, false, false, true]),
            ("says, value: 'regex:/ORDER \\d+/i'", [true, true, true, false]),
        ] {
            let seen = outcomes().map(|outcome| judged(assert, outcome));
            assert_eq!(seen, passes, "{assert}");
        }
    }

    #[test]
    fn silence_is_neither() {
        let closed = || Outcome::Closed { why: "it ended".into() };
        assert!(!judged("says, value: ended", closed()));
        assert!(!judged("not-says, value: x", closed()));
    }

    #[test]
    fn it_sees_errors_and_wants_words() {
        assert!(only_check(&compile("[{type: not-says, value: x}]")).wants_errors());
        assert!(flaw("[{type: says}]", "").contains("needs a text"));
    }
}
