//! The surface of the target equals a stored snapshot.

use quintain_content::registry::Meta;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::surface::drift::{SurfaceChange, drift};
use quintain_evidence::surface::lock::{Ignored, Scope, Section, lock, narrowed};
use quintain_evidence::verdict::Verdict;
use quintain_source::unknown_word;
use serde_json::{Value, json};

use super::golden_file::{GoldenFile, content};
use crate::check::{Builtin, Check, Scene, Spec};

pub(super) static SURFACE_SNAPSHOT: Builtin = Builtin {
    meta: &Meta {
        id: "surface-snapshot",
        aliases: &[],
        summary: "The tools, prompts and resources of the target equal a snapshot in a file",
        docs: r"# What it does
Compares the surface of the target (tools with descriptions, schemas and annotations, prompts, resources,
resource templates, instructions) with the file `value`, by default `quintain.surface.json` in the folder
of the suite. Fails on any difference and lists every item that was added, removed or changed.

If the file does not exist, Quintain writes it and the assertion passes; in CI (the variable `CI` is set)
the assertion fails instead. `quintain eval --update-snapshots` overwrites the file with the current
surface. With `perTarget: true`, every target has its own file, whose name starts with the name of the
target.

`only` lists the parts to compare (`tools`, `prompts`, `resources`, `templates`, `instructions`), `ignore`
the parts that may change (`descriptions`, `titles`, `annotations`, `input-schemas`, `output-schemas`,
`icons`, `meta`). The file always contains the whole surface, so that several assertions can share it.

# Why it matters
Models follow descriptions like instructions. A server that changes them after its approval changes what
models do, and nobody notices.

# What counts as proof
The list of changes.

# Example
```yaml
- type: surface-snapshot
  value: quintain.surface.json
  only: [tools, prompts]
  ignore: [titles, icons]
```
",
        since: "0.1.0",
    },
    compile,
};

const DEFAULT: &str = "quintain.surface.json";
/// Changes that a reason lists.
const MAX_LISTED: usize = 20;
/// Changes that are stored with the verdict.
const MAX_KEPT: usize = 200;

struct SurfaceSnapshot {
    file: GoldenFile,
    scope: Scope,
    negated: bool,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let file = GoldenFile::read(spec);
    let mut scope = Scope::default();
    let only = words(spec, "only", &Section::WORDS);
    if !only.is_empty() {
        scope.sections = only;
    }
    scope.ignore = words(spec, "ignore", &Ignored::WORDS);
    Some(Box::new(SurfaceSnapshot { file, scope, negated: spec.negated }))
}

fn words<T: Copy>(
    spec: &mut Spec<'_, '_>,
    name: &'static str,
    known: &[(&'static str, T)],
) -> Vec<T> {
    let mut found = Vec::new();
    for node in spec.fields.scalars(name, spec.dx).unwrap_or_default() {
        match known.iter().find(|(word, _)| node.raw() == Some(word)) {
            Some((_, value)) => found.push(*value),
            None => spec.dx.push(unknown_word(name, node, known.iter().map(|(word, _)| *word))),
        }
    }
    found
}

impl Check for SurfaceSnapshot {
    fn next(&self, scene: &Scene<'_>, rounds: &Rounds) -> Next<Verdict> {
        rounds.once(|| self.questions(scene), |answers| self.judge(scene, answers))
    }

    fn asks(&self) -> bool {
        true
    }

    fn wants_survey(&self) -> bool {
        true
    }
}

impl SurfaceSnapshot {
    fn questions(&self, scene: &Scene<'_>) -> Vec<Question> {
        let path = self.file.path(scene, || DEFAULT.to_owned());
        path.map(Question::Read).into_iter().collect()
    }

    fn judge(&self, scene: &Scene<'_>, answers: &[Answer]) -> Verdict {
        self.compare(scene, answers).unwrap_or_else(|verdict| *verdict)
    }
}

impl SurfaceSnapshot {
    fn compare(&self, scene: &Scene<'_>, answers: &[Answer]) -> Result<Verdict, Box<Verdict>> {
        let file = self.file.path(scene, || DEFAULT.to_owned())?;
        let shown = GoldenFile::shown(&file);
        if scene.surfaces.is_empty() {
            return Err(Box::new(Verdict::error("the surface of the target is unknown")));
        }
        for (server, surface) in scene.surfaces {
            if let Some(problem) = surface.problems.first() {
                let why = format!("the surface of `{server}` is incomplete: {problem}");
                return Err(Box::new(Verdict::error(why)));
            }
        }
        // The file contains the whole surface, so that assertions about parts of it can share it.
        let whole = lock(scene.surfaces, &Scope::default());
        let text = pretty(&whole);
        let now = narrowed(whole, &self.scope);
        let Some(kept) = content(answers)? else {
            if self.negated {
                return Ok(Verdict::error(format!("{shown} does not exist")));
            }
            let reason = format!(
                "{shown} does not exist; create it with `--update-snapshots` or by running outside CI"
            );
            return Ok(Verdict::fail(reason).proposing(file, text, true));
        };
        let kept = match serde_json::from_str::<Value>(&kept) {
            Ok(kept) => narrowed(kept, &self.scope),
            Err(error) => {
                let verdict = Verdict::error(format!("{shown} cannot be read: {error}"));
                return Ok(if self.negated {
                    verdict
                } else {
                    verdict.proposing(file, text, false)
                });
            }
        };
        let changes = drift(&kept, &now);
        if changes.is_empty() {
            let reason = format!("the surface of the target equals {shown}");
            return Ok(Verdict::of(!self.negated, reason));
        }
        let reason = format!("the surface of the target differs from {shown}:{}", listed(&changes));
        let mut verdict = Verdict::of(self.negated, reason);
        verdict.metadata = Some(json!({"drift": kept_with_verdict(&changes)}));
        Ok(if self.negated { verdict } else { verdict.proposing(file, text, false) })
    }
}

fn pretty(lock: &Value) -> String {
    // Serialising a `Value` cannot fail.
    serde_json::to_string_pretty(lock).unwrap_or_default() + "\n"
}

fn listed(changes: &[SurfaceChange]) -> String {
    let servers = changes.iter().any(|change| change.server != changes[0].server);
    let lines = changes.iter().take(MAX_LISTED).map(|change| {
        let server = if servers { format!("{}: ", change.server) } else { String::new() };
        let colon = if change.what.starts_with("was") { "" } else { ":" };
        format!("\n- {server}{}{colon} {}", change.item, change.what)
    });
    let more = changes.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!("\n- {more} more") } else { String::new() };
    lines.collect::<String>() + &more
}

fn kept_with_verdict(changes: &[SurfaceChange]) -> Value {
    let kept = changes
        .iter()
        .take(MAX_KEPT)
        .map(|change| json!({"server": change.server, "item": change.item, "change": change.what}));
    kept.collect()
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::{Surface, Tool};
    use quintain_evidence::verdict::Status;

    use super::*;
    use crate::suite::NoFiles;
    use crate::testing::{TestScene, compile as compiled, compile_with, only_check};

    const NONE: [Answer; 1] = [Answer::Value(Value::Null)];

    fn stage(description: &str) -> TestScene {
        let tools = vec![Tool(json!({"name": "pay", "description": description}))];
        let mut stage = TestScene::output("x");
        stage.surfaces.push(("s".to_owned(), Surface { tools, ..Surface::default() }));
        stage
    }

    fn kept(stage: &TestScene) -> [Answer; 1] {
        let proposal = stage.judge_with("[{type: surface-snapshot}]", &NONE).proposal.unwrap();
        assert!(proposal.fresh);
        assert_eq!(proposal.file.full().to_str(), Some("/suite/quintain.surface.json"));
        [Answer::Value(proposal.text.into())]
    }

    #[test]
    fn drift_is_told_tool_by_tool() {
        let before = kept(&stage("Pays."));
        assert!(stage("Pays.").judge_with("[{type: surface-snapshot}]", &before).passed());
        let verdict = stage("Steals.").judge_with("[{type: surface-snapshot}]", &before);
        assert_eq!(
            verdict.reason,
            "the surface of the target differs from quintain.surface.json:\n\
             - tool `pay`: description changed from \"Pays.\" to \"Steals.\""
        );
        assert_eq!(verdict.metadata.unwrap()["drift"][0]["item"], "tool `pay`");
        assert!(verdict.proposal.is_some_and(|proposal| !proposal.fresh));
    }

    #[test]
    fn parts_can_be_left_out() {
        let before = kept(&stage("Pays."));
        let judged = |options: &str| {
            let yaml = format!("[{{type: surface-snapshot, {options}}}]");
            stage("Steals.").judge_with(&yaml, &before).passed()
        };
        assert!(judged("ignore: descriptions"));
        assert!(judged("only: [prompts, resources]"));
        assert!(!judged("ignore: [annotations, titles]"));
        assert!(!judged("only: tools"));
    }

    #[test]
    fn a_part_does_not_overwrite_the_whole() {
        let before = [Answer::Value("{\"servers\": {\"s\": {\"prompts\": {\"old\": {}}}}}".into())];
        let verdict =
            stage("Pays.").judge_with("[{type: surface-snapshot, only: prompts}]", &before);
        assert!(verdict.reason.ends_with("- prompt `old` was removed"), "{}", verdict.reason);
        assert!(verdict.proposal.unwrap().text.contains("Pays."));
    }

    #[test]
    fn the_opposite_needs_a_file_to_differ_from() {
        let before = kept(&stage("Pays."));
        let judged = |description: &str, answers: &[Answer]| {
            stage(description).judge_with("[{type: not-surface-snapshot}]", answers)
        };
        assert_eq!(judged("Pays.", &NONE).status, Status::Error);
        assert!(!judged("Pays.", &before).passed());
        let verdict = judged("Steals.", &before);
        assert_eq!((verdict.passed(), verdict.proposal), (true, None));
    }

    #[test]
    fn what_is_not_known_is_never_kept() {
        let mut partial = stage("x");
        partial.surfaces[0].1.problems.push("prompts/list: timed out".to_owned());
        for stage in [TestScene::output("x"), partial] {
            let verdict = stage.judge_with("[{type: surface-snapshot}]", &NONE);
            assert_eq!((verdict.status, verdict.proposal), (Status::Error, None));
        }
        let broken = [Answer::Value("{".into())];
        let verdict = stage("x").judge_with("[{type: surface-snapshot}]", &broken);
        assert_eq!(verdict.status, Status::Error);
        assert!(verdict.proposal.is_some(), "an update overwrites the file");
    }

    #[test]
    fn mistakes_are_reported_and_a_survey_is_wanted() {
        for (options, part) in [
            ("only: tool", "did you mean `tools`?"),
            ("ignore: [description]", "did you mean `descriptions`?"),
        ] {
            let yaml = format!("[{{type: surface-snapshot, {options}}}]");
            let (_, complaints) = compile_with(&yaml, &NoFiles);
            assert!(complaints.contains(part), "{options}: {complaints}");
        }
        assert!(only_check(&compiled("[{type: surface-snapshot}]")).wants_survey());
    }
}
