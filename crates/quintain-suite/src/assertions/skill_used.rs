//! Which skills the target used.

use quintain_content::glob;
use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Scene, Spec, judging};

pub(super) static SKILL_USED: Builtin = Builtin {
    meta: &Meta {
        id: "skill-used",
        aliases: &[],
        summary: "The target used a skill",
        docs: r"# What it does
Reads the skills that an agent reports in the `skillCalls` of its metadata; failed ones do not count.
`value` is a name, a list of names that must all be there, or a map:

- `name` or `pattern`: a name, or a pattern with `*` and `?`.
- `min`, `max`: the number of uses (default: at least one).

`not-skill-used` passes only if none of the skills was used.

# Example
```yaml
- type: skill-used
  value: { pattern: 'pdf-*', max: 2 }
```
",
        since: "0.1.0",
    },
    compile,
};

#[derive(Clone)]
enum Wanted {
    /// All of these names.
    All(Vec<String>),
    Counted(Matcher),
}

#[derive(Clone)]
struct Matcher {
    name: Option<String>,
    pattern: Option<String>,
    min: Option<f64>,
    max: Option<f64>,
}

/// A skill that was used.
struct Used {
    name: String,
    /// The name, and the source of the skill.
    shown: String,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let wanted = spec.expect(move |value| read(value, negated));
    judging(move |scene| {
        let used = used(scene);
        Ok(match &*wanted.get(scene)? {
            Wanted::All(names) => all(names, &used, negated),
            Wanted::Counted(matcher) => counted(matcher, &used, negated),
        })
    })
}

fn read(value: Option<&Value>, negated: bool) -> Result<Wanted, String> {
    let wrong =
        || "skill-used assertion must have a string, string array, or object value".to_owned();
    let trimmed = |value: &Value| {
        value.as_str().map(js::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let map = match value {
        Some(value @ Value::String(_)) => {
            return trimmed(value).map(|name| Wanted::All(vec![name])).ok_or_else(wrong);
        }
        Some(Value::Array(items)) if !items.is_empty() => {
            let names = items.iter().map(trimmed).collect::<Option<_>>();
            return names.map(Wanted::All).ok_or_else(wrong);
        }
        Some(Value::Object(map)) => map,
        _ => return Err(wrong()),
    };
    let fault = |what: &str| format!("skill-used assertion object {what}");
    let bound = |key: &str| match map.get(key) {
        None => Ok(None),
        Some(value) => match value.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0) {
            Some(count) => Ok(Some(count)),
            None => Err(fault(&format!("{key} must be a finite non-negative integer"))),
        },
    };
    let (name, pattern) = (map.get("name").and_then(trimmed), map.get("pattern").and_then(trimmed));
    if name.is_none() && pattern.is_none() {
        return Err(fault("must include a name or pattern property"));
    }
    let (min, max) = (bound("min")?, bound("max")?);
    if let (Some(min), Some(max)) = (min, max)
        && max < min
    {
        return Err(fault("max must be greater than or equal to min"));
    }
    if negated && (min.is_some() || max.is_some_and(|max| max != 0.0)) {
        return Err("not-skill-used object assertions only support name/pattern with no count \
                    bounds, or max: 0"
            .to_owned());
    }
    Ok(Wanted::Counted(Matcher { name, pattern, min, max }))
}

fn used(scene: &Scene<'_>) -> Vec<Used> {
    let calls = scene.response.metadata.get("skillCalls").and_then(Value::as_array);
    let succeeded = calls.into_iter().flatten().filter(|call| call["is_error"] != true);
    succeeded
        .filter_map(|call| {
            let name = call.get("name")?.as_str()?.to_owned();
            let origin = ["source", "path"].map(|key| &call[key]);
            let origin: Vec<String> =
                origin.into_iter().filter(|text| !js::is_falsy(text)).map(js::string).collect();
            let shown = match origin.as_slice() {
                [] => name.clone(),
                origin => format!("{name} ({})", origin.join(", ")),
            };
            Some(Used { name, shown })
        })
        .collect()
}

fn shown<'u>(used: impl IntoIterator<Item = &'u Used>) -> String {
    used.into_iter().map(|skill| skill.shown.as_str()).collect::<Vec<_>>().join(", ")
}

fn or_none(shown: String) -> String {
    if shown.is_empty() { "(none)".to_owned() } else { shown }
}

fn all(names: &[String], used: &[Used], negated: bool) -> Verdict {
    let is_used = |name: &&String| used.iter().any(|skill| skill.name == **name);
    let (there, missing): (Vec<&String>, Vec<&String>) = names.iter().partition(is_used);
    let list =
        |names: &[&String]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let (every, actual) = (names.join(", "), or_none(shown(used)));
    match (negated, there.is_empty(), missing.is_empty()) {
        (true, true, _) => Verdict::pass(format!("Forbidden skill(s) were not used: {every}")),
        (true, false, _) => Verdict::fail(format!(
            "Forbidden skill(s) were used: {}. Actual skills: {actual}",
            list(&there)
        )),
        (false, _, true) => {
            Verdict::pass(format!("Observed required skill(s): {every}. Actual skills: {actual}"))
        }
        (false, _, false) => Verdict::fail(format!(
            "Missing required skill(s): {}. Actual skills: {actual}",
            list(&missing)
        )),
    }
}

fn counted(matcher: &Matcher, used: &[Used], negated: bool) -> Verdict {
    let fits = |skill: &&Used| {
        matcher.name.as_ref().is_none_or(|name| skill.name == *name)
            && matcher.pattern.as_ref().is_none_or(|pattern| glob::matches(pattern, &skill.name))
    };
    let found: Vec<&Used> = used.iter().filter(fits).collect();
    let label = matcher.pattern.as_ref().or(matcher.name.as_ref()).map_or("*", String::as_str);
    let (count, matches) = (found.len(), shown(found));
    if negated {
        return match count {
            0 => Verdict::pass(format!(
                "Forbidden skill \"{label}\" was not used. Actual skills: {}",
                or_none(shown(used))
            )),
            _ => Verdict::fail(format!(
                "Forbidden skill \"{label}\" was used {count} time(s). Matches: {matches}"
            )),
        };
    }
    let min = matcher.min.unwrap_or(if matcher.max.is_some() { 0.0 } else { 1.0 });
    let pass = count as f64 >= min && matcher.max.is_none_or(|max| count as f64 <= max);
    let bounds = match matcher.max {
        None => format!("at least {}", js::number(min)),
        Some(max) => format!("{}-{}", js::number(min), js::number(max)),
    };
    let matches = if count > 0 { format!(". Matches: {matches}") } else { String::new() };
    let reason = format!("Matched skill \"{label}\" {count} time(s) (expected {bounds}){matches}");
    Verdict::of(pass, reason)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::{TestScene, flaw};

    fn judge(kind: &str, value: &str) -> (bool, String) {
        let mut stage = TestScene::output("x");
        stage.response.metadata.insert(
            "skillCalls".into(),
            json!([
                {"name": "pdf-read", "source": "project", "path": "a.md"},
                {"name": "pdf-write"},
                {"name": "mail", "is_error": true},
                "odd"
            ]),
        );
        let verdict = stage.judge(&format!("[{{type: {kind}, value: {value}}}]"));
        (verdict.passed(), verdict.reason)
    }

    #[test]
    fn names_have_to_be_there() {
        let actual = "Actual skills: pdf-read (project, a.md), pdf-write";
        for (kind, value, pass, reason) in [
            ("skill-used", "pdf-write", true, "Observed required skill(s): pdf-write."),
            ("skill-used", "[pdf-write, mail]", false, "Missing required skill(s): mail."),
            ("not-skill-used", "[pdf-write, x]", false, "Forbidden skill(s) were used: pdf-write."),
        ] {
            assert_eq!(judge(kind, value), (pass, format!("{reason} {actual}")));
        }
        let unused = "Forbidden skill(s) were not used: mail";
        assert_eq!(judge("not-skill-used", "mail"), (true, unused.to_owned()));
    }

    #[test]
    fn patterns_are_counted() {
        let matches = "Matches: pdf-read (project, a.md), pdf-write";
        assert_eq!(
            judge("skill-used", "{pattern: 'PDF-*'}"),
            (true, format!("Matched skill \"PDF-*\" 2 time(s) (expected at least 1). {matches}"))
        );
        assert_eq!(
            judge("skill-used", "{pattern: 'pdf-*', max: 1}"),
            (false, format!("Matched skill \"pdf-*\" 2 time(s) (expected 0-1). {matches}"))
        );
        assert_eq!(
            judge("not-skill-used", "{pattern: 'pdf-*'}"),
            (false, format!("Forbidden skill \"pdf-*\" was used 2 time(s). {matches}"))
        );
        assert!(judge("skill-used", "{name: mail, max: 0}").0);
    }

    #[test]
    fn other_values_are_mistakes() {
        for (value, what) in [
            ("5", "skill-used assertion must have a string, string array, or object value"),
            ("[]", "skill-used assertion must have a string, string array, or object value"),
            ("{min: 1}", "skill-used assertion object must include a name or pattern property"),
            (
                "{name: a, min: 1.5}",
                "skill-used assertion object min must be a finite non-negative integer",
            ),
            (
                "{name: a, min: 2, max: 1}",
                "skill-used assertion object max must be greater than or equal to min",
            ),
        ] {
            assert_eq!(flaw(&format!("[{{type: skill-used, value: {value}}}]"), "x"), what);
        }
        assert!(
            flaw("[{type: not-skill-used, value: {name: a, min: 1}}]", "x").starts_with("not-")
        );
    }
}
