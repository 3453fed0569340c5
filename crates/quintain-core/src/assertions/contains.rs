//! The output contains a text.

use crate::check::{Assertion, Check, Param, Scene, Spec};
use crate::question::Answer;
use crate::registry::Meta;
use crate::verdict::Verdict;

pub(super) static CONTAINS: Contains = Contains {
    fold: false,
    meta: Meta {
        id: "contains",
        aliases: &[],
        summary: "The output contains a text",
        docs: r"# What it does
Looks for `value` in the output, letter by letter. A number is looked for as it is written.

# Example
```yaml
- type: contains
  value: 'Echo: hello'
```
",
        since: "0.1.0",
    },
};

pub(super) static ICONTAINS: Contains = Contains {
    fold: true,
    meta: Meta {
        id: "icontains",
        aliases: &[],
        summary: "The output contains a text, in upper or lower case",
        docs: r"# What it does
Looks for `value` in the output and ignores the case of letters.

# Example
```yaml
- type: icontains
  value: success
```
",
        since: "0.1.0",
    },
};

pub(super) struct Contains {
    fold: bool,
    meta: Meta,
}

struct ContainsCheck {
    needle: Param,
    fold: bool,
    negated: bool,
}

impl Assertion for Contains {
    fn meta(&self) -> &'static Meta {
        if self.fold { &ICONTAINS.meta } else { &CONTAINS.meta }
    }

    fn compile(&self, spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
        let needle = spec.required_value()?;
        Some(Box::new(ContainsCheck { needle, fold: self.fold, negated: spec.negated }))
    }
}

impl Check for ContainsCheck {
    fn judge(&self, scene: &Scene<'_>, _: &[Answer]) -> Verdict {
        let needle = match self.needle.text(scene) {
            Ok(needle) => needle,
            Err(verdict) => return verdict,
        };
        let output = scene.text();
        let found = if self.fold {
            output.to_lowercase().contains(&needle.to_lowercase())
        } else {
            output.contains(&*needle)
        };
        if found != self.negated {
            return Verdict::pass("Assertion passed");
        }
        let not = if self.negated { "not " } else { "" };
        Verdict::fail(format!("Expected output to {not}contain \"{needle}\""))
    }
}

#[cfg(test)]
mod tests {
    use crate::assertions::testing::passes;

    #[test]
    fn letters_count_unless_case_is_ignored() {
        assert!(passes("[{type: contains, value: lo W}]", "Hello World"));
        assert!(!passes("[{type: contains, value: LO}]", "Hello"));
        assert!(passes("[{type: icontains, value: LO}]", "Hello"));
        assert!(passes("[{type: not-contains, value: LO}]", "Hello"));
    }
}
