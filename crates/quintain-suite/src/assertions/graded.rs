//! Assertion types that ask a judge for the verdict: a model, a classifier, an embedding, a person. The
//! table of types is in `types`.

mod types;

use serde_json::{Map, Value, json};

use super::trace_spans::trace;
use crate::check::{Assertion, Check, Expected, Scene, Spec};
use crate::promptfoo_spans::Span;
use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::question::{Answer, JudgeQuestion, Question};
use quintain_evidence::verdict::Verdict;

pub(super) use types::*;

/// A type of assertion that asks a judge.
pub(super) struct Graded {
    meta: &'static Meta,
    value: Form,
    /// The default threshold.
    threshold: Option<f64>,
    needs: &'static [Need],
}

/// What `value` may be. The text is the error message for any other value.
#[derive(Clone, Copy)]
enum Form {
    /// `value` is not used.
    None,
    /// Text, a list or a map; may be missing.
    Anything(&'static str),
    Text(&'static str),
    OptionalText(&'static str),
    /// Text, or a list of texts, each of which is one question.
    Texts(&'static str),
    /// A list of texts; may be missing.
    OptionalList(&'static str),
    /// Text, or `{goal: text}`.
    Goal(&'static str),
}

/// What a judge needs besides the output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// The output must be text.
    TextOutput(&'static str),
    /// The variable `query`.
    Query,
    /// The variable `context`, or `contextTransform`.
    Context,
    /// The same, with the prompt as the fallback.
    ContextOrPrompt,
    /// The steps of the case.
    Trajectory,
}

impl Assertion for Graded {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn compile(&self, spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
        let form = self.value;
        let criteria = spec.expect(move |value| form.read(value));
        // Reading the keys here keeps them from being reported as unknown.
        let given = |name: &str| Some((name.to_owned(), spec.node.get(name)?.to_json()));
        let names = ["provider", "rubricPrompt", "contextTransform", "config"];
        let options: Map<String, Value> = names.into_iter().filter_map(given).collect();
        let threshold = spec.threshold().or(self.threshold);
        Some(Box::new(Asking {
            kind: spec.kind.to_owned(),
            id: self.meta.id,
            criteria,
            options,
            threshold,
            scored: self.threshold.is_some(),
            needs: self.needs,
            negated: spec.negated,
        }))
    }
}

impl Form {
    /// The criteria; each becomes one question.
    fn read(self, value: Option<&Value>) -> Result<Vec<Value>, String> {
        let value = value.filter(|value| !value.is_null());
        let is_text = |items: &[Value]| items.iter().all(Value::is_string);
        let none = || Ok(vec![Value::Null]);
        match (self, value) {
            (Self::None, _)
            | (Self::Anything(_) | Self::OptionalText(_) | Self::OptionalList(_), None) => none(),
            (
                Self::Anything(_),
                Some(value @ (Value::String(_) | Value::Object(_) | Value::Array(_))),
            )
            | (
                Self::Text(_) | Self::OptionalText(_) | Self::Texts(_),
                Some(value @ Value::String(_)),
            ) => Ok(vec![value.clone()]),
            (Self::Texts(_), Some(Value::Array(items))) if !items.is_empty() && is_text(items) => {
                Ok(items.clone())
            }
            (Self::OptionalList(_), Some(value @ Value::Array(items))) if is_text(items) => {
                Ok(vec![value.clone()])
            }
            (Self::Goal(wrong), Some(value)) => {
                let goal = value.get("goal").unwrap_or(value).as_str().map(str::trim);
                let goal = goal.filter(|goal| !goal.is_empty());
                goal.map(|goal| vec![goal.into()]).ok_or_else(|| wrong.to_owned())
            }
            (
                Self::Anything(wrong)
                | Self::Text(wrong)
                | Self::OptionalText(wrong)
                | Self::Texts(wrong)
                | Self::OptionalList(wrong)
                | Self::Goal(wrong),
                _,
            ) => Err(wrong.to_owned()),
        }
    }
}

/// One assertion of a suite that asks a judge.
struct Asking {
    /// As written, without `not-`.
    kind: String,
    id: &'static str,
    criteria: Expected<Vec<Value>>,
    options: Map<String, Value>,
    threshold: Option<f64>,
    /// The score decides; `pass` of the judge does not count.
    scored: bool,
    needs: &'static [Need],
    negated: bool,
}

impl Check for Asking {
    fn next(&self, scene: &Scene<'_>, rounds: &Rounds) -> Next<Verdict> {
        rounds.once(|| self.questions(scene), |answers| self.judge(scene, answers))
    }

    fn asks(&self) -> bool {
        true
    }
}

impl Asking {
    fn questions(&self, scene: &Scene<'_>) -> Vec<Question> {
        self.asked(scene).unwrap_or_default()
    }

    fn judge(&self, scene: &Scene<'_>, answers: &[Answer]) -> Verdict {
        let questions = match self.asked(scene) {
            Ok(questions) => questions,
            Err(verdict) => return *verdict,
        };
        if answers.len() < questions.len() {
            return Verdict::error(format!("the judge for `{}` was not asked", self.kind));
        }
        let opinions: Result<Vec<Opinion>, String> =
            answers.iter().map(|answer| Opinion::read(answer, &self.kind)).collect();
        match opinions {
            Ok(opinions) => self.verdict(&opinions),
            Err(why) => Verdict::error(why),
        }
    }
}

impl Asking {
    /// One question for each criterion.
    fn asked(&self, scene: &Scene<'_>) -> Result<Vec<Question>, Box<Verdict>> {
        let criteria = self.criteria.get(scene)?;
        let mut told = Map::new();
        for need in self.needs {
            need.tell(scene, &self.kind, &self.options, &mut told)?;
        }
        // Options of the assertion override those of the test.
        for name in ["provider", "rubricPrompt"] {
            if let Some(value) = scene.test.options.raw.get(name) {
                told.insert(name.to_owned(), value.clone());
            }
        }
        told.extend(self.options.clone());
        told.insert("prompt".to_owned(), scene.prompt.into());
        told.insert("vars".to_owned(), scene.vars.clone().into());
        if let Some(threshold) = self.threshold {
            told.insert("threshold".to_owned(), json!(threshold));
        }
        let question = |value: &Value| {
            let mut criteria = told.clone();
            criteria.insert("value".to_owned(), value.clone());
            Question::Judge(JudgeQuestion {
                kind: self.kind.clone(),
                criteria: criteria.into(),
                output: scene.output.clone(),
            })
        };
        Ok(criteria.iter().map(question).collect())
    }

    fn verdict(&self, opinions: &[Opinion]) -> Verdict {
        // For `similar`, one of several texts is enough; the scores of other types are averaged.
        let any = self.id == "similar";
        let best = opinions.iter().max_by(|a, b| a.score.total_cmp(&b.score));
        let score = match best {
            Some(best) if any => best.score,
            _ => opinions.iter().map(|said| said.score).sum::<f64>() / opinions.len() as f64,
        };
        let reached = self.threshold.is_none_or(|threshold| score >= threshold);
        let agreed = self.scored || opinions.iter().all(|said| said.pass);
        let held = reached && agreed;
        let reasons = opinions.iter().filter(|said| !any || Some(*said) == best);
        let reasons = reasons.map(|said| said.reason.as_str()).filter(|text| !text.is_empty());
        let mut reason = reasons.collect::<Vec<_>>().join("\n\n");
        if reason.is_empty() {
            let shown = js::number((score * 1e3).round() / 1e3);
            reason = match self.threshold {
                Some(threshold) => {
                    let sign = if reached { "≥" } else { "<" };
                    format!("score {shown} {sign} {}", js::number(threshold))
                }
                None => format!("the judge answered {}", if held { "yes" } else { "no" }),
            };
        }
        let score = if self.negated { (1.0 - score).clamp(0.0, 1.0) } else { score };
        Verdict::new(held != self.negated, score, reason)
    }
}

/// The answer of a judge.
#[derive(Debug, Clone, PartialEq)]
struct Opinion {
    pass: bool,
    score: f64,
    reason: String,
}

impl Opinion {
    /// Reads `{pass, score, reason}`; one of the first two may be missing.
    fn read(answer: &Answer, kind: &str) -> Result<Self, String> {
        let said = match answer {
            Answer::Value(said) => said,
            Answer::Failed(why) => return Err(format!("the judge for `{kind}` failed: {why}")),
            Answer::Unavailable(why) => {
                return Err(format!("`{kind}` needs a model: {why}"));
            }
            Answer::Exchange(_) | Answer::Reply(_) => {
                return Err(format!("the judge for `{kind}` was not asked"));
            }
        };
        let pass = said.get("pass").and_then(Value::as_bool);
        let score = said.get("score").and_then(Value::as_f64).filter(|score| score.is_finite());
        let reason = said.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned();
        match (pass, score) {
            (Some(pass), None) => Ok(Self { pass, score: f64::from(u8::from(pass)), reason }),
            (pass, Some(score)) => Ok(Self { pass: pass.unwrap_or(true), score, reason }),
            (None, None) => {
                Err(format!("the answer of the judge for `{kind}` lacks `pass` and `score`"))
            }
        }
    }
}

impl Need {
    /// Adds what the judge needs.
    fn tell(
        self,
        scene: &Scene<'_>,
        kind: &str,
        options: &Map<String, Value>,
        told: &mut Map<String, Value>,
    ) -> Result<(), Box<Verdict>> {
        let error = |why: &str| Err(Box::new(Verdict::error(why)));
        match self {
            Self::TextOutput(wrong) if !scene.output.is_string() => return error(wrong),
            Self::TextOutput(_) => {}
            Self::Query => match scene.vars.get("query") {
                Some(query @ Value::String(_)) => {
                    told.insert("query".to_owned(), query.clone());
                }
                _ => {
                    return error(&format!(
                        "{kind} assertion requires a \"query\" variable with the user question"
                    ));
                }
            },
            Self::Context | Self::ContextOrPrompt => {
                let context = scene.vars.get("context").filter(|context| !js::is_falsy(context));
                match (context, self) {
                    (Some(context), _) => told.insert("context".to_owned(), context.clone()),
                    (None, Self::ContextOrPrompt) => {
                        told.insert("context".to_owned(), scene.prompt.into())
                    }
                    (None, _) if options.contains_key("contextTransform") => None,
                    (None, _) => {
                        return error(
                            "Context is required for context-based assertions. Provide either a \
                             \"context\" variable (string or array of strings) in your test case \
                             or use \"contextTransform\" to extract context from the provider \
                             response.",
                        );
                    }
                };
            }
            Self::Trajectory => {
                let trace = trace(scene, kind)?;
                let steps = trace.steps().map(Span::label).map(Value::String).collect();
                told.insert("trajectory".to_owned(), steps);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::verdict::Status;

    use super::*;
    use crate::testing::{
        TestScene, called, compile, first_questions, flaw, judged_with, only_check,
    };

    /// Every type with a valid value.
    const ALL: [(&str, &str); 21] = [
        ("llm-rubric", "polite"),
        ("agent-rubric", "polite"),
        ("search-rubric", "current"),
        ("g-eval", "[a, b]"),
        ("factuality", "Paris"),
        ("model-graded-factuality", "Paris"),
        ("model-graded-closedqa", "Paris"),
        ("answer-relevance", "null"),
        ("context-faithfulness", "null"),
        ("context-recall", "Paris"),
        ("context-relevance", "null"),
        ("conversation-relevance", "null"),
        ("similar", "[a, b]"),
        ("similar:cosine", "a"),
        ("similar:dot", "a"),
        ("similar:euclidean", "a"),
        ("classifier", "toxic"),
        ("moderation", "[hate]"),
        ("pi", "polite"),
        ("trajectory:goal-success", "{goal: pay}"),
        ("human", "null"),
    ];

    fn stage() -> TestScene {
        let mut stage = called("pay", json!({}));
        stage.prompt = "p".to_owned();
        stage.vars.insert("query".to_owned(), json!("q"));
        stage.vars.insert("context".to_owned(), json!("c"));
        stage
    }

    fn judged(options: &str, said: &[Value]) -> Verdict {
        let answers: Vec<Answer> = said.iter().cloned().map(Answer::Value).collect();
        stage().judge_with(&format!("[{{type: {options}}}]"), &answers)
    }

    #[test]
    fn without_a_judge_nothing_passes() {
        for (kind, value) in ALL {
            for not in ["", "not-"] {
                let asserts = compile(&format!("[{{type: '{not}{kind}', value: {value}}}]"));
                let check = only_check(&asserts);
                let questions = stage().with(|scene| first_questions(check, scene));
                assert!(!questions.is_empty(), "{kind} asks nothing");
                let nobody = |_: &Question| Answer::Unavailable("no judge is configured".into());
                let answers: Vec<Answer> = questions.iter().map(nobody).collect();
                for answers in [answers.as_slice(), &[]] {
                    let verdict = stage().with(|scene| judged_with(check, scene, answers));
                    assert_eq!(verdict.status, Status::Error, "{not}{kind}");
                }
                let verdict = stage().with(|scene| judged_with(check, scene, &answers));
                assert!(verdict.reason.contains("needs a model"), "{}", verdict.reason);
                let failed: Vec<Answer> =
                    questions.iter().map(|_| Answer::Failed("500".to_owned())).collect();
                let verdict = stage().with(|scene| judged_with(check, scene, &failed));
                assert_eq!(verdict.status, Status::Error, "{not}{kind}");
            }
        }
    }

    #[test]
    fn the_judge_is_told_what_it_needs() {
        let asserts = compile(
            "[{type: context-recall, value: '{{query}}?', threshold: 0.9, provider: m, config: {a: 1}}]",
        );
        let mut stage = stage();
        stage.test.options.raw.insert("provider".to_owned(), json!("other"));
        stage.test.options.raw.insert("rubricPrompt".to_owned(), json!("rp"));
        let asked = stage.with(|scene| first_questions(only_check(&asserts), scene));
        let [Question::Judge(question)] = asked.as_slice() else { panic!("{asked:?}") };
        assert_eq!((question.kind.as_str(), &question.output), ("context-recall", &json!("x")));
        assert_eq!(
            question.criteria,
            json!({"value": "q?", "threshold": 0.9, "provider": "m", "rubricPrompt": "rp",
                "config": {"a": 1}, "context": "c", "prompt": "p",
                "vars": {"query": "q", "context": "c"}})
        );
    }

    #[test]
    fn its_answer_is_the_verdict() {
        let verdict = judged("llm-rubric, value: x", &[json!({"pass": true, "reason": "fine"})]);
        assert_eq!((verdict.passed(), verdict.score, &*verdict.reason), (true, 1.0, "fine"));
        let low = json!({"pass": true, "score": 0.4});
        assert!(
            !judged("llm-rubric, value: x, threshold: 0.5", std::slice::from_ref(&low)).passed()
        );
        assert!(judged("llm-rubric, value: x", std::slice::from_ref(&low)).passed());
        let verdict = judged("not-llm-rubric, value: x", std::slice::from_ref(&low));
        assert_eq!((verdict.passed(), verdict.score), (false, 0.6));
        assert!(!judged("llm-rubric, value: x", &[json!({"pass": false, "score": 1})]).passed());
        let verdict = judged("not-answer-relevance", &[json!({"score": 0.2})]);
        assert_eq!((verdict.passed(), &*verdict.reason), (true, "score 0.2 < 0.5"));
        for said in [json!({}), json!("yes"), json!({"pass": "true"})] {
            assert_eq!(judged("not-llm-rubric, value: x", &[said]).status, Status::Error);
        }
    }

    #[test]
    fn several_criteria_are_averaged_and_one_likeness_is_enough() {
        let said = [json!({"score": 0.9, "reason": "a"}), json!({"score": 0.7, "reason": "b"})];
        let verdict = judged("g-eval, value: [a, b], threshold: 0.75", &said);
        assert_eq!((verdict.passed(), &*verdict.reason), (true, "a\n\nb"));
        assert!((verdict.score - 0.8).abs() < 1e-9);
        let verdict = judged("similar, value: [a, b], threshold: 0.85", &said);
        assert_eq!((verdict.passed(), verdict.score, &*verdict.reason), (true, 0.9, "a"));
        assert!(!judged("not-similar, value: [a, b], threshold: 0.85", &said).passed());
    }

    #[test]
    fn mistakes_are_reported_when_the_suite_is_loaded() {
        for (kind, value) in [
            ("llm-rubric", "5"),
            ("search-rubric", "[a]"),
            ("g-eval", "[1]"),
            ("factuality", "null"),
            ("context-recall", "{a: 1}"),
            ("similar", "[]"),
            ("classifier", "[a]"),
            ("moderation", "hate"),
            ("pi", "null"),
            ("'trajectory:goal-success'", "{aim: x}"),
        ] {
            flaw(&format!("[{{type: {kind}, value: {value}}}]"), "x");
        }
    }

    #[test]
    fn what_the_judge_would_miss_is_an_error_first() {
        let bare = TestScene::output(json!({"a": 1}));
        for (options, why) in [
            ("answer-relevance", "must evaluate a string output"),
            ("context-relevance", "requires a \"query\" variable"),
            ("'trajectory:goal-success', value: x", "No trace data available"),
        ] {
            let verdict = bare.judge(&format!("[{{type: {options}}}]"));
            assert_eq!(verdict.status, Status::Error);
            assert!(verdict.reason.contains(why), "{}", verdict.reason);
        }
        let mut asked = stage();
        asked.vars.remove("context");
        let verdict = asked.judge("[{type: context-relevance}]");
        assert!(verdict.reason.starts_with("Context is required"), "{}", verdict.reason);
    }
}
