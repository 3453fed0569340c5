//! A web service judges the output.

use quintain_content::registry::Meta;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::verdict::Verdict;
use serde_json::{Value, json};

use crate::check::{Builtin, Check, Expected, Scene};

pub(super) static WEBHOOK: Builtin = Builtin {
    meta: &Meta {
        id: "webhook",
        aliases: &[],
        summary: "A web service accepts the output",
        docs: r#"# What it does
Sends `{"output": ..., "context": {"prompt": ..., "vars": {...}}}` to the URL in `value` (POST) and expects
`{"pass": true}` or `{"pass": false}`, optionally with `score` and `reason`.

# Example
```yaml
- type: webhook
  value: https://judge.example/check
```
"#,
        since: "0.1.0",
    },
    compile: |spec| {
        let url = spec.expect(|value| match value {
            Some(Value::String(url)) if !url.is_empty() => Ok(url.clone()),
            _ => Err("\"webhook\" assertion type must have a URL value".to_owned()),
        });
        Some(Box::new(Webhook { url, negated: spec.negated }))
    },
};

struct Webhook {
    url: Expected<String>,
    negated: bool,
}

impl Check for Webhook {
    fn next(&self, scene: &Scene<'_>, rounds: &Rounds) -> Next<Verdict> {
        rounds.once(|| self.questions(scene), |answers| self.judge(scene, answers))
    }

    fn asks(&self) -> bool {
        true
    }
}

impl Webhook {
    fn questions(&self, scene: &Scene<'_>) -> Vec<Question> {
        let Ok(url) = self.url.get(scene) else { return Vec::new() };
        let context = json!({"prompt": scene.prompt, "vars": scene.vars});
        let body = json!({"output": scene.output, "context": context});
        vec![Question::Post { url: url.into_owned(), body }]
    }

    fn judge(&self, scene: &Scene<'_>, answers: &[Answer]) -> Verdict {
        if let Err(verdict) = self.url.get(scene) {
            return *verdict;
        }
        let failed = |why: &str| Verdict::fail(format!("Webhook error: {why}"));
        match answers.first() {
            Some(Answer::Value(said)) => match said.get("pass").and_then(Value::as_bool) {
                Some(pass) => self.verdict(said, pass),
                None => failed(
                    "Invariant failed: Webhook response must be a JSON object with a boolean \
                     \"pass\" property",
                ),
            },
            Some(Answer::Failed(why)) => failed(why),
            Some(Answer::Unavailable(why)) => Verdict::error(why),
            Some(Answer::Exchange(_) | Answer::Reply(_)) | None => {
                Verdict::error("the web service was not called")
            }
        }
    }
}

impl Webhook {
    fn verdict(&self, said: &Value, raw: bool) -> Verdict {
        let pass = raw != self.negated;
        let score = match said.get("score").and_then(Value::as_f64) {
            Some(score) if self.negated => 1.0 - score,
            Some(score) => score,
            None => f64::from(u8::from(pass)),
        };
        let reason = said.get("reason").and_then(Value::as_str).filter(|why| !why.is_empty());
        let reason = match reason {
            Some(reason) => reason.to_owned(),
            None if pass => "Assertion passed".to_owned(),
            None => format!("Webhook returned {}", self.negated),
        };
        Verdict::new(pass, score, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestScene, compile, first_questions, flaw, only_check};

    fn judged(kind: &str, answer: Answer) -> Verdict {
        TestScene::output("x")
            .judge_with(&format!("[{{type: {kind}, value: 'http://h'}}]"), &[answer])
    }

    #[test]
    fn the_service_gets_output_and_context() {
        let asserts = compile("[{type: webhook, value: 'http://h/{{path}}'}]");
        let mut stage = TestScene::output("x");
        stage.vars.insert("path".to_owned(), json!("p"));
        stage.prompt = "say x".to_owned();
        let asked = stage.with(|scene| first_questions(only_check(&asserts), scene));
        let body = json!({"output": "x", "context": {"prompt": "say x", "vars": {"path": "p"}}});
        assert_eq!(asked, [Question::Post { url: "http://h/p".to_owned(), body }]);
    }

    #[test]
    fn its_answer_is_the_verdict() {
        let verdict = judged("webhook", Answer::Value(json!({"pass": true, "score": 0.5})));
        assert_eq!((verdict.passed(), verdict.score), (true, 0.5));
        let verdict = judged("webhook", Answer::Value(json!({"pass": false})));
        assert_eq!(verdict.reason, "Webhook returned false");
        let verdict = judged("not-webhook", Answer::Value(json!({"pass": false, "score": 0.2})));
        assert_eq!((verdict.passed(), verdict.score), (true, 0.8));
        let verdict = judged("webhook", Answer::Value(json!({"pass": "yes"})));
        assert!(verdict.reason.starts_with("Webhook error: Invariant failed"));
        let verdict = judged("webhook", Answer::Failed("Webhook response status: 500".to_owned()));
        assert_eq!(verdict.reason, "Webhook error: Webhook response status: 500");
    }

    #[test]
    fn an_address_is_needed() {
        assert!(flaw("[{type: webhook}]", "x").contains("must have a URL value"));
    }
}
