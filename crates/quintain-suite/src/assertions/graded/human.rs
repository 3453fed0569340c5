//! A person approves the output.

use quintain_content::registry::Meta;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, judging};

pub(in super::super) static HUMAN: Builtin = Builtin {
    meta: &Meta {
        id: "human",
        aliases: &[],
        summary: "A person approves the output",
        docs: r"# What it does
Leaves the verdict to a person, who rates the output on the results page. No model is asked: until then the
result is an error, never a pass, even with `not-`.

# Example
```yaml
- type: human
  value: the tone is right
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let wanted = spec.expect(|value| match value {
            None | Some(Value::Null | Value::String(_) | Value::Object(_) | Value::Array(_)) => {
                Ok(())
            }
            Some(_) => Err("human assertion value must be text".to_owned()),
        });
        judging(move |scene| {
            wanted.get(scene)?;
            Ok(Verdict::error("`human` needs a person: rate the output on the results page"))
        })
    },
};
