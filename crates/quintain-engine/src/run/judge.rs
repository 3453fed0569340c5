//! Judges one answered case: transforms, views, questions, verdicts.

use std::borrow::Cow;

use futures_util::future::{BoxFuture, FutureExt};
use quintain_evidence::evidence::{Evidence, Extra};
use quintain_evidence::probe::Step;
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::response::Response;
use quintain_evidence::result::Grade;
use quintain_evidence::verdict::{Status, Verdict};
use quintain_suite::check::{Check, Scene, View};
use quintain_suite::plan::Case;
use quintain_suite::prepare::Prepared;
use quintain_suite::scoring::{Judged, Set, combine};
use quintain_suite::suite::{Assert, Rule};
use serde_json::{Value, json};

use super::Floor;
use super::answers::Purpose;
use super::case::{Answered, place};
use super::lanes::Lane;

/// What all assertions of a case look at.
struct Bench<'a> {
    case: &'a Case<'a>,
    lane: &'a Lane<'a>,
    prepared: &'a Prepared,
    response: &'a Response,
    latency_ms: Option<f64>,
}

impl Floor<'_> {
    /// The grade of a case; none if it cannot be judged, with the reason.
    pub(super) async fn grade(
        &self,
        case: &Case<'_>,
        lane: &Lane<'_>,
        prepared: &Prepared,
        answered: &mut Answered,
    ) -> Result<Grade, String> {
        let asserts = &case.test.asserts;
        let Answered { evidence, response, .. } = answered;
        if let Some(error) = &response.error {
            if !asserts.iter().any(|assert| assert.wants_errors()) {
                return Err(error.clone());
            }
        } else {
            if response.output.is_null() {
                return Err("No output".to_owned());
            }
            let transforms = [&lane.target.transform, &case.test.options.transform];
            for code in transforms.into_iter().flatten() {
                let context = context(prepared, response);
                let made = self.answers.transform(code, &response.output, &context).await?;
                let before = std::mem::replace(&mut response.output, made);
                response.untransformed.get_or_insert(before);
            }
        }
        let took: f64 =
            evidence.exchanges.iter().map(|exchange| exchange.took.as_secs_f64() * 1e3).sum();
        let bench = Bench {
            case,
            lane,
            prepared,
            response,
            latency_ms: (!evidence.exchanges.is_empty()).then_some(took),
        };
        let mut judged = Vec::with_capacity(asserts.len());
        // What compares answers has its say when all of them are there.
        for assert in asserts.iter().filter(|assert| assert.comparison().is_none()) {
            let one = self.entry(assert, &bench, evidence).await;
            if self.hasty && one.verdict.status == Status::Fail {
                return Err(one.verdict.reason);
            }
            judged.push(one);
        }
        let threshold = case.test.threshold;
        let grade = combine(judged, threshold)?;
        Ok(match &case.test.scoring {
            Some(code) if !asserts.is_empty() => self.answers.scoring(code, grade, threshold).await,
            _ => grade,
        })
    }

    async fn entry(&self, assert: &Assert, bench: &Bench<'_>, evidence: &mut Evidence) -> Judged {
        let (verdict, set) = match &assert.rule {
            Rule::Check(check) => (self.check(assert, check.as_ref(), bench, evidence).await, None),
            Rule::Set { asserts, threshold } => {
                let members = self.members(asserts, bench, evidence).await;
                (Verdict::pass(""), Some(Set { members, threshold: *threshold }))
            }
        };
        let metric = assert.metric.as_ref().map(|name| {
            self.templates.render(name, &bench.prepared.vars).unwrap_or_else(|_| name.clone())
        });
        Judged {
            verdict,
            weight: assert.weight,
            metric,
            assertion: assert.raw.clone(),
            place: place(self.job.sources, assert.span),
            set,
        }
    }

    /// Boxed, since sets may contain sets.
    fn members<'f>(
        &'f self,
        asserts: &'f [Assert],
        bench: &'f Bench<'_>,
        evidence: &'f mut Evidence,
    ) -> BoxFuture<'f, Vec<Judged>> {
        async move {
            let mut judged = Vec::with_capacity(asserts.len());
            for assert in asserts {
                judged.push(self.entry(assert, bench, evidence).await);
            }
            judged
        }
        .boxed()
    }

    async fn check(
        &self,
        assert: &Assert,
        check: &dyn Check,
        bench: &Bench<'_>,
        evidence: &mut Evidence,
    ) -> Verdict {
        let view = assert.view.or(bench.case.test.options.view).unwrap_or(View::Output);
        let answered = evidence.last().is_none_or(|last| last.outcome.is_answer());
        if let Some(error) = &bench.response.error
            && !assert.wants_errors()
            && !answered
        {
            // Nothing can be said about an answer that did not come, neither for nor against.
            return Verdict::error(error);
        }
        let mut output = match view.of(&bench.response.output, bench.response, evidence) {
            // A refusal is what the target said.
            Ok(_) if view == View::Output && bench.response.error.is_some() => {
                Cow::Owned(Value::String(bench.response.error.clone().unwrap_or_default()))
            }
            Ok(output) => output,
            Err(why) => return Verdict::fail(why),
        };
        if let Some(code) = &assert.transform {
            let context = context(bench.prepared, bench.response);
            output = match self.answers.transform(code, &output, &context).await {
                Ok(output) => Cow::Owned(output),
                Err(error) => return Verdict::error(error),
            };
        }
        let script_value = match &assert.script {
            Some(code) => {
                let context = context(bench.prepared, bench.response);
                match self.answers.code(code, Purpose::Assert, &output, &context).await {
                    Ok(value) => Some(value),
                    Err(error) => return Verdict::fail(error),
                }
            }
            None => None,
        };
        let questions =
            check.questions(&self.scene(bench, &output, script_value.as_ref(), evidence));
        let mut answers = Vec::with_capacity(questions.len());
        let mut calls = Vec::new();
        for question in questions {
            answers.push(match question {
                Question::Call(step) => {
                    let nth = calls.iter().filter(|made| **made == step).count();
                    calls.push(step.clone());
                    self.call(bench, step, nth, evidence).await
                }
                Question::Read(file) => self.snapshots.read(&file),
                question => self.answers.answer(&question).await,
            });
        }
        let scene = self.scene(bench, &output, script_value.as_ref(), evidence);
        let mut verdict = check.judge(&scene, &answers);
        if let Some(proposal) = verdict.proposal.take() {
            let (settings, redactor) = (self.job.settings, &self.job.world.redactor);
            verdict = self.snapshots.propose(proposal, verdict, settings, redactor);
        }
        verdict
    }

    fn scene<'s>(
        &'s self,
        bench: &'s Bench<'_>,
        output: &'s Value,
        script_value: Option<&'s Value>,
        evidence: &'s Evidence,
    ) -> Scene<'s> {
        Scene {
            output,
            response: bench.response,
            evidence,
            surfaces: &bench.lane.surfaces,
            vars: &bench.prepared.vars,
            prompt: &bench.prepared.prompt,
            test: &bench.case.test,
            target: bench.lane.target.name(),
            definition: Some(bench.lane.target),
            latency_ms: bench.latency_ms,
            templates: &self.templates,
            script_value,
        }
    }

    /// Calls become evidence. Another check that asks the same gets the same answer; one that asks the
    /// same several times gets an answer for each time.
    async fn call(
        &self,
        bench: &Bench<'_>,
        step: Step,
        nth: usize,
        evidence: &mut Evidence,
    ) -> Answer {
        if let Some(exchange) = evidence.of_step(&step, nth) {
            return Answer::Exchange(Box::new(exchange.clone()));
        }
        let exchange = bench.lane.step(&step).await;
        evidence.extra.push(Extra { step, exchange: exchange.clone() });
        Answer::Exchange(Box::new(exchange))
    }
}

/// What the code of the user is told besides the output.
fn context(prepared: &Prepared, response: &Response) -> Value {
    json!({
        "vars": prepared.vars,
        "prompt": {"raw": prepared.prompt, "label": prepared.prompt},
        "metadata": response.metadata,
    })
}
