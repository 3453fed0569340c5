//! The output contains one or all of several texts.

use quintain_content::registry::Meta;
use quintain_content::text::{fields, js};
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static CONTAINS_ANY: Builtin = Builtin {
    meta: &Meta {
        id: "contains-any",
        aliases: &[],
        summary: "The output contains at least one of several texts",
        docs: r#"# What it does
Passes if the output contains at least one of the texts in `value`: a list, or comma-separated text, in
which `a, "b, c"` are the two texts `a` and `b, c`. Inside quotes, write a quote as `""` or `\"`. Fails
if `value` is an empty list.

# Example
```yaml
- type: contains-any
  value: [ok, success]
```
"#,
        since: "0.1.0",
    },
    compile: |spec| compile(spec, Want { all: false, fold: false }),
};

pub(super) static ICONTAINS_ANY: Builtin = Builtin {
    meta: &Meta {
        id: "icontains-any",
        aliases: &[],
        summary: "The output contains at least one of several texts, ignoring case",
        docs: r"# What it does
The same as `contains-any`, but ignores case.

# Example
```yaml
- type: icontains-any
  value: ok, success
```
",
        since: "0.1.0",
    },
    compile: |spec| compile(spec, Want { all: false, fold: true }),
};

pub(super) static CONTAINS_ALL: Builtin = Builtin {
    meta: &Meta {
        id: "contains-all",
        aliases: &[],
        summary: "The output contains all of several texts",
        docs: r"# What it does
Passes if the output contains every text in `value`; otherwise the reason lists the missing ones. `value`
is a list, or comma-separated text as for `contains-any`. `not-contains-all` passes if at least one is
missing.

# Example
```yaml
- type: contains-all
  value: [name, version]
```
",
        since: "0.1.0",
    },
    compile: |spec| compile(spec, Want { all: true, fold: false }),
};

pub(super) static ICONTAINS_ALL: Builtin = Builtin {
    meta: &Meta {
        id: "icontains-all",
        aliases: &[],
        summary: "The output contains all of several texts, ignoring case",
        docs: r"# What it does
The same as `contains-all`, but ignores case.

# Example
```yaml
- type: icontains-all
  value: [name, version]
```
",
        since: "0.1.0",
    },
    compile: |spec| compile(spec, Want { all: true, fold: true }),
};

#[derive(Clone, Copy)]
struct Want {
    all: bool,
    fold: bool,
}

fn compile(spec: &mut Spec<'_, '_>, want: Want) -> Option<Box<dyn Check>> {
    let (kind, negated) = (spec.kind.to_owned(), spec.negated);
    let needles = spec.expect(move |value| needles(&kind, value));
    judging(move |scene| {
        let needles = needles.get(scene)?;
        let output = scene.text();
        let missing = missing(&output, &needles, want.fold);
        let not = if negated { "not " } else { "" };
        if want.all {
            return Ok(Verdict::met(missing.is_empty() != negated, || {
                let (all, missing) = (needles.join(", "), missing.join(", "));
                format!("Expected output to {not}contain all of [{all}]. Missing: [{missing}]")
            }));
        }
        Ok(Verdict::met((missing.len() < needles.len()) != negated, || {
            format!("Expected output to {not}contain one of \"{}\"", needles.join(", "))
        }))
    })
}

fn missing<'n>(output: &str, needles: &'n [String], fold: bool) -> Vec<&'n str> {
    let needles = needles.iter().map(String::as_str);
    if fold {
        let output = output.to_lowercase();
        needles.filter(|needle| !output.contains(&needle.to_lowercase())).collect()
    } else {
        needles.filter(|needle| !output.contains(needle)).collect()
    }
}

fn needles(kind: &str, value: Option<&Value>) -> Result<Vec<String>, String> {
    match value {
        None => Err(format!("\"{kind}\" assertion type must have a value")),
        Some(value) if js::is_falsy(value) => {
            Err(format!("\"{kind}\" assertion type must have a value"))
        }
        Some(Value::String(text)) => fields::split(text).map_err(|error| error.to_string()),
        Some(Value::Array(items)) => Ok(items.iter().map(js::string).collect()),
        Some(_) => Err(format!("\"{kind}\" assertion type must have an array value")),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestScene, flaw, passes};

    #[test]
    fn one_of_several_is_enough_for_any() {
        assert!(passes("[{type: contains-any, value: [x, lo]}]", "Hello"));
        assert!(passes("[{type: contains-any, value: 'x, lo'}]", "Hello"));
        assert!(passes("[{type: contains-any, value: [7]}]", "1.75"));
        assert!(!passes("[{type: contains-any, value: [x, LO]}]", "Hello"));
        assert!(passes("[{type: icontains-any, value: [x, LO]}]", "Hello"));
        assert!(!passes("[{type: contains-any, value: []}]", "Hello"));
        assert!(passes("[{type: not-contains-any, value: []}]", "Hello"));
    }

    #[test]
    fn every_one_counts_for_all() {
        assert!(passes("[{type: contains-all, value: [He, lo]}]", "Hello"));
        assert!(!passes("[{type: contains-all, value: [He, LO]}]", "Hello"));
        assert!(passes("[{type: icontains-all, value: 'HE,LO'}]", "Hello"));
        assert!(passes("[{type: not-contains-all, value: [He, LO]}]", "Hello"));
        assert!(passes("[{type: contains-all, value: []}]", ""));
    }

    #[test]
    fn quotes_keep_commas_together() {
        assert!(passes(r#"[{type: contains-all, value: '"a, b", c'}]"#, "c; a, b"));
        assert!(!passes(r#"[{type: contains-all, value: '"a, b", c'}]"#, "c, b, a"));
    }

    #[test]
    fn the_reasons_name_the_texts() {
        let reason = |yaml| TestScene::output("Hello").judge(yaml).reason;
        assert_eq!(
            reason("[{type: contains-any, value: 'x,, y'}]"),
            "Expected output to contain one of \"x, y\""
        );
        assert_eq!(
            reason("[{type: icontains-all, value: [HE, y, 1.0]}]"),
            "Expected output to contain all of [HE, y, 1]. Missing: [y, 1]"
        );
        assert_eq!(
            reason("[{type: not-contains-all, value: [He]}]"),
            "Expected output to not contain all of [He]. Missing: []"
        );
    }

    #[test]
    fn values_that_are_no_lists_are_mistakes() {
        for (value, what) in [
            ("", "a value"),
            (", value: ''", "a value"),
            (", value: 0", "a value"),
            (", value: 5", "an array value"),
            (", value: {a: b}", "an array value"),
        ] {
            let message = format!("\"contains-all\" assertion type must have {what}");
            assert_eq!(flaw(&format!("[{{type: contains-all{value}}}]"), "x"), message);
        }
        assert_eq!(
            flaw("[{type: contains-any, value: '\"a'}]", "x"),
            "Unterminated quoted field in contains assertion value"
        );
    }
}
