//! The response equals a stored snapshot.

use quintain_content::registry::Meta;
use quintain_content::text_diff;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::verdict::Verdict;

use super::golden_file::{GoldenFile, content, slug};
use crate::check::{Builtin, Check, Scene, Spec};
use crate::masks::Masks;
use crate::snapshot;

pub(super) static SNAPSHOT: Builtin = Builtin {
    meta: &Meta {
        id: "snapshot",
        aliases: &[],
        summary: "The response equals a snapshot in a file",
        docs: r"# What it does
Compares the output (or the part of the response that `view` selects) with the file `value`, a path
relative to the folder of the suite. The default is `__snapshots__/NAME.snap`, where `NAME` is the
description of the test, or the prompt if there is none. `value` may contain templates; tests that differ
only in variables need them: `value: weather/{{city}}.snap`. With `perTarget: true`, every target has its
own file, whose name starts with the name of the target.

The file contains text as it is, and anything else as JSON with sorted keys. If the file does not exist,
Quintain writes it and the assertion passes; in CI (the variable `CI` is set) the assertion fails instead.
`quintain eval --update-snapshots` overwrites files that differ.

Mask values that change every time: `mask` is a list of JSONPaths (which apply to the output or to a text
block that is JSON, as in `jsonpath`) and of regular expressions after `regex:`; `volatile` is a list of
`timestamp`, `date`, `epoch`, `uuid`, `hash`, `address`, `ip`, `duration`, or `all`.

# Why it matters
Models and code rely on the form of a response, even where nobody has specified it.

# What counts as proof
The lines that differ.

# Example
```yaml
- type: snapshot
  value: __snapshots__/invoice.snap
  mask: [$.invoice_id]
  volatile: [timestamp, uuid]
```
",
        since: "0.1.0",
    },
    compile,
};

struct Snapshot {
    file: GoldenFile,
    masks: Masks,
    negated: bool,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let file = GoldenFile::read(spec);
    let masks = Masks::read(spec);
    Some(Box::new(Snapshot { file, masks, negated: spec.negated }))
}

/// The default name of the file.
fn default_name(scene: &Scene<'_>) -> String {
    let described =
        scene.test.description.as_deref().map(|description| {
            scene.render(description).unwrap_or_else(|_| description.to_owned())
        });
    let name = match described {
        Some(description) => slug(&description),
        // Prompts are long and often share their beginning; the hash makes the name unique.
        None => format!("{}-{:08x}", slug(scene.prompt), fnv(scene.prompt)),
    };
    format!("__snapshots__/{name}.snap")
}

/// A hash that stays the same in every version (FNV-1a).
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl Check for Snapshot {
    fn next(&self, scene: &Scene<'_>, rounds: &Rounds) -> Next<Verdict> {
        rounds.once(|| self.questions(scene), |answers| self.judge(scene, answers))
    }

    fn asks(&self) -> bool {
        true
    }
}

impl Snapshot {
    fn questions(&self, scene: &Scene<'_>) -> Vec<Question> {
        self.file.path(scene, || default_name(scene)).map(Question::Read).into_iter().collect()
    }

    fn judge(&self, scene: &Scene<'_>, answers: &[Answer]) -> Verdict {
        self.compare(scene, answers).unwrap_or_else(|verdict| *verdict)
    }
}

impl Snapshot {
    fn compare(&self, scene: &Scene<'_>, answers: &[Answer]) -> Result<Verdict, Box<Verdict>> {
        let file = self.file.path(scene, || default_name(scene))?;
        let shown = GoldenFile::shown(&file);
        let prove = |verdict: Verdict| match scene.evidence.exchanges.len().checked_sub(1) {
            Some(last) => verdict.proof(last, ""),
            None => verdict,
        };
        if let (true, Some(error)) = (scene.output.is_null(), &scene.response.error) {
            return Ok(prove(Verdict::fail(format!("the response is an error: {error}"))));
        }
        let text = snapshot::text(scene.output, &self.masks);
        Ok(match content(answers)? {
            None if self.negated => Verdict::error(format!("snapshot {shown} does not exist")),
            None => {
                let reason = format!(
                    "snapshot {shown} does not exist; create it with `--update-snapshots` or by \
                     running outside CI"
                );
                prove(Verdict::fail(reason).proposing(file, text, true))
            }
            Some(kept) if kept == text => {
                let reason = format!("the response equals {shown}");
                prove(Verdict::of(!self.negated, reason))
            }
            Some(kept) => {
                let diff = text_diff::lines(&kept, &text);
                let reason = format!("the response differs from {shown}:\n{diff}");
                let verdict = prove(Verdict::of(self.negated, reason));
                if self.negated { verdict } else { verdict.proposing(file, text, false) }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use quintain_evidence::verdict::Status;
    use serde_json::{Value, json};

    use super::*;
    use crate::suite::NoFiles;
    use crate::testing::{
        TestScene, compile as compiled, compile_with, first_questions, only_check,
    };

    fn kept(text: &str) -> [Answer; 1] {
        [Answer::Value(text.into())]
    }

    const NONE: [Answer; 1] = [Answer::Value(Value::Null)];

    fn asked(stage: &TestScene, options: &str) -> Vec<Question> {
        let asserts = compiled(&format!("[{{type: snapshot{options}}}]"));
        stage.with(|scene| first_questions(only_check(&asserts), scene))
    }

    fn path(stage: &TestScene, options: &str) -> String {
        match &asked(stage, options)[..] {
            [Question::Read(file)] => file.full().display().to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_file_is_named_by_the_suite_or_the_test() {
        let mut stage = TestScene::output("x");
        stage.prompt = "{\"tool\": \"pay\"}".to_owned();
        assert_eq!(path(&stage, ""), "/suite/__snapshots__/tool-pay-84dd7513.snap");
        stage.test.description = Some("Paying in {{city}}".to_owned());
        stage.vars.insert("city".to_owned(), "Paris".into());
        assert_eq!(path(&stage, ""), "/suite/__snapshots__/paying-in-paris.snap");
        assert_eq!(path(&stage, ", value: a/b.snap"), "/suite/a/b.snap");
        assert_eq!(path(&stage, ", value: 'file://{{city}}.snap'"), "/suite/Paris.snap");
        let own = ", value: a/b.snap, perTarget: true";
        assert_eq!(path(&stage, own), "/suite/a/target.b.snap");
    }

    #[test]
    fn variables_do_not_lead_out_of_the_folder() {
        let mut stage = TestScene::output("x");
        stage.vars.insert("said".to_owned(), "../../etc/passwd".into());
        assert!(asked(&stage, ", value: '{{said}}'").is_empty());
        let verdict = stage.judge_with("[{type: snapshot, value: '{{said}}'}]", &NONE);
        assert_eq!(verdict.status, Status::Error);
        assert_eq!(verdict.proposal, None);
    }

    #[test]
    fn a_missing_file_is_proposed() {
        let verdict = TestScene::output("x").judge_with("[{type: snapshot, value: a.snap}]", &NONE);
        assert_eq!(verdict.status, Status::Fail);
        let proposal = verdict.proposal.unwrap();
        assert_eq!(
            (proposal.file.full().as_path(), proposal.text.as_str(), proposal.fresh),
            (Path::new("/suite/a.snap"), "x\n", true)
        );
        let verdict = TestScene::output("x").judge_with("[{type: not-snapshot}]", &NONE);
        assert_eq!((verdict.status, verdict.proposal), (Status::Error, None));
    }

    #[test]
    fn the_answer_is_compared_under_the_mask() {
        let stage = TestScene::output(json!([{"type": "text", "text": "{\"id\": 7, \"n\": 1}"}]));
        let yaml = "[{type: snapshot, value: a.snap, mask: [$.id]}]";
        let text = stage.judge_with(yaml, &NONE).proposal.unwrap().text;
        assert!(text.contains("\"id\": \"[masked]\""), "{text}");
        assert!(stage.judge_with(yaml, &kept(&text)).passed());
        assert!(stage.judge_with(yaml, &kept(&text.replace('\n', "\r\n"))).passed());
        let verdict = stage.judge_with(yaml, &kept(&text.replace("\"n\": 1", "\"n\": 2")));
        assert!(verdict.reason.starts_with("the response differs from a.snap:\n"));
        assert!(verdict.reason.contains("\"n\": 2\n+ "), "{}", verdict.reason);
        assert!(verdict.proposal.is_some_and(|proposal| !proposal.fresh));
        let not = "[{type: not-snapshot, value: a.snap, mask: [$.id]}]";
        assert!(!stage.judge_with(not, &kept(&text)).passed());
        let verdict = stage.judge_with(not, &kept("else"));
        assert_eq!((verdict.passed(), verdict.proposal), (true, None));
    }

    #[test]
    fn an_error_is_never_kept() {
        let mut stage = TestScene::output(Value::Null);
        stage.response.error = Some("it crashed".to_owned());
        let verdict = stage.judge_with("[{type: snapshot}]", &NONE);
        assert_eq!(verdict.reason, "the response is an error: it crashed");
        assert_eq!(verdict.proposal, None);
    }

    #[test]
    fn mistakes_are_reported_and_unread_files_are_errors() {
        for (options, part) in
            [("value: [a]", "the path of a file"), ("perTarget: 3", "`true` or `false`")]
        {
            let (_, complaints) =
                compile_with(&format!("[{{type: snapshot, {options}}}]"), &NoFiles);
            assert!(complaints.contains(part), "{complaints}");
        }
        let failed = [Answer::Failed("not a file".to_owned())];
        for answers in [&failed[..], &[]] {
            let verdict = TestScene::output("x").judge_with("[{type: snapshot}]", answers);
            assert_eq!(verdict.status, Status::Error);
        }
    }
}
