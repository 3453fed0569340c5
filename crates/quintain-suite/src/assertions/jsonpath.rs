//! Values at a JSONPath of the output.

use quintain_content::jsonpath::Path;
use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_content::text::short::shortened;
use quintain_evidence::verdict::Verdict;
use quintain_source::{Diagnostic, Node};
use regex::Regex;
use serde_json::Value;

use super::range::{Bounds, Count};
use crate::check::{Builtin, Check, Param, Scene, Spec, as_text, judging};
use crate::views;
use crate::views::Part;

pub(super) static JSONPATH: Builtin = Builtin {
    meta: &Meta {
        id: "jsonpath",
        aliases: &["json-path"],
        summary: "A JSONPath of the output selects an expected value",
        docs: r"# What it does
Evaluates `path` (RFC 9535; the leading `$` is optional) and passes if it selects a value. More options
are conditions on the value: `equals` (or `value`), `contains` (text in text, an element of a list, or a
key of a map), `matches` (a regular expression), `gt`, `gte`, `lt`, `lte`. `count` (a number, or `min` and
`max`) is the expected number of values. With `exists: false`, the path must select nothing.

If the path selects several values, one of them must meet all conditions; with `every: true`, all must.

The path applies to the output, parsed as JSON. If it selects nothing there, it applies to every text block
of the response that is JSON, and the first block in which it selects something counts. So `$[0].type`
reads the list of blocks, and `$.total` reads the object in the first block.

# What counts as proof
The selected places, as pointers into the response.

# Example
```yaml
- type: jsonpath
  path: $.items[*].price
  every: true
  gte: 0
  count: { min: 1 }
```
",
        since: "0.1.0",
    },
    compile,
};

struct Wanted {
    path: Path,
    equals: Option<Param>,
    contains: Option<Param>,
    matches: Option<Regex>,
    bounds: Bounds,
    count: Option<Count>,
    exists: bool,
    every: bool,
    negated: bool,
}

/// Reads the option `path`.
pub(super) fn path(spec: &mut Spec<'_, '_>, node: &Node) -> Option<Path> {
    match Path::new(node.raw().unwrap_or_default()) {
        Ok(path) => Some(path),
        Err(error) => {
            let title = "invalid JSONPath";
            spec.dx.push(Diagnostic::error("config::bad-path", title).at(node.span, error.why));
            None
        }
    }
}

fn pattern(spec: &mut Spec<'_, '_>) -> Option<Regex> {
    let node = spec.fields.get("matches")?;
    match Regex::new(node.raw().unwrap_or_default()) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            let title = "invalid regular expression";
            let diagnostic = Diagnostic::error("config::bad-pattern", title);
            // The lines before the last show the pattern, which the diagnostic shows already.
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            spec.dx.push(diagnostic.at(node.span, why));
            None
        }
    }
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let node = spec.fields.required("path", spec.dx);
    let path = node.and_then(|node| path(spec, node));
    let value = spec.value();
    let equals = spec.param("equals").or(value);
    let contains = spec.param("contains");
    let matches = pattern(spec);
    let bounds = Bounds::read(spec);
    let count = Count::read(spec);
    let exists = spec.fields.bool("exists", spec.dx).unwrap_or(true);
    let every = spec.fields.bool("every", spec.dx).unwrap_or(false);
    let negated = spec.negated;
    let path = path?;
    let wanted = Wanted { path, equals, contains, matches, bounds, count, exists, every, negated };
    judging(move |scene| wanted.judge(scene))
}

impl Wanted {
    fn judge(&self, scene: &Scene<'_>) -> Result<Verdict, Box<Verdict>> {
        let parts = views::parts(scene);
        let found = parts.iter().find_map(|part| {
            let found = self.path.locate(&part.value);
            (!found.is_empty()).then_some((part, found))
        });
        let (met, reason) = match &found {
            Some((_, found)) => self.look(scene, found)?,
            None if parts.is_empty() => (!self.exists, "the output is not JSON".to_owned()),
            None => {
                let none_wanted = self.count.is_some_and(|count| count.holds(0));
                (!self.exists || none_wanted, "nothing found".to_owned())
            }
        };
        let verdict = Verdict::of(met != self.negated, format!("{}: {reason}", self.path.text()));
        Ok(match found {
            Some((part, found)) => prove(scene, part, &found, verdict),
            None => verdict,
        })
    }

    fn look(
        &self,
        scene: &Scene<'_>,
        found: &[(String, &Value)],
    ) -> Result<(bool, String), Box<Verdict>> {
        let first = found.first().map(|(_, value)| short(value)).unwrap_or_default();
        if !self.exists {
            return Ok((false, format!("found {first}, expected nothing")));
        }
        if let Some(count) = self.count.filter(|count| !count.holds(found.len())) {
            return Ok((
                false,
                format!("found {} values, expected {}", found.len(), count.words()),
            ));
        }
        let equals =
            self.equals.as_ref().map(|param| param.resolve(scene).map_err(Box::new)).transpose()?;
        let contains = self
            .contains
            .as_ref()
            .map(|param| param.resolve(scene).map_err(Box::new))
            .transpose()?;
        let meets = |value: &Value| {
            equals.as_deref().is_none_or(|wanted| js::deep_equal(value, wanted))
                && contains.as_deref().is_none_or(|wanted| holds(value, wanted))
                && self.matches.as_ref().is_none_or(|pattern| pattern.is_match(&as_text(value)))
                && (self.bounds.is_empty()
                    || value.as_f64().is_some_and(|number| self.bounds.hold(number)))
        };
        let bad = found.iter().find(|(_, value)| !meets(value));
        let good = found.iter().find(|(_, value)| meets(value));
        let mut words = Vec::new();
        if let Some(wanted) = equals.as_deref() {
            words.push(format!("equal to {}", short(wanted)));
        }
        if let Some(wanted) = contains.as_deref() {
            words.push(format!("containing {}", short(wanted)));
        }
        if let Some(pattern) = &self.matches {
            words.push(format!("matching /{pattern}/"));
        }
        if !self.bounds.is_empty() {
            words.push(self.bounds.words());
        }
        let wanted = words.join(", ");
        Ok(match (self.every, good, bad) {
            (false, Some((_, value)), _) => (true, format!("found {}", short(value))),
            (true, _, None) => (true, format!("found {} values, all as expected", found.len())),
            (true, _, Some((_, value))) => {
                (false, format!("found {}, expected every value {wanted}", short(value)))
            }
            (false, None, _) if found.len() == 1 => {
                (false, format!("found {first}, expected {wanted}"))
            }
            (false, None, _) => {
                (false, format!("found {} values, none of them {wanted}", found.len()))
            }
        })
    }
}

/// Whether a text contains a text, a list an element, or a map a key.
fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Array(items), wanted) => items.iter().any(|item| js::deep_equal(item, wanted)),
        (Value::Object(map), Value::String(key)) => map.contains_key(key),
        (Value::String(text), wanted) => text.contains(&*as_text(wanted)),
        (scalar, wanted) => as_text(scalar).contains(&*as_text(wanted)),
    }
}

/// A value as reasons show it, cut if it is long.
pub(super) fn short(value: &Value) -> String {
    shortened(&js::stringify(value), 200).into_owned()
}

/// Adds the first places as proofs, since the list may be long.
fn prove(
    scene: &Scene<'_>,
    part: &Part<'_>,
    found: &[(String, &Value)],
    verdict: Verdict,
) -> Verdict {
    let shown = if part.inside_text { 1 } else { 5 };
    let places = found.iter().take(shown);
    places.fold(verdict, |verdict, (pointer, _)| part.prove(scene, pointer, verdict))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::suite::NoFiles;
    use crate::testing::{TestScene, compile_with};

    const DATA: &str = r#"{"items": [{"id": 1, "name": "ann"}, {"id": 2, "name": "bob"}]}"#;

    fn judged(options: &str) -> Verdict {
        TestScene::output(DATA).judge(&format!("[{{type: jsonpath, {options}}}]"))
    }

    #[test]
    fn conditions_hold_or_do_not() {
        for (options, pass) in [
            ("path: '$.items'", true),
            ("path: '$.none'", false),
            ("path: '$.none', exists: false", true),
            ("path: 'items[0].id', value: 1", true),
            ("path: 'items[0].id', equals: '1'", false),
            ("path: 'items[*].name', contains: bo", true),
            ("path: 'items[*].name', matches: '^c'", false),
            ("path: 'items[*].id', gt: 1", true),
            ("path: 'items[*].id', gt: 1, every: true", false),
            ("path: 'items[*].id', gt: 2", false),
            ("path: 'items[*]', count: 2", true),
            ("path: 'items[*]', count: {min: 3}", false),
            ("path: 'nothing[*]', count: 0", true),
        ] {
            let verdict = judged(options);
            assert_eq!(verdict.passed(), pass, "{options}: {}", verdict.reason);
        }
        assert!(!TestScene::output(DATA).judge("[{type: not-jsonpath, path: items}]").passed());
        assert_eq!(
            judged("path: 'items[0].id', gt: 5").reason,
            "items[0].id: found 1, expected > 5"
        );
    }

    #[test]
    fn json_in_text_blocks_is_looked_at_second() {
        let stage = TestScene::output(json!([{"type": "text", "text": DATA}]));
        let outside = stage.judge("[{type: jsonpath, path: '$[0].type', equals: text}]");
        assert!(outside.passed(), "{}", outside.reason);
        let inside = stage.judge("[{type: jsonpath, path: '$.items[1].name', equals: bob}]");
        assert!(inside.passed(), "{}", inside.reason);
    }

    #[test]
    fn output_that_is_no_json_has_nothing_at_any_path() {
        let verdict = TestScene::output("plain").judge("[{type: jsonpath, path: '$.a'}]");
        assert_eq!(verdict.reason, "$.a: the output is not JSON");
    }

    #[test]
    fn mistakes_are_reported_when_the_suite_is_read() {
        let (_, complaints) = compile_with("[{type: jsonpath, path: '$['}]", &NoFiles);
        assert!(complaints.contains("invalid JSONPath"), "{complaints}");
        let (_, complaints) = compile_with("[{type: jsonpath}]", &NoFiles);
        assert!(complaints.contains("path"), "{complaints}");
    }
}
