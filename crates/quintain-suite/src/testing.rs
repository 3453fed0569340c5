//! Helpers for tests of assertions: compile YAML, judge a scene.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use quintain_content::registry::About;
use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use quintain_evidence::finding::{Confidence, Place};
use quintain_evidence::inquiry::{MAX_ROUNDS, Next, Rounds};
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::response::Response;
use quintain_evidence::result::{CaseResult, CaseStatus, Grade, PromptText, TargetName};
use quintain_evidence::static_finding::{FindingText, SurfaceInspection};
use quintain_evidence::surface::Surface;
use quintain_evidence::verdict::{Status, Verdict};
use quintain_evidence::weakness::Weakness;
use quintain_source::{Diagnostics, Nunjucks, Renderer, Severity, SourceFile, Sources, read};
use serde_json::{Map, Value, json};

use crate::check::{Check, Scene};
use crate::suite::{Assert, AssertReader, Files, NoFiles, Rule, Test};

/// Compiles a list of assertions; panics with the diagnostics if there are any.
pub(crate) fn compile(yaml: &str) -> Vec<Assert> {
    let (asserts, complaints) = compile_with(yaml, &NoFiles);
    assert!(complaints.is_empty(), "{complaints}");
    asserts
}

/// Compiles a list of assertions and renders the diagnostics.
pub(crate) fn compile_with(yaml: &str, files: &dyn Files) -> (Vec<Assert>, String) {
    let mut sources = Sources::new();
    let mut dx = Diagnostics::new();
    let id = sources.add(SourceFile::new("suite.yaml", yaml));
    let node = read(&sources, id, &mut dx).expect("YAML");
    let reader = AssertReader {
        base_dir: Path::new("/suite"),
        files,
        strictness: Severity::Error,
        is_literal: false,
    };
    let asserts = reader.list(&node, &mut dx);
    (asserts, Renderer::plain().render_all(&sources, &dx))
}

/// A scene with owned fields that a test can change.
#[derive(Default)]
pub(crate) struct TestScene {
    pub(crate) response: Response,
    pub(crate) evidence: Evidence,
    pub(crate) surfaces: Vec<(String, Surface)>,
    pub(crate) vars: Map<String, Value>,
    pub(crate) prompt: String,
    pub(crate) test: Test,
    pub(crate) latency_ms: Option<f64>,
}

impl TestScene {
    /// A target that returned this output.
    pub(crate) fn output(output: impl Into<Value>) -> Self {
        let response = Response { output: output.into(), ..Response::default() };
        Self { response, ..Self::default() }
    }

    /// A server `s` that responded to a call of `tool` with this outcome.
    pub(crate) fn called(tool: &str, arguments: Value, outcome: Outcome) -> Self {
        let mut stage = Self::output("");
        stage.evidence.exchanges.push(exchange(tool, arguments, outcome));
        stage.response = Response::of_mcp(&stage.evidence);
        stage
    }

    pub(crate) fn with<T>(&self, look: impl FnOnce(&Scene<'_>) -> T) -> T {
        let templates = Nunjucks::default();
        look(&Scene {
            output: &self.response.output,
            response: &self.response,
            evidence: &self.evidence,
            surfaces: &self.surfaces,
            vars: &self.vars,
            prompt: &self.prompt,
            test: &self.test,
            target: "target",
            definition: None,
            latency_ms: self.latency_ms,
            templates: &templates,
            script_value: None,
        })
    }

    /// The verdict of the only assertion in the YAML.
    pub(crate) fn judge(&self, yaml: &str) -> Verdict {
        self.judge_with(yaml, &[])
    }

    pub(crate) fn judge_with(&self, yaml: &str, answers: &[Answer]) -> Verdict {
        let asserts = compile(yaml);
        let check = only_check(&asserts);
        self.with(|scene| judged_with(check, scene, answers))
    }
}

/// A graded result with this output and no assertions.
pub(crate) fn result(output: &str) -> CaseResult {
    let target = TargetName { id: "t".to_owned(), label: None };
    let prompt = PromptText { raw: String::new(), label: String::new() };
    CaseResult {
        test: json!({}),
        status: CaseStatus::Passed,
        score: 1.0,
        response: Response::text(output),
        grade: Some(Grade {
            pass: true,
            score: 1.0,
            reason: String::new(),
            named_scores: BTreeMap::new(),
            named_weights: BTreeMap::new(),
            components: Vec::new(),
        }),
        attempts: 1,
        ..CaseResult::blank(0, target, prompt)
    }
}

/// The first questions of a check.
pub(crate) fn first_questions(check: &dyn Check, scene: &Scene<'_>) -> Vec<Question> {
    match check.next(scene, &Rounds::default()) {
        Next::Ask(questions) => questions,
        Next::Done(_) => Vec::new(),
    }
}

/// The verdict of a check that gets these answers, in the order of its questions.
pub(crate) fn judged_with(check: &dyn Check, scene: &Scene<'_>, answers: &[Answer]) -> Verdict {
    let mut left = answers.iter().cloned();
    let mut rounds = Rounds::default();
    for _ in 0..=MAX_ROUNDS {
        match check.next(scene, &rounds) {
            Next::Done(verdict) => return verdict,
            Next::Ask(questions) => {
                assert!(check.asks(), "`asks` must be true for a check with questions");
                let answers = left.by_ref().take(questions.len()).collect();
                rounds.push(questions, answers);
            }
        }
    }
    panic!("the check never stops asking");
}

/// A tool call and its outcome.
pub(crate) fn exchange(tool: &str, arguments: Value, outcome: Outcome) -> Exchange {
    Exchange::called("s", tool, arguments, outcome)
}

/// The error of an invalid assertion. It must also be reported when the suite is loaded.
pub(crate) fn flaw(yaml: &str, output: impl Into<Value>) -> String {
    let (asserts, complaints) = compile_with(yaml, &NoFiles);
    let verdict =
        TestScene::output(output).with(|scene| judged_with(only_check(&asserts), scene, &[]));
    assert_eq!(verdict.status, Status::Error);
    assert!(complaints.contains("this assertion cannot be evaluated"), "{complaints}");
    verdict.reason
}

pub(crate) fn only_check(asserts: &[Assert]) -> &dyn Check {
    match asserts {
        [Assert { rule: Rule::Check(check), .. }] => check.as_ref(),
        _ => panic!("one assertion was expected"),
    }
}

/// Whether the only assertion in the YAML passes on this output.
pub(crate) fn passes(yaml: &str, output: impl Into<Value>) -> bool {
    TestScene::output(output).judge(yaml).passed()
}

/// A target with one call of a tool that took ten milliseconds.
pub(crate) fn called(tool: &str, arguments: Value) -> TestScene {
    let mut stage = TestScene::output("x");
    let exchange = exchange(tool, arguments, Outcome::Reply(json!({"content": []})));
    stage.evidence.exchanges.push(exchange.within(Duration::from_millis(10)));
    stage
}

/// The inspections in tests: `tool-poisoning` finds tag characters in tools, the others find nothing.
pub(crate) static INSPECTIONS: &[&dyn SurfaceInspection] = &[
    &HiddenLetters("tool-poisoning"),
    &HiddenLetters("tool-shadowing"),
    &HiddenLetters("toxic-flow"),
    &HiddenLetters("tool-discovery"),
    &HiddenLetters("secrets"),
];

struct HiddenLetters(&'static str);

impl SurfaceInspection for HiddenLetters {
    fn meta(&self) -> About<'_> {
        About { id: self.0, aliases: &[], summary: "", docs: "", since: "" }
    }

    fn weakness(&self) -> Weakness<'_> {
        Weakness { severity: quintain_evidence::finding::Severity::High, cwe: &[], frameworks: &[] }
    }

    fn rule(&self) -> &str {
        self.0
    }

    fn inspect(&self, surfaces: &[(String, Surface)]) -> Vec<(FindingText, Option<Place>)> {
        let tools = surfaces.iter().flat_map(|(_, surface)| &surface.tools);
        let hidden = tools.filter(|tool| tool.0.to_string().contains('\u{e0041}'));
        let found = hidden.filter(|_| self.0 == "tool-poisoning").map(|tool| {
            let text = FindingText {
                title: "hidden letters".to_owned(),
                what: "seen".to_owned(),
                help: None,
                severity: None,
                confidence: Confidence::Suspected,
                note: None,
                fault: "hidden",
            };
            let tool = tool.name().unwrap_or_default().to_owned();
            (text, Some(Place::Tool { server: String::new(), tool }))
        });
        found.collect()
    }
}
