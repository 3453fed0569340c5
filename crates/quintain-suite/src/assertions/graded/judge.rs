//! The options that all assertions with a judge share, and how they ask: a [`Graded`] assertion asks in rounds until it
//! has a verdict.

use quintain_content::text::{fence, js};
use quintain_evidence::code::Code;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::question::{ModelQuestion, ModelRequest, ModelRole, Question};
use quintain_evidence::verdict::Verdict;
use quintain_judge::options::JudgeOptions;
use quintain_source::{Diagnostic, Node, Nunjucks};
use serde_json::Value;

use super::careful::{self, Criterion};
use super::failure::error;
use super::replies::Replies;
use super::rubric::{self, Rubric};
use crate::check::{Check, ModelTask, Scene, Spec, Test, WrittenModel};
use crate::rubric_prompt::{self, RubricPrompt};

/// The common options of an assertion that asks a judge.
pub(super) struct Judge {
    /// The type as written, without `not-`.
    pub(super) kind: String,
    pub(super) negated: bool,
    pub(super) threshold: Option<f64>,
    provider: Option<WrittenModel>,
    rubric_prompt: Option<RubricPrompt>,
    /// `judge`: asks more carefully than promptfoo does.
    pub(super) protocol: Option<JudgeOptions>,
}

/// What an assertion does next, or `Err` with the verdict that ends it early.
pub(super) type NextStep = Result<Next<Verdict>, Box<Verdict>>;

/// An assertion that asks a judge.
pub(super) trait Graded: Send + Sync {
    fn judge(&self) -> &Judge;

    fn tasks(&self) -> &'static [ModelTask] {
        &[ModelTask::Text]
    }

    /// What the judge is asked about, as written; none if it differs between cases or is not written in words.
    fn written(&self) -> Option<String> {
        None
    }

    /// What is judged, for the careful form; none if the assertion has none.
    fn criterion(&self, _: &Scene<'_>) -> Option<Result<Criterion, Box<Verdict>>> {
        None
    }

    /// The questions of the next round, or the verdict. `replies` are those to its questions so far.
    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep;
}

/// Makes a check of an assertion that asks a judge.
pub(super) fn asking(graded: impl Graded + 'static) -> Option<Box<dyn Check>> {
    Some(Box::new(Asking(graded)))
}

/// Rounds that an assertion needs at most: code for its context, and two for the judge. One that needs more gets no
/// answers.
const MAX_ROUNDS: usize = 3;

struct Asking<T>(T);

impl<T: Graded> Check for Asking<T> {
    fn next(&self, scene: &Scene<'_>, rounds: &Rounds) -> Next<Verdict> {
        let judge = self.0.judge();
        let replies = Replies::of(rounds, &judge.kind);
        if let (Some(options), Some(criterion)) = (&judge.protocol, self.0.criterion(scene)) {
            let model = match (criterion, scene.test.model(judge.provider(), ModelTask::Text)) {
                (Err(verdict), _) => return Next::Done(*verdict),
                (_, Err(why)) => return Next::Done(Verdict::error(why)),
                (Ok(criterion), Ok(model)) => (criterion, model.map(|named| named.value)),
            };
            let (criterion, model) = model;
            let asked = (judge.threshold, judge.negated);
            return match careful::next(&judge.kind, &criterion, options, asked, model, rounds) {
                Next::Done(verdict) => Next::Done(replies.counted(verdict)),
                ask @ Next::Ask(_) => ask,
            };
        }
        match self.0.step(scene, &replies).unwrap_or_else(|verdict| Next::Done(*verdict)) {
            Next::Done(verdict) => Next::Done(replies.counted(verdict)),
            Next::Ask(_) if rounds.len() >= MAX_ROUNDS => {
                let why = format!("the judge for `{}` was not asked", self.0.judge().kind);
                Next::Done(Verdict::error(why))
            }
            ask @ Next::Ask(_) => ask,
        }
    }

    fn asks(&self) -> bool {
        true
    }

    fn code(&self) -> Option<Code> {
        self.0.judge().rubric_prompt.as_ref()?.code().cloned()
    }

    fn model_tasks(&self) -> &'static [ModelTask] {
        self.0.tasks()
    }

    fn written_model(&self) -> Option<&WrittenModel> {
        self.0.judge().provider.as_ref()
    }

    fn lacks_rubric(&self, test: &Test) -> bool {
        let has_prompt =
            self.0.judge().rubric_prompt.is_some() || test.options.rubric_prompt.is_some();
        !has_prompt && self.0.written().is_some_and(|text| text.trim().is_empty())
    }

    fn judge_options(&self) -> Option<JudgeOptions> {
        self.0.judge().protocol.clone()
    }
}

impl Judge {
    pub(super) fn read(spec: &mut Spec<'_, '_>) -> Self {
        let rubric_prompt = spec.node.get("rubricPrompt");
        let rubric_prompt = rubric_prompt
            .and_then(|node| rubric_prompt::read(node, spec.base_dir, spec.files, spec.dx));
        Self {
            kind: spec.kind.to_owned(),
            negated: spec.negated,
            threshold: spec.threshold(),
            // Empty text counts as none here, but not in the options of a test.
            provider: spec
                .node
                .get("provider")
                .and_then(WrittenModel::of)
                .filter(|written| !js::is_falsy(&written.value)),
            rubric_prompt,
            protocol: spec.fields.get("judge").and_then(|node| protocol(node, spec)),
        }
    }

    /// The same for a type that `not-` does not invert.
    pub(super) fn without_negation(spec: &mut Spec<'_, '_>) -> Self {
        if spec.negated {
            let title = format!("`not-` has no effect on `{}`", spec.kind);
            let diagnostic = Diagnostic::new(spec.strictness, "config::no-negation", title);
            spec.dx.push(diagnostic.at(spec.node.span, "evaluated without `not-`"));
        }
        Self::read(spec)
    }

    /// `provider` of the assertion.
    pub(super) fn provider(&self) -> Option<&WrittenModel> {
        self.provider.as_ref()
    }

    /// The user's own prompt: that of the assertion, or of the options of the test.
    ///
    /// # Errors
    /// If the function that returns it throws.
    pub(super) fn rubric_prompt<'a>(
        &'a self,
        test: &'a Test,
        templates: &Nunjucks,
    ) -> Result<Option<&'a Value>, Box<Verdict>> {
        let value = |prompt: &'a RubricPrompt| {
            prompt.value(templates).or_else(|why| error(format!("rubricPrompt: {why}")))
        };
        for prompt in [&self.rubric_prompt, &test.options.rubric_prompt].into_iter().flatten() {
            let value = value(prompt)?;
            if !is_empty(value) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// A question for the model that the suite names for this task.
    pub(super) fn ask(
        &self,
        test: &Test,
        task: ModelTask,
        request: ModelRequest,
    ) -> Result<Question, Box<Verdict>> {
        let model = test.model(self.provider.as_ref(), task).or_else(error)?;
        Ok(Question::Model(ModelQuestion {
            role: ModelRole::Judge,
            asked_by: self.kind.clone(),
            model: model.map(|named| named.value),
            request,
            sample: 0,
            repetition: 0,
        }))
    }

    /// A question in words.
    pub(super) fn chat(&self, test: &Test, prompt: String) -> Result<Question, Box<Verdict>> {
        self.ask(test, ModelTask::Text, ModelRequest::Chat { prompt, schema: None })
    }

    /// The question about a prompt, its output and what the output is compared with: the named text, which the default
    /// rubric shows as `shown`.
    pub(super) fn compared_prompt(
        &self,
        scene: &Scene<'_>,
        default: &Rubric,
        (name, text): (&'static str, &str),
        shown: &str,
    ) -> Result<String, Box<Verdict>> {
        let output = scene.text();
        let Some(own) = self.rubric_prompt(scene.test, scene.templates)? else {
            return Ok(default.fill(&[
                ("input", &fence::quote(scene.prompt)),
                (name, shown),
                ("completion", &fence::quote(&output)),
            ]));
        };
        let vars = [
            ("input", scene.prompt.into()),
            (name, text.into()),
            ("completion", rubric::parsed(&output)),
        ];
        rubric::render(scene.templates, own, rubric::with(scene.vars, vars))
    }

    /// One question in words as the whole next round.
    pub(super) fn ask_once(&self, test: &Test, prompt: String) -> NextStep {
        Ok(Next::Ask(vec![self.chat(test, prompt)?]))
    }

    /// A verdict with a score, negated as promptfoo does it for most types.
    pub(super) fn scored(&self, pass: bool, score: f64, reason: impl Into<String>) -> Verdict {
        if self.negated {
            Verdict::new(!pass, 1.0 - score, reason)
        } else {
            Verdict::new(pass, score, reason)
        }
    }

    /// The score reaches the threshold, but for the last digit of a sum.
    pub(super) fn reaches(score: f64, threshold: f64) -> bool {
        score >= threshold - f64::EPSILON
    }
}

/// An empty prompt counts as none.
fn is_empty(prompt: &Value) -> bool {
    match prompt {
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        other => js::is_falsy(other),
    }
}

/// Reads `judge`.
fn protocol(node: &Node, spec: &mut Spec<'_, '_>) -> Option<JudgeOptions> {
    if !careful::TYPES.contains(&spec.kind) {
        let title = format!("`judge` has no effect on `{}`", spec.kind);
        let diagnostic = Diagnostic::new(spec.strictness, "config::no-judge", title);
        let types = careful::TYPES.join(", ");
        spec.dx.push(diagnostic.at(node.span, "").help(format!("it applies to {types}")));
        return None;
    }
    match JudgeOptions::read(&node.to_json()) {
        Ok(options) => Some(options),
        Err(errors) => {
            for error in errors {
                let diagnostic = Diagnostic::error("config::judge", error.message);
                spec.dx.push(diagnostic.at(node.span, ""));
            }
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::suite::NoFiles;
    use crate::testing::{compile, compile_with};

    #[test]
    fn the_careful_protocol_is_validated() {
        compile("[{type: llm-rubric, value: x, judge: {samples: 5, levels: 4, abstain: true}}]");
        for wrong in ["{samples: 0}", "{levels: 1}", "{abstain: maybe}", "{sample: 3}", "5"] {
            let yaml = format!("[{{type: llm-rubric, value: x, judge: {wrong}}}]");
            let (_, told) = compile_with(&yaml, &NoFiles);
            assert!(!told.is_empty(), "{wrong}");
        }
        let (_, told) = compile_with("[{type: similar, value: x, judge: {samples: 3}}]", &NoFiles);
        assert!(told.contains("no effect"), "{told}");
    }

    #[test]
    fn types_that_are_not_inverted_say_so() {
        for kind in ["factuality", "model-graded-closedqa", "pi"] {
            let yaml = format!("[{{type: not-{kind}, value: x, config: {{url: 'http://h'}}}}]");
            let (_, told) = compile_with(&yaml, &NoFiles);
            assert!(told.contains("`not-` has no effect"), "{kind}: {told}");
        }
    }
}
