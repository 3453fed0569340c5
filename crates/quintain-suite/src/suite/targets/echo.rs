//! `echo`: returns the prompt.

use quintain_content::registry::Meta;

use super::{Entry, TargetKind};
use crate::target::Settings;

const META: Meta = Meta {
    id: "echo",
    aliases: &[],
    summary: "Returns the prompt",
    docs: "\
# What it does
The response is the prompt with its variables filled in. Nothing is started or contacted. Use it to try out prompts and
assertions.

# Example
```yaml
targets:
  - echo
```
",
    since: "0.1.0",
};

pub struct EchoKind;

impl TargetKind for EchoKind {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["echo"]
    }

    fn read(&self, _: &mut Entry<'_>) -> Option<Box<dyn Settings>> {
        Some(Box::new(EchoTarget))
    }
}

#[derive(Debug)]
pub struct EchoTarget;

impl Settings for EchoTarget {}
