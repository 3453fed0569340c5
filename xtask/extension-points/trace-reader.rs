//! Pairs of a question and an answer, as tables of test data have them.

use quintain_content::registry::Meta;
use quintain_evidence::trace::{Role, Trace};
use serde_json::Value;

use super::{JsonRecord, Parser, Reader, Sample, Traces};

pub(super) struct QuestionAnswer;

static META: Meta = Meta {
    id: "question-answer",
    aliases: &["qa"],
    summary: "objects with `question` and `answer`",
    docs: "\
# What it does
Reads a list of objects or one per line. `question` is what the user says, `answer` what the application says.

# Example
```json
{\"question\": \"Weather in Oslo?\", \"answer\": \"It rains.\"}
```
",
    since: "0.2.0",
};

impl Reader for QuestionAnswer {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn recognises(&self, sample: &Sample) -> u8 {
        let has = |record: &Value, key: &str| record.get(key).is_some_and(Value::is_string);
        sample.best(|record| if has(record, "question") && has(record, "answer") { 60 } else { 0 })
    }

    fn open(&self) -> Box<dyn Parser> {
        Box::new(PairParser)
    }
}

struct PairParser;

impl Parser for PairParser {
    fn record(&mut self, record: JsonRecord<'_>, traces: &mut Traces) -> Result<(), String> {
        let pair = record.value()?;
        let mut trace = Trace::default();
        for (key, role) in [("question", Role::User), ("answer", Role::Assistant)] {
            let text = pair.get(key).and_then(Value::as_str);
            trace.say(role, text.ok_or_else(|| format!("expected a text for `{key}`"))?);
        }
        traces.push((record.at, Ok(trace)));
        Ok(())
    }
}
