//! Judges one answered case: runs transforms, views and inquiries, and combines the verdicts.

use std::borrow::Cow;

use quintain_evidence::answer_record::{AnswerRecord, KeptAnswer};
use quintain_evidence::evidence::Evidence;
use quintain_evidence::graded::GradedTrace;
use quintain_evidence::inquiry::{Inquiry, Next, Rounds};
use quintain_evidence::question::Question;
use quintain_evidence::response::Response;
use quintain_evidence::result::Grade;
use quintain_evidence::verdict::{Status, Verdict};
use quintain_suite::check::{Check, Scene, View};
use quintain_suite::plan::Case;
use quintain_suite::prepare::PreparedCase;
use quintain_suite::scoring::{Judged, Set, combine, explain};
use quintain_suite::suite::{Assert, Rule};
use serde_json::{Value, json};

use super::RunContext;
use super::case::{Answered, CaseState, place};
use super::measure::Measured;
use super::open_targets::OpenTarget;
use crate::inquiry::{AskMode, Asker, CodeError, Purpose, SnapshotWrites};

pub(super) const TOO_MANY_ROUNDS: &str =
    "the assertion exceeded the maximum number of rounds of questions";

/// What all assertions of a case see.
struct JudgeContext<'a> {
    case: &'a Case<'a>,
    open_target: &'a OpenTarget<'a>,
    prepared: &'a PreparedCase,
    response: &'a Response,
    latency_ms: Option<f64>,
}

impl RunContext<'_> {
    /// The grade of a case and what metrics say about it, or the reason why it cannot be judged.
    pub(super) async fn grade(
        &self,
        case: &Case<'_>,
        open_target: &OpenTarget<'_>,
        prepared: &PreparedCase,
        answered: &mut Answered,
        state: &mut CaseState<'_>,
    ) -> Result<(Grade, Option<GradedTrace>), String> {
        let asserts = &case.test.asserts;
        let Answered { response, .. } = answered;
        let CaseState { asker, evidence, .. } = state;
        if let Some(error) = &response.error {
            if !asserts.iter().any(|assert| assert.wants_errors()) {
                return Err(error.clone());
            }
        } else {
            if response.output.is_null() {
                return Err("No output".to_owned());
            }
            let transforms = [&open_target.target.transform, &case.test.options.transform];
            for code in transforms.into_iter().flatten() {
                let context = context(prepared, response);
                let made = asker.transform(code, &response.output, &context, evidence).await?;
                let before = std::mem::replace(&mut response.output, made);
                response.untransformed.get_or_insert(before);
            }
        }
        let took: f64 =
            evidence.exchanges.iter().map(|exchange| exchange.took.as_secs_f64() * 1e3).sum();
        let judge_context = JudgeContext {
            case,
            open_target,
            prepared,
            response,
            latency_ms: (!evidence.exchanges.is_empty()).then_some(took),
        };
        // Comparisons run later, when all answers are known.
        let entries: Vec<&Assert> = asserts
            .iter()
            .map(|assert| &**assert)
            .filter(|one| one.comparison().is_none())
            .collect();
        // All entries ask their questions together, unless the first failed assertion ends the case.
        let together = if self.fail_fast { 1 } else { entries.len().max(1) };
        let mut judged = Vec::with_capacity(entries.len());
        for entries in entries.chunks(together) {
            let judges = self.verdicts(entries, &judge_context, asker, evidence).await;
            let mut verdicts = judges.into_iter();
            judged.extend(
                entries.iter().map(|entry| self.entry(entry, &judge_context, &mut verdicts)),
            );
            if let Some(one) = judged.last()
                && self.fail_fast
                && one.verdict.status == Status::Fail
            {
                return Err(one.verdict.reason.clone());
            }
        }
        let measured = self.measure(case, open_target, prepared, response, asker, evidence).await;
        let (undefined, graded) = match measured {
            Some(Measured { judged: scores, undefined, graded }) => {
                judged.extend(scores);
                (undefined, Some(graded))
            }
            None => (Vec::new(), None),
        };
        let threshold = case.test.threshold;
        let mut grade = combine(judged, threshold).map_err(|mut unjudged| {
            // What the target did not answer is one error, however many assertions wait for it.
            if let Some(error) = &answered.response.error {
                unjudged.retain(|one| one.reason != *error);
                if unjudged.is_empty() {
                    return error.clone();
                }
            }
            explain(&unjudged)
        })?;
        grade.components.extend(undefined);
        let grade = match &case.test.scoring {
            Some(code) if !asserts.is_empty() => {
                asker.scoring(code, grade, threshold, evidence).await?
            }
            _ => grade,
        };
        Ok((grade, graded))
    }

    /// An entry with its verdict, taken from `verdicts`. A set takes one per member.
    fn entry(
        &self,
        assert: &Assert,
        judge_context: &JudgeContext<'_>,
        verdicts: &mut std::vec::IntoIter<Verdict>,
    ) -> Judged {
        let (verdict, set) = match &assert.rule {
            Rule::Check(_) => {
                let missing = || Verdict::error("the assertion was not judged");
                (verdicts.next().unwrap_or_else(missing), None)
            }
            Rule::Set { asserts, threshold } => {
                let members =
                    asserts.iter().map(|member| self.entry(member, judge_context, verdicts));
                let members = members.collect();
                (Verdict::pass(""), Some(Set { members, threshold: *threshold }))
            }
        };
        let metric = assert.metric.as_ref().map(|name| {
            self.templates
                .render(name, &judge_context.prepared.vars)
                .unwrap_or_else(|_| name.clone())
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

    /// The verdicts of all checks in these entries, including those in sets, in order.
    async fn verdicts(
        &self,
        entries: &[&Assert],
        judge_context: &JudgeContext<'_>,
        asker: &Asker<'_>,
        evidence: &mut Evidence,
    ) -> Vec<Verdict> {
        let mut checks = Vec::new();
        entries.iter().for_each(|entry| collect_checks(entry, &mut checks));
        let mut views = Vec::with_capacity(checks.len());
        for (assert, _) in &checks {
            views.push(check_input(assert, judge_context, asker, evidence).await);
        }
        let mut judging = Vec::new();
        let mut slow = Vec::new();
        for ((_, check), check_input) in checks.iter().zip(&views) {
            let Ok(check_input) = check_input else { continue };
            let scene = self.scene(
                judge_context,
                &check_input.output,
                check_input.script_value.as_ref(),
                evidence,
            );
            if let Some(work) = check.slow_verdict(&scene) {
                slow.push((judging.len() + slow.len(), tokio::task::spawn_blocking(work)));
            } else {
                judging.push(CheckInquiry {
                    run_context: self,
                    judge_context,
                    check: *check,
                    check_input,
                });
            }
        }
        let mut judged = asker.run_rounds(&judging, evidence).await;
        drop(judging);
        for (at, work) in slow {
            let ended = |_| Verdict::error("the thread of the assertion ended");
            judged.insert(at, work.await.unwrap_or_else(ended));
        }
        let mut judged = judged.into_iter();
        let missing = || Verdict::error("the assertion was not judged");
        let verdicts = views.into_iter().map(|check_input| match check_input {
            Ok(_) => judged.next().unwrap_or_else(missing),
            Err(verdict) => *verdict,
        });
        verdicts.map(|verdict| self.with_snapshot(verdict, evidence)).collect()
    }

    /// Writes the snapshot that a verdict proposes, if the run may. The written text replaces the stored one, so
    /// that judging again compares with it.
    fn with_snapshot(&self, mut verdict: Verdict, evidence: &mut Evidence) -> Verdict {
        let Some(proposal) = verdict.proposal.take() else { return verdict };
        let (settings, redactor) = (self.job.settings, &self.job.world.redactor);
        let is_offline = settings.ask == AskMode::Nothing;
        let writes = SnapshotWrites {
            differing: settings.update_snapshots && !is_offline,
            new: settings.write_new_snapshots && !is_offline,
        };
        let (file, snapshots) = (proposal.file.clone(), &self.answer_sources.snapshots);
        let verdict = snapshots.propose(proposal, verdict, writes, redactor);
        if let Some(text) = snapshots.written(&file) {
            let is_of_file = |record: &&mut AnswerRecord| match &record.question {
                Question::Read(read) => read.path == file.path,
                _ => false,
            };
            for record in evidence.answers.iter_mut().filter(is_of_file) {
                record.answer = KeptAnswer::Value(text.clone().into());
            }
        }
        verdict
    }

    fn scene<'s>(
        &'s self,
        judge_context: &'s JudgeContext<'_>,
        output: &'s Value,
        script_value: Option<&'s Value>,
        evidence: &'s Evidence,
    ) -> Scene<'s> {
        Scene {
            output,
            response: judge_context.response,
            evidence,
            surfaces: &judge_context.open_target.surfaces,
            vars: &judge_context.prepared.vars,
            prompt: &judge_context.prepared.prompt,
            test: &judge_context.case.test,
            target: judge_context.open_target.target.name(),
            definition: Some(judge_context.open_target.target),
            latency_ms: judge_context.latency_ms,
            templates: &self.templates,
            script_value,
        }
    }
}

/// All checks of an entry, in order.
fn collect_checks<'a>(entry: &'a Assert, checks: &mut Vec<(&'a Assert, &'a dyn Check)>) {
    match &entry.rule {
        Rule::Check(check) => checks.push((entry, check.as_ref())),
        Rule::Set { asserts, .. } => asserts.iter().for_each(|one| collect_checks(one, checks)),
    }
}

/// What one assertion sees.
struct CheckInput<'a> {
    output: Cow<'a, Value>,
    script_value: Option<Value>,
}

/// What an assertion sees after its transform, or its verdict if there is nothing to check.
async fn check_input<'a>(
    assert: &Assert,
    judge_context: &JudgeContext<'a>,
    asker: &Asker<'_>,
    evidence: &mut Evidence,
) -> Result<CheckInput<'a>, Box<Verdict>> {
    let view = assert.view.or(judge_context.case.test.options.view).unwrap_or(View::Output);
    let answered = evidence.last().is_none_or(|last| last.outcome.is_answer());
    if let Some(error) = &judge_context.response.error
        && !assert.wants_errors()
        && !answered
    {
        // Without an answer, an assertion can neither pass nor fail.
        return Err(Box::new(Verdict::error(error)));
    }
    let mut output = match view.of(&judge_context.response.output, judge_context.response, evidence)
    {
        // The output of a refused request is its error message.
        Ok(_) if view == View::Output && judge_context.response.error.is_some() => {
            Cow::Owned(Value::String(judge_context.response.error.clone().unwrap_or_default()))
        }
        Ok(output) => output,
        Err(why) => return Err(Box::new(Verdict::fail(why))),
    };
    let context = || context(judge_context.prepared, judge_context.response);
    if let Some(code) = &assert.transform {
        let made = asker.transform(code, &output, &context(), evidence).await;
        output = Cow::Owned(made.map_err(|error| Box::new(Verdict::error(error)))?);
    }
    let script_value = match &assert.script {
        None => None,
        Some(code) => {
            match asker.code(code, Purpose::Assert, &output, &context(), evidence).await {
                Ok(value) => Some(value),
                Err(CodeError::Failed(why)) => return Err(Box::new(Verdict::fail(why))),
                Err(CodeError::Unavailable(why)) => return Err(Box::new(Verdict::error(why))),
            }
        }
    };
    Ok(CheckInput { output, script_value })
}

/// A check with what it sees.
struct CheckInquiry<'a> {
    run_context: &'a RunContext<'a>,
    judge_context: &'a JudgeContext<'a>,
    check: &'a dyn Check,
    check_input: &'a CheckInput<'a>,
}

impl Inquiry for CheckInquiry<'_> {
    type Conclusion = Verdict;

    fn next(&self, evidence: &Evidence, rounds: &Rounds) -> Next<Verdict> {
        let CheckInput { output, script_value } = self.check_input;
        let scene =
            self.run_context.scene(self.judge_context, output, script_value.as_ref(), evidence);
        match self.check.next(&scene, rounds) {
            // `Check::asks` must be accurate: the list of a suite's effects relies on it.
            Next::Ask(_) if !self.check.asks() => {
                Next::Done(Verdict::error("the assertion asks a question without declaring it"))
            }
            next => next,
        }
    }

    fn is_unusable(&self, verdict: &Verdict) -> bool {
        verdict.status == Status::Error
    }

    fn unfinished(&self) -> Verdict {
        Verdict::error(TOO_MANY_ROUNDS)
    }
}

/// The `context` argument of user code.
fn context(prepared: &PreparedCase, response: &Response) -> Value {
    json!({
        "vars": prepared.vars,
        "prompt": {"raw": prepared.prompt, "label": prepared.prompt},
        "metadata": response.metadata,
    })
}
