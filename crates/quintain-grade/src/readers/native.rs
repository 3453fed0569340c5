//! Quintain's own traces, one per line.

use quintain_content::registry::Meta;
use quintain_evidence::trace::Trace;
use serde_json::Value;

use super::{JsonRecord, Parser, Reader, Sample, Traces};

pub(super) struct Native;

static META: Meta = Meta {
    id: "native",
    aliases: &["quintain"],
    summary: "traces as Quintain writes them, one per line",
    docs: "\
# What it does
Reads what `grade --save-traces` writes: steps in their order, servers with their lists over time, and
what the author of the case expects.

# Example
```json
{\"id\": \"1\", \"steps\": [{\"message\": {\"role\": \"user\", \"text\": \"Hi\"}},
  {\"call\": {\"kind\": \"tool\", \"name\": \"greet\", \"args\": {\"json\": {}}, \"outcome\": {\"result\": \"Hello\"}}}]}
```
",
    since: "0.2.0",
};

impl Reader for Native {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn recognises(&self, sample: &Sample) -> u8 {
        sample.best(|record| {
            let steps = record.get("steps").and_then(Value::as_array);
            let is_step =
                |step: &Value| step.get("message").is_some() || step.get("call").is_some();
            steps.map_or(0, |steps| if steps.first().is_none_or(is_step) { 100 } else { 0 })
        })
    }

    fn open(&self) -> Box<dyn Parser> {
        Box::new(NativeParser)
    }
}

struct NativeParser;

impl Parser for NativeParser {
    fn record(&mut self, record: JsonRecord<'_>, traces: &mut Traces) -> Result<(), String> {
        let trace: Trace = record.parse()?;
        traces.push((record.at, Ok(trace)));
        Ok(())
    }
}
