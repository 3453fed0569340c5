//! `constant`: answers every prompt with the same text.

use quintain_content::registry::Meta;
use quintain_content::schema::build::{keys, scalar};
use quintain_evidence::evidence::Outcome;
use quintain_evidence::response::Response;
use quintain_suite::suite::{ConfigSchema, Entry, TargetKind};
use quintain_suite::target::Settings;
use serde_json::{Value, json};

use super::{Ask, Asked, Sender, Told};
use crate::external_services::ExternalServices;

const META: Meta = Meta {
    id: "constant",
    aliases: &[],
    summary: "Answers every prompt with the same text",
    docs: "\
# What it does
The response is `answer` of `config`, whatever the prompt is. Nothing is started or contacted.

# Example
```yaml
targets:
  - id: constant
    config: {answer: 'I cannot help with that.'}
```
",
    since: "0.1.0",
};

pub(super) struct Constant;

/// What a suite says about one target of this kind.
#[derive(Debug)]
pub(super) struct ConstantTarget {
    answer: String,
}

impl Settings for ConstantTarget {}

impl TargetKind for Constant {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["constant"]
    }

    fn read(&self, entry: &mut Entry<'_>) -> Option<Box<dyn Settings>> {
        let mut fields = entry.fields("`config` of a constant target")?;
        let answer = entry.reader.text(&mut fields, "answer", entry.dx);
        if answer.is_none() {
            fields.missing("answer", entry.dx);
        }
        fields.finish(entry.reader.strictness, entry.dx);
        Some(Box::new(ConstantTarget { answer: answer? }))
    }

    fn schema(&self) -> Option<ConfigSchema> {
        let entries = [("answer", scalar("The text of every answer"))];
        let config = keys("What to answer", entries, &["answer"]);
        Some(ConfigSchema { ids: "^constant(:|$)", config })
    }
}

impl Sender for Constant {
    type Settings = ConstantTarget;

    async fn ask(
        &self,
        asked: &Asked<'_, ConstantTarget>,
        ask: &Ask<'_>,
        _: &ExternalServices,
    ) -> Told {
        let answer = asked.settings.answer.clone();
        Told {
            method: "constant",
            sent: json!({"prompt": ask.prompt}),
            outcome: Outcome::Reply(Value::String(answer.clone())),
            response: Response::text(answer),
        }
    }
}
