//! A classifier assigns the output to a class.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::inquiry::Next;
use quintain_evidence::question::ModelRequest;
use serde_json::Value;

use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use crate::check::{Builtin, Expected, ModelTask, Scene};

const DEFAULT_THRESHOLD: f64 = 1.0;

pub(in super::super) static CLASSIFIER: Builtin = Builtin {
    meta: &Meta {
        id: "classifier",
        aliases: &[],
        summary: "A classifier assigns the output to a class",
        docs: r"# What it does
Asks the classifier in `provider` for the classes of the output. The score is that of the class in `value`,
or of the best class without `value`. Passes if it is at least `threshold` (default 1). `not-` inverts both.

`provider` names the classifier: here, in `options` of the test or of `defaultTest`, as an id such as
`huggingface:text-classification:NAME`, as a map with `id` and `config`, or under `classification` in a map
of tasks. There is no default.

# What counts as proof
The classes and their scores, which are stored. If the classifier cannot answer, the result is an error,
never a pass, even with `not-`.

# Example
```yaml
- type: classifier
  value: neutral
  threshold: 0.7
  provider: huggingface:text-classification:tone
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let class = spec.expect(|value| match value {
            None => Ok(None),
            Some(Value::String(class)) => Ok(Some(class.clone())),
            Some(_) => {
                Err("\"classifier\" assertion type must have a string value or be undefined".into())
            }
        });
        asking(Classifier { judge: Judge::read(spec), class })
    },
};

struct Classifier {
    judge: Judge,
    class: Expected<Option<String>>,
}

impl Graded for Classifier {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn tasks(&self) -> &'static [ModelTask] {
        &[ModelTask::Classification]
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        let class = self.class.get(scene)?;
        if replies.is_empty() {
            let request = ModelRequest::Classify { text: scene.text().into_owned() };
            let task = ModelTask::Classification;
            return Ok(Next::Ask(vec![self.judge.ask(scene.test, task, request)?]));
        }
        let reply = replies.reply(0)?;
        let classes = classes(&reply.output);
        let highest = classes.iter().map(|(_, score)| *score).reduce(f64::max);
        let Some(highest) = highest else {
            return replies.malformed("contains no classes with scores", &reply.text());
        };
        let of = |class: &str| classes.iter().find(|(name, _)| name == class);
        let (score, what) = match &*class {
            None => (highest, "Maximum classification score".to_owned()),
            Some(class) => {
                let score = of(class).map_or(0.0, |(_, score)| *score);
                (score, format!("Classification {class} has score"))
            }
        };
        let least = self.judge.threshold.unwrap_or(DEFAULT_THRESHOLD);
        let pass = Judge::reaches(score, least);
        let sign = if pass { ">=" } else { "<" };
        let (shown, threshold) = (js::to_fixed(score, 2), js::number(least));
        let reason = format!("{what} {shown} {sign} {threshold}");
        Ok(Next::Done(self.judge.scored(pass, score, reason)))
    }
}

/// Classes with their scores: a map, or a list of `{label, score}` or `[label, score]`.
fn classes(output: &Value) -> Vec<(String, f64)> {
    let pair = |name: Option<&Value>, score: Option<&Value>| {
        Some((name?.as_str()?.to_owned(), score?.as_f64()?))
    };
    match output {
        Value::Object(map) => {
            map.iter().filter_map(|(name, score)| Some((name.clone(), score.as_f64()?))).collect()
        }
        Value::Array(items) => {
            let read = |item: &Value| match item {
                Value::Array(both) => pair(both.first(), both.get(1)),
                item => pair(item.get("label"), item.get("score")),
            };
            items.iter().filter_map(read).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn classes_are_read_in_all_forms() {
        let wanted = vec![("a".to_owned(), 0.25), ("b".to_owned(), 0.75)];
        for output in [
            json!({"a": 0.25, "b": 0.75, "c": "x"}),
            json!([{"label": "a", "score": 0.25}, {"label": "b", "score": 0.75}, 5]),
            json!([["a", 0.25], ["b", 0.75], []]),
        ] {
            assert_eq!(classes(&output), wanted);
        }
        assert!(classes(&json!("a")).is_empty());
    }
}
