//! The surface of the target contains nothing deceptive.

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, fingerprint};
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::static_finding::{FindingText, SurfaceInspection};
use quintain_evidence::verdict::Verdict;
use quintain_source::unknown_word;

use crate::check::{Builtin, Check, Scene, Spec};

pub(super) static SURFACE_CLEAN: Builtin = Builtin {
    meta: &Meta {
        id: "surface-clean",
        aliases: &[],
        summary: "The surface of the target has no hidden instructions, secrets or confusing names",
        docs: r"# What it does
Inspects names, descriptions and schemas of tools, prompts and resources with the attacks that need no
call: `tool-poisoning`, `tool-shadowing`, `toxic-flow`, `tool-discovery` and `secrets`. `attacks` limits
the check to some of them. `only` lists findings by id or fingerprint; others are ignored. `allow` lists
accepted findings.

`not-surface-clean` passes only if there is a finding.

# Why it matters
Models follow descriptions like instructions, and people rarely read them.

# What counts as proof
The text and its place.

# Example
```yaml
- type: surface-clean
  attacks: [tool-poisoning, secrets]
  allow: [F-1a2b3c4d]
```
",
        since: "0.1.0",
    },
    compile,
};

/// Findings that a reason lists.
const SHOWN: usize = 5;

struct SurfaceClean {
    inspections: Vec<&'static dyn SurfaceInspection>,
    /// Prefixes of fingerprints.
    only: Option<Vec<String>>,
    allowed: Vec<String>,
    negated: bool,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let known = spec.files.inspections();
    let inspections = match spec.fields.scalars("attacks", spec.dx) {
        None => known.to_vec(),
        Some(nodes) => {
            let mut named = Vec::new();
            for node in nodes {
                let word = node.raw().unwrap_or_default();
                if let Some(one) = known.iter().find(|one| one.meta().answers_to(word)) {
                    named.push(*one);
                } else {
                    let words = known.iter().map(|one| one.meta().id);
                    spec.dx.push(unknown_word("attacks", node, words));
                }
            }
            named
        }
    };
    let mut marks = |name: &'static str| -> Option<Vec<String>> {
        let nodes = spec.fields.scalars(name, spec.dx)?;
        let mark = |text: &str| text.strip_prefix("F-").unwrap_or(text).to_owned();
        Some(nodes.iter().filter_map(|node| node.raw().map(mark)).collect())
    };
    let (only, allowed) = (marks("only"), marks("allow").unwrap_or_default());
    Some(Box::new(SurfaceClean { inspections, only, allowed, negated: spec.negated }))
}

impl SurfaceClean {
    fn counts(&self, rule: &str, text: &FindingText, place: Option<Place>, several: bool) -> bool {
        let place = place.unwrap_or_else(|| server(""));
        let whose = if several { place.server() } else { "" };
        let mark = fingerprint(rule, whose, &place, text.fault);
        let listed = |marks: &[String]| marks.iter().any(|known| mark.starts_with(known.as_str()));
        text.note.is_none() && self.only.as_deref().is_none_or(listed) && !listed(&self.allowed)
    }
}

fn server(name: &str) -> Place {
    Place::Server { server: name.to_owned() }
}

impl Check for SurfaceClean {
    fn next(&self, scene: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done(self.judge(scene))
    }

    fn wants_errors(&self) -> bool {
        true
    }

    fn wants_survey(&self) -> bool {
        true
    }
}

impl SurfaceClean {
    fn judge(&self, scene: &Scene<'_>) -> Verdict {
        if scene.surfaces.is_empty() {
            return Verdict::error("the surface of the target is unknown");
        }
        for (server, surface) in scene.surfaces {
            if let Some(problem) = surface.problems.first() {
                return Verdict::error(format!(
                    "the surface of `{server}` is incomplete: {problem}"
                ));
            }
        }
        let mut found = Vec::new();
        let several = scene.surfaces.len() > 1;
        for inspection in &self.inspections {
            for (text, place) in inspection.inspect(scene.surfaces) {
                if self.counts(inspection.rule(), &text, place, several) {
                    found.push(format!("{}: {}", text.title, text.what));
                }
            }
        }
        if found.is_empty() {
            return Verdict::of(!self.negated, "the surface contains nothing deceptive");
        }
        let more = match found.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("\nand {more} more"),
        };
        found.truncate(SHOWN);
        Verdict::of(self.negated, format!("{}{more}", found.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::{Surface, Tool};
    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use super::*;
    use crate::suite::NoFiles;
    use crate::testing::{TestScene, compile_with};

    fn stage(description: &str) -> TestScene {
        let tools = vec![Tool(json!({"name": "add", "description": description}))];
        let surface = Surface { tools, ..Surface::default() };
        TestScene { surfaces: vec![("s".into(), surface)], ..TestScene::default() }
    }

    fn passes(options: &str, description: &str) -> bool {
        stage(description).judge(&format!("[{{type: surface-clean{options}}}]")).passed()
    }

    #[test]
    fn hidden_letters_are_seen() {
        let add = Place::Tool { server: String::new(), tool: "add".into() };
        let hidden = "Adds.\u{e0041}\u{e0042}";
        assert!(passes("", "Adds two numbers"));
        assert!(!passes("", hidden));
        assert!(!passes(", attacks: tool-poisoning", hidden));
        assert!(passes(", attacks: toxic-flow", hidden));
        let mark = fingerprint("tool-poisoning", "", &add, "hidden");
        assert!(passes(&format!(", allow: [F-{}]", &mark[..8]), hidden));
        assert!(!passes(&format!(", only: [{mark}]"), hidden));
        assert!(passes(", only: [ffff]", hidden));
    }

    #[test]
    fn without_a_list_nothing_is_clean() {
        let verdict = TestScene::default().judge("[{type: not-surface-clean}]");
        assert_eq!(verdict.status, Status::Error);
        let (_, complaints) = compile_with("[{type: surface-clean, attacks: [bola]}]", &NoFiles);
        assert!(complaints.contains("bola"), "{complaints}");
    }
}
