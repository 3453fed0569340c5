//! The content blocks of a response: their types and media types.

use quintain_content::glob;
use quintain_content::registry::Meta;
use quintain_evidence::verdict::Verdict;
use quintain_source::wrong_type;
use serde_json::Value;

use super::range::Count;
use crate::check::{Builtin, Check, Spec, judging};
use crate::views;

pub(super) static CONTENT_TYPE: Builtin = Builtin {
    meta: &Meta {
        id: "content-type",
        aliases: &[],
        summary: "The response has content blocks of a certain type",
        docs: r"# What it does
Counts the content blocks of the response whose type is `value` (`text`, `image`, `audio`, `resource`,
`resource_link`, or a list of these) and whose media type matches `mimeType` (`image/*` means any
image). Expects at least one, or as many as `count`: a number, or a map with `min` and `max`. With
`only: true`, other blocks are not allowed.

# What counts as proof
The counted blocks, or the ones that are not allowed.

# Example
```yaml
- type: content-type
  value: image
  mimeType: image/png
  count: 1
```
",
        since: "0.1.0",
    },
    compile,
};

const KINDS: [&str; 5] = ["text", "image", "audio", "resource", "resource_link"];
/// Content blocks listed as proofs; more would not help a reader.
const MAX_PROOFS: usize = 5;

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let kinds = kinds(spec);
    let mime = spec.fields.string("mimeType", spec.dx);
    let count = Count::read(spec).unwrap_or(Count::SOME);
    let only = spec.fields.bool("only", spec.dx).unwrap_or(false);
    let negated = spec.negated;
    judging(move |scene| {
        let blocks = views::blocks(scene);
        let fits = |block: &Value| {
            let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
            (kinds.is_empty() || kinds.iter().any(|wanted| wanted == kind))
                && mime.as_deref().is_none_or(|wanted| {
                    mime_type(block).is_some_and(|mime| glob::matches(wanted, mime))
                })
        };
        let fitting: Vec<usize> = (0..blocks.len()).filter(|at| fits(&blocks[*at])).collect();
        let others: Vec<usize> = (0..blocks.len()).filter(|at| !fits(&blocks[*at])).collect();
        let what = describe(&kinds, mime.as_deref());
        let stray = only && !others.is_empty();
        let enough = count.holds(fitting.len());
        let reason = match (enough, stray) {
            (true, true) => format!("{} content blocks are not {what}", others.len()),
            (true, false) => format!("found {} content blocks of type {what}", fitting.len()),
            (false, _) => {
                let (found, wanted) = (fitting.len(), count.words());
                let found = format!("found {found} content blocks of type {what}");
                format!("{found}, expected {wanted}; {}", inventory(&blocks))
            }
        };
        let verdict = Verdict::of((enough && !stray) != negated, reason);
        let Some(last) = scene.evidence.exchanges.len().checked_sub(1) else { return Ok(verdict) };
        let shown = if stray { &others } else { &fitting };
        Ok(shown
            .iter()
            .take(MAX_PROOFS)
            .fold(verdict, |verdict, at| verdict.proof(last, format!("/content/{at}"))))
    })
}

fn kinds(spec: &mut Spec<'_, '_>) -> Vec<String> {
    let Some(node) = spec.fields.get("value") else { return Vec::new() };
    let nodes = node.as_seq().unwrap_or(std::slice::from_ref(node));
    let mut kinds = Vec::new();
    for node in nodes {
        match node.raw() {
            Some(kind) if KINDS.contains(&kind) => kinds.push(kind.to_owned()),
            _ => wrong_type("value", "a content block type or a list of them", node, spec.dx),
        }
    }
    kinds
}

/// Embedded resources have their media type in `resource`.
fn mime_type(block: &Value) -> Option<&str> {
    let own = block.get("mimeType").or_else(|| block.get("resource")?.get("mimeType"));
    own.and_then(Value::as_str)
}

fn describe(kinds: &[String], mime: Option<&str>) -> String {
    match (kinds, mime) {
        ([], None) => "any type".to_owned(),
        ([], Some(mime)) => mime.to_owned(),
        (kinds, None) => kinds.join(" or "),
        (kinds, Some(mime)) => format!("{} ({mime})", kinds.join(" or ")),
    }
}

fn inventory(blocks: &[Value]) -> String {
    if blocks.is_empty() {
        return "the response has no content blocks".to_owned();
    }
    let names = blocks.iter().take(10).map(|block| {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or("no type");
        let kind: String = kind.chars().take(40).collect();
        match mime_type(block) {
            Some(mime) => format!("{kind} ({})", mime.chars().take(80).collect::<String>()),
            None => kind,
        }
    });
    let more = if blocks.len() > 10 { ", …" } else { "" };
    format!("the response has {}{more}", names.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::suite::NoFiles;
    use crate::testing::{TestScene, compile_with};

    fn blocks() -> Value {
        json!([
            {"type": "text", "text": "x"},
            {"type": "image", "data": "", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/csv"}},
            {"type": 7}, 8
        ])
    }

    #[test]
    fn kinds_and_media_types_are_counted() {
        for (options, pass) in [
            ("value: image", true),
            ("value: audio", false),
            ("value: [audio, text]", true),
            ("value: image, mimeType: 'image/*'", true),
            ("value: image, mimeType: image/jpeg", false),
            ("mimeType: text/csv", true),
            ("value: text, count: 2", false),
            ("value: text, count: {max: 1}", true),
            ("value: text, only: true", false),
        ] {
            let mut stage = TestScene::output("");
            stage.response.output = blocks().as_array().unwrap()[..3].into();
            let verdict = stage.judge(&format!("[{{type: content-type, {options}}}]"));
            assert_eq!(verdict.passed(), pass, "{options}: {}", verdict.reason);
        }
    }

    #[test]
    fn malformed_blocks_are_of_no_kind() {
        let stage = TestScene::output(blocks());
        assert!(!stage.judge("[{type: content-type, value: text}]").passed());
        let none = TestScene::output("prose").judge("[{type: content-type, value: text}]");
        assert!(none.reason.contains("no content blocks"), "{}", none.reason);
    }

    #[test]
    fn an_unknown_kind_is_a_mistake() {
        let (_, complaints) = compile_with("[{type: content-type, value: video}]", &NoFiles);
        assert!(complaints.contains("a content block type"), "{complaints}");
    }
}
