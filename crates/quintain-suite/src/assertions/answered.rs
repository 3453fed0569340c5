//! The server responds, with a result or an error.

use quintain_content::registry::Meta;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::verdict::Verdict;

use crate::check::{Builtin, Check, Scene};
use crate::views;

pub(super) static IS_ANSWERED: Builtin = Builtin {
    meta: &Meta {
        id: "is-answered",
        aliases: &[],
        summary: "The server responds, with a result or with an error",
        docs: r"# What it does
Passes on every response that the protocol defines: a result, a tool result with `isError: true`, a
JSON-RPC error. Fails if the connection broke, the time limit was reached, or the response was unreadable.

Combine it with `no-pii` or `no-secrets` where an error is an acceptable response.

# What counts as proof
The response, or the reason why there is none.

# Example
```yaml
- type: is-answered
- type: no-secrets
```
",
        since: "0.1.0",
    },
    compile: |spec| Some(Box::new(IsAnswered { negated: spec.negated })),
};

struct IsAnswered {
    negated: bool,
}

impl Check for IsAnswered {
    fn next(&self, scene: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done(self.judge(scene))
    }

    fn wants_errors(&self) -> bool {
        true
    }
}

impl IsAnswered {
    fn judge(&self, scene: &Scene<'_>) -> Verdict {
        match views::last(scene) {
            Ok((index, exchange)) => match exchange.outcome.failure() {
                Some(why) => {
                    let reason = format!("the server did not respond: {why}");
                    Verdict::of(self.negated, reason).proof(index, "")
                }
                None => Verdict::of(!self.negated, "the server responded").proof(index, ""),
            },
            Err(verdict) => *verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Outcome;
    use quintain_evidence::response::Response;
    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use crate::testing::TestScene;

    #[test]
    fn errors_are_answers_and_silence_is_none() {
        let judged = |outcome: Outcome, yaml: &str| {
            TestScene::called("t", json!({}), outcome).judge(yaml).passed()
        };
        let closed = || Outcome::Closed { why: "it ended".into() };
        let error = || Outcome::RpcError { code: 1, message: "no".into(), data: None };
        assert!(judged(error(), "[{type: is-answered}]"));
        assert!(judged(Outcome::ToolError(json!({})), "[{type: is-answered}]"));
        assert!(!judged(closed(), "[{type: is-answered}]"));
        assert!(judged(closed(), "[{type: not-is-answered}]"));
        let unsent = TestScene { response: Response::failed("no JSON"), ..TestScene::default() };
        assert_eq!(unsent.judge("[{type: not-is-answered}]").status, Status::Error);
    }
}
