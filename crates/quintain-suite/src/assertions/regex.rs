//! The output matches a JavaScript regular expression.

use quintain_content::registry::Meta;
use quintain_evidence::verdict::Verdict;
use quintain_script::{Pattern, ScriptError};
use quintain_source::Diagnostic;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static REGEX: Builtin = Builtin {
    meta: &Meta {
        id: "regex",
        aliases: &[],
        summary: "The output matches a regular expression",
        docs: r"# What it does
Searches the output for a match of the regular expression `value`. The syntax is JavaScript's, without
flags: case counts, `^` and `$` match at the ends of the whole text, and `.` matches anything except a line
break. `(?i:...)` ignores case inside the group.

An invalid pattern fails, with `not-` too. If matching takes too long, the result is an error.

# Example
```yaml
- type: regex
  value: '^\d{4}-\d{2}-\d{2}$'
```
",
        since: "0.1.0",
    },
    compile,
};

/// The pattern, or why it is invalid.
#[derive(Clone)]
struct Wanted {
    source: String,
    pattern: Result<Pattern, String>,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let wanted = spec.expect(read);
    if let Some(Wanted { pattern: Err(why), .. }) = wanted.constant() {
        let title = "invalid regular expression";
        let diagnostic = Diagnostic::new(spec.strictness, "config::bad-pattern", title);
        let span = spec.node.get("value").unwrap_or(spec.node).span;
        spec.dx.push(diagnostic.at(span, why));
    }
    judging(move |scene| {
        let wanted = wanted.get(scene)?;
        let pattern = match &wanted.pattern {
            Ok(pattern) => pattern,
            Err(why) => return Ok(Verdict::fail(format!("Invalid regex pattern: {why}"))),
        };
        let found = match pattern.is_match(&scene.text()) {
            Ok(found) => found,
            Err(error) => {
                let why = format!("matching the pattern failed: {error}");
                return Ok(Verdict::error(why));
            }
        };
        let not = if negated { "not " } else { "" };
        Ok(Verdict::met(found != negated, || {
            format!("Expected output to {not}match regex \"{}\"", wanted.source)
        }))
    })
}

fn read(value: Option<&Value>) -> Result<Wanted, String> {
    match value {
        Some(Value::String(source)) if !source.is_empty() => {
            let pattern = Pattern::new(source, "").map_err(|error| complaint(source, &error));
            Ok(Wanted { source: source.clone(), pattern })
        }
        _ => Err("\"regex\" assertion type must have a string value".to_owned()),
    }
}

/// The error message of Node.js, which users of promptfoo know.
fn complaint(source: &str, error: &ScriptError) -> String {
    let ScriptError::Syntax { message, .. } = error else { return error.to_string() };
    let what = match message.as_str() {
        "expecting ':'" | "invalid group" => "Invalid group",
        "expecting ')'" => "Unterminated group",
        "invalid class range" => "Range out of order in character class",
        "nothing to repeat" => "Nothing to repeat",
        "duplicate group name" => "Duplicate capture group name",
        "extraneous characters at the end" => "Unmatched ')'",
        "unexpected end" if source.ends_with('\\') => "\\ at end of pattern",
        "unexpected end" => "Unterminated character class",
        "invalid group name" => "Invalid capture group name",
        "group name not defined" => "Invalid named capture referenced",
        "invalid repetition count" => "numbers out of order in {} quantifier",
        other => other,
    };
    format!("Invalid regular expression: /{source}/: {what}")
}

#[cfg(test)]
mod tests {
    use quintain_evidence::verdict::Status;

    use crate::suite::NoFiles;
    use crate::testing::{TestScene, compile_with, flaw, judged_with, only_check, passes};

    #[test]
    fn the_dialect_is_javascripts() {
        assert!(passes(r"[{type: regex, value: '(?<=call )\d+'}]", "call 555"));
        assert!(passes(r"[{type: regex, value: '(\d)\1'}]", "66"));
        assert!(passes("[{type: not-regex, value: '^two$'}]", "one\ntwo"));
        assert!(passes("[{type: regex, value: '^..$'}]", "😀"));
        assert!(passes("[{type: regex, value: '^<.+?>$'}]", "<a><b>"));
    }

    #[test]
    fn the_reason_names_the_pattern() {
        let reason = |yaml| TestScene::output("abc").judge(yaml).reason;
        assert_eq!(reason("[{type: regex, value: ^b}]"), "Expected output to match regex \"^b\"");
        assert_eq!(
            reason("[{type: not-regex, value: b}]"),
            "Expected output to not match regex \"b\""
        );
    }

    #[test]
    fn a_pattern_that_is_none_fails_even_negated() {
        for (pattern, why) in [
            ("(abc", "Unterminated group"),
            ("[z-a]", "Range out of order in character class"),
            ("a++", "Nothing to repeat"),
            ("(?P<x>a)", "Invalid group"),
            ("abc)", "Unmatched ')'"),
            ("[abc", "Unterminated character class"),
            ("a\\", "\\ at end of pattern"),
            ("a{2,1}", "numbers out of order in {} quantifier"),
        ] {
            for not in ["", "not-"] {
                let yaml = format!("[{{type: {not}regex, value: '{pattern}'}}]");
                let (asserts, complaints) = compile_with(&yaml, &NoFiles);
                assert!(complaints.contains("config::bad-pattern"), "{complaints}");
                let verdict = TestScene::output("abc")
                    .with(|scene| judged_with(only_check(&asserts), scene, &[]));
                assert_eq!(verdict.status, Status::Fail);
                assert_eq!(
                    verdict.reason,
                    format!(
                        "Invalid regex pattern: Invalid regular expression: /{pattern}/: {why}"
                    )
                );
            }
        }
    }

    #[test]
    fn values_that_are_no_text_are_mistakes() {
        for value in ["", ", value: ''", ", value: 12", ", value: [a]"] {
            assert_eq!(
                flaw(&format!("[{{type: regex{value}}}]"), "12"),
                "\"regex\" assertion type must have a string value"
            );
        }
    }
}
