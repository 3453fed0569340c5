//! A trace as one question and its answer, with what deepeval's test cases add to it.

use quintain_evidence::trace::Role;
use serde_json::Value;

use super::scorer::{Judging, Stop};
use crate::metrics::MetricInput;
use crate::tasks::tasks;
use crate::view::View;

/// The last request of a trace with the answer to it. In a trace of one turn that is the whole trace.
pub(in crate::metrics) struct Case<'t> {
    view: &'t View<'t>,
    request: String,
    answer: Option<&'t str>,
}

impl<'t> Case<'t> {
    pub(in crate::metrics) fn of(input: &MetricInput<'t>) -> Self {
        let view = input.view;
        let (requests, answer) = if let Some(task) = tasks(view).pop() {
            (task.requests, task.answer)
        } else {
            let users = view.trace.messages().filter(|message| message.role == Role::User);
            (users.map(|message| message.text.as_str()).collect(), None)
        };
        Self { view, request: requests.join("\n"), answer }
    }

    pub(in crate::metrics) fn request(&self) -> Judging<&str> {
        if self.request.trim().is_empty() {
            return Err(Stop::undefined("the trace records no request"));
        }
        Ok(&self.request)
    }

    pub(in crate::metrics) fn answer(&self) -> Judging<&'t str> {
        self.answer.ok_or_else(|| Stop::undefined("the trace records no answer"))
    }

    pub(in crate::metrics) fn expected(&self) -> Judging<&'t str> {
        let expected = self.view.trace.expected.output.as_deref();
        let expected = expected.filter(|text| !text.trim().is_empty());
        expected.ok_or_else(|| Stop::undefined("the case has no expected output"))
    }

    /// `context` of the case, else what calls returned.
    pub(in crate::metrics) fn context(&self) -> Judging<Vec<String>> {
        self.texts(&["context"], "the case has no context, and no call returned text")
    }

    /// `retrieval_context` of the case, else what calls returned.
    pub(in crate::metrics) fn retrieval_context(&self) -> Judging<Vec<String>> {
        let missing = "the case has no retrieval context, and no call returned text";
        self.texts(&["retrieval_context", "retrievalContext"], missing)
    }

    fn texts(&self, names: &[&str], missing: &str) -> Judging<Vec<String>> {
        let found = if let Some(value) = labelled(self.view, names) {
            texts(value)
        } else {
            let calls = self.view.calls.iter().filter(|call| call.succeeded());
            let results = calls.map(|call| call.text().to_owned());
            results.filter(|text| !text.trim().is_empty()).collect()
        };
        if found.is_empty() { Err(Stop::undefined(missing)) } else { Ok(found) }
    }
}

/// What a case contains in addition to its conversation, in any spelling of its name.
pub(in crate::metrics) fn label<'t>(input: &MetricInput<'t>, names: &[&str]) -> Option<&'t Value> {
    labelled(input.view, names)
}

fn labelled<'t>(view: &View<'t>, names: &[&str]) -> Option<&'t Value> {
    let labels = &view.trace.labels;
    names.iter().find_map(|name| labels.get(*name)).filter(|value| !value.is_null())
}

/// Texts of a list or alone. Objects stand for their `context`, grouped by `source` in the order of first mention.
fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let mut texts: Vec<(Option<&str>, String)> = Vec::new();
    for item in items {
        let text = item.get("context").unwrap_or(item);
        let text = text.as_str().map_or_else(|| text.to_string(), ToOwned::to_owned);
        let source = item.get("source").and_then(Value::as_str);
        let earlier = texts.iter_mut().find(|(known, _)| source.is_some() && *known == source);
        match (earlier, source) {
            (Some((_, earlier)), _) => {
                earlier.push_str("\n---\n");
                earlier.push_str(&text);
            }
            (None, Some(name)) => texts.push((source, format!("Source: {name}\n{text}"))),
            (None, None) => texts.push((None, text)),
        }
    }
    texts.into_iter().map(|(_, text)| text).filter(|text| !text.trim().is_empty()).collect()
}

/// Items as a numbered list that their own text cannot continue: each is a line of JSON.
pub(in crate::metrics) fn numbered(items: &[String]) -> String {
    let lines = items
        .iter()
        .enumerate()
        .map(|(index, item)| format!("{}. {}", index + 1, Value::from(item.as_str())));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn contexts_are_texts_objects_or_one_text() {
        assert_eq!(texts(&json!("a")), ["a"]);
        assert_eq!(texts(&json!(["a", " ", {"context": "b"}])), ["a", "b"]);
        let sources =
            json!([{"context": "a", "source": "x"}, "b", {"context": "c", "source": "x"}]);
        assert_eq!(texts(&sources), ["Source: x\na\n---\nc", "b"]);
        assert_eq!(numbered(&["a\n2. b".to_owned()]), r#"1. "a\n2. b""#);
    }
}
