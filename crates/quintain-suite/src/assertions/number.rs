//! A number in the output, compared with bounds.

use std::sync::LazyLock;

use quintain_content::jsonpath::Path;
use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use quintain_source::wrong_type;
use regex::Regex;
use serde_json::Value;

use super::jsonpath::path;
use super::range::Bounds;
use crate::check::{Builtin, Check, Scene, Spec, judging};
use crate::views;

pub(super) static NUMBER: Builtin = Builtin {
    meta: &Meta {
        id: "number",
        aliases: &[],
        summary: "A number in the output is in a range",
        docs: r"# What it does
Takes the number at `path` (see `jsonpath`), or the first number in the output without `path`; in the text
blocks, if the output has any. Accepts commas between thousands.

The number must meet all given conditions: `equals` (or `value`), `gt`, `gte`, `lt`, `lte`,
`between: [low, high]` (inclusive), and `approx`, which allows a difference of `tolerance` (default: one
millionth of the value).

# What counts as proof
The place of the number.

# Example
```yaml
- type: number
  path: $.temperature
  approx: 21.5
  tolerance: 0.5
```
",
        since: "0.1.0",
    },
    compile,
};

#[expect(clippy::unwrap_used, reason = "a constant, compiled by every test below")]
static IN_PROSE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
        .unwrap()
});

struct Wanted {
    path: Option<Path>,
    equals: Option<f64>,
    approx: Option<(f64, f64)>,
    bounds: Bounds,
    negated: bool,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let node = spec.fields.get("path");
    let path = match node {
        Some(node) => Some(path(spec, node)?),
        None => None,
    };
    let value = spec.number("value");
    let equals = spec.number("equals").or(value);
    let tolerance = spec.number("tolerance");
    let approx = spec
        .number("approx")
        .map(|target| (target, tolerance.unwrap_or(target.abs() * 1e-6).abs()));
    let mut bounds = Bounds::read(spec);
    if let Some(node) = spec.fields.get("between") {
        let ends = node.as_seq().unwrap_or_default();
        match ends.iter().map(quintain_source::Node::as_f64).collect::<Option<Vec<_>>>().as_deref()
        {
            Some([low, high]) => (bounds.gte, bounds.lte) = (Some(*low), Some(*high)),
            _ => wrong_type("between", "a list of two numbers", node, spec.dx),
        }
    }
    let wanted = Wanted { path, equals, approx, bounds, negated: spec.negated };
    judging(move |scene| Ok(wanted.judge(scene)))
}

impl Wanted {
    fn judge(&self, scene: &Scene<'_>) -> Verdict {
        let Some((number, pointer)) = self.find(scene) else {
            let place = self.path.as_ref().map_or("the output", |path| path.text());
            return Verdict::fail(format!("no number found in {place}"));
        };
        let shown = js::number(number);
        let mut missed = Vec::new();
        if let Some(target) = self.equals.filter(|target| (*target - number).abs() > 0.0) {
            missed.push(js::number(target));
        }
        if let Some((target, off)) = self.approx.filter(|(to, off)| (number - to).abs() > *off) {
            missed.push(format!("{} ± {}", js::number(target), js::number(off)));
        }
        if !self.bounds.hold(number) {
            missed.push(self.bounds.words());
        }
        let reason = match (missed.as_slice(), self.negated) {
            ([], false) => format!("{shown} is as expected"),
            ([], true) => format!("{shown} meets the conditions, expected that it does not"),
            (missed, _) => format!("{shown} is not {}", missed.join(", ")),
        };
        let verdict = Verdict::of(missed.is_empty() != self.negated, reason);
        match (scene.evidence.exchanges.len().checked_sub(1), pointer) {
            (Some(last), pointer) => verdict.proof(last, pointer.unwrap_or_default()),
            (None, _) => verdict,
        }
    }

    fn find(&self, scene: &Scene<'_>) -> Option<(f64, Option<String>)> {
        if let Some(path) = &self.path {
            return views::parts(scene).iter().find_map(|part| {
                let found = path.locate(&part.value);
                let (pointer, number) =
                    found.iter().find_map(|(pointer, value)| Some((pointer, of_value(value)?)))?;
                let base = part.pointer.clone();
                let full = if part.inside_text { String::new() } else { pointer.clone() };
                Some((number, base.map(|base| base + &full)))
            });
        }
        let blocks = views::blocks(scene);
        let in_block = blocks.iter().enumerate().find_map(|(index, block)| {
            let number = of_text(block.get("text")?.as_str()?)?;
            let recorded = views::result(scene).is_none();
            Some((number, (!recorded).then(|| format!("/content/{index}/text"))))
        });
        if !blocks.is_empty() {
            return in_block;
        }
        let number = match scene.output {
            Value::Number(number) => number.as_f64(),
            _ => of_text(&scene.text()),
        };
        number.map(|number| (number, None))
    }
}

fn of_value(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => of_text(text),
        _ => None,
    }
}

/// The whole text as a number, or the first number in it.
fn of_text(text: &str) -> Option<f64> {
    let whole = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    whole.or_else(|| IN_PROSE.find(text)?.as_str().replace(',', "").parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::{TestScene, passes};

    #[test]
    fn numbers_are_found_and_compared() {
        for (options, output, pass) in [
            ("equals: 42", "The answer is 42.", true),
            ("gt: 1000", "about 1,234.5 people", true),
            ("lt: 0", "-3 degrees", true),
            ("between: [1, 2]", "2", true),
            ("between: [1, 2]", "2.1", false),
            ("approx: 3.14, tolerance: 0.01", "3.1415", true),
            ("approx: 3.14, tolerance: 0.001", "3.1415", false),
            ("gte: 0", "none at all", false),
            ("path: '$.t', lte: 20", "{\"t\": 19.5, \"u\": 99}", true),
            ("path: '$.t', gt: 5", "{\"t\": \"7 km\"}", true),
            ("path: '$.t', gt: 5", "{\"u\": 7}", false),
        ] {
            let yaml = format!("[{{type: number, {options}}}]");
            assert_eq!(passes(&yaml, output), pass, "{options} of {output}");
        }
    }

    #[test]
    fn text_blocks_are_read_not_their_wrapping() {
        let blocks = json!([{"type": "text", "text": "7 items"}]);
        assert!(passes("[{type: number, equals: 7}]", blocks));
    }

    #[test]
    fn the_reason_tells_both_numbers() {
        let verdict = TestScene::output("5").judge("[{type: number, gt: 7, lt: 9}]");
        assert_eq!(verdict.reason, "5 is not > 7 and < 9");
        let verdict = TestScene::output("5").judge("[{type: not-number, gt: 1}]");
        assert_eq!(verdict.reason, "5 meets the conditions, expected that it does not");
    }
}
