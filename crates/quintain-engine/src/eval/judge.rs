//! Judges one answered case: runs transforms, views and inquiries, and combines the verdicts.

use std::borrow::Cow;

use quintain_evidence::answer_record::{AnswerRecord, KeptAnswer};
use quintain_evidence::evidence::Evidence;
use quintain_evidence::inquiry::{Inquiry, Next, Rounds};
use quintain_evidence::question::Question;
use quintain_evidence::response::Response;
use quintain_evidence::result::Grade;
use quintain_evidence::verdict::{Status, Verdict};
use quintain_suite::check::{Check, Scene, View};
use quintain_suite::plan::Case;
use quintain_suite::prepare::Prepared;
use quintain_suite::scoring::{Judged, Set, combine};
use quintain_suite::suite::{Assert, Rule};
use serde_json::{Value, json};

use super::RunContext;
use super::case::{Answered, CaseState, place};
use super::open_targets::OpenTarget;
use crate::inquiry::{AskMode, Asker, CodeError, Purpose, SnapshotWrites};

pub(super) const TOO_MANY_ROUNDS: &str =
    "the assertion exceeded the maximum number of rounds of questions";

/// What all assertions of a case see.
struct Bench<'a> {
    case: &'a Case<'a>,
    open_target: &'a OpenTarget<'a>,
    prepared: &'a Prepared,
    response: &'a Response,
    latency_ms: Option<f64>,
}

impl RunContext<'_> {
    /// The grade of a case, or the reason why it cannot be judged.
    pub(super) async fn grade(
        &self,
        case: &Case<'_>,
        open_target: &OpenTarget<'_>,
        prepared: &Prepared,
        answered: &mut Answered,
        state: &mut CaseState<'_>,
    ) -> Result<Grade, String> {
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
        let bench = Bench {
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
            let judges = self.verdicts(entries, &bench, asker, evidence).await;
            let mut verdicts = judges.into_iter();
            judged.extend(entries.iter().map(|entry| self.entry(entry, &bench, &mut verdicts)));
            if let Some(one) = judged.last()
                && self.fail_fast
                && one.verdict.status == Status::Fail
            {
                return Err(one.verdict.reason.clone());
            }
        }
        let threshold = case.test.threshold;
        let grade = combine(judged, threshold)?;
        match &case.test.scoring {
            Some(code) if !asserts.is_empty() => {
                asker.scoring(code, grade, threshold, evidence).await
            }
            _ => Ok(grade),
        }
    }

    /// An entry with its verdict, taken from `verdicts`. A set takes one per member.
    fn entry(
        &self,
        assert: &Assert,
        bench: &Bench<'_>,
        verdicts: &mut std::vec::IntoIter<Verdict>,
    ) -> Judged {
        let (verdict, set) = match &assert.rule {
            Rule::Check(_) => {
                let missing = || Verdict::error("the assertion was not judged");
                (verdicts.next().unwrap_or_else(missing), None)
            }
            Rule::Set { asserts, threshold } => {
                let members = asserts.iter().map(|member| self.entry(member, bench, verdicts));
                let members = members.collect();
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

    /// The verdicts of all checks in these entries, including those in sets, in order.
    async fn verdicts(
        &self,
        entries: &[&Assert],
        bench: &Bench<'_>,
        asker: &Asker<'_>,
        evidence: &mut Evidence,
    ) -> Vec<Verdict> {
        let mut leaves = Vec::new();
        entries.iter().for_each(|entry| collect_checks(entry, &mut leaves));
        let mut views = Vec::with_capacity(leaves.len());
        for (assert, _) in &leaves {
            views.push(viewed(assert, bench, asker, evidence).await);
        }
        let mut judging = Vec::new();
        let mut slow = Vec::new();
        for ((_, check), viewed) in leaves.iter().zip(&views) {
            let Ok(viewed) = viewed else { continue };
            let scene = self.scene(bench, &viewed.output, viewed.script_value.as_ref(), evidence);
            if let Some(work) = check.slow_verdict(&scene) {
                slow.push((judging.len() + slow.len(), tokio::task::spawn_blocking(work)));
            } else {
                judging.push(Judging { run_context: self, bench, check: *check, viewed });
            }
        }
        let mut judged = asker.pursue(&judging, evidence).await;
        drop(judging);
        for (at, work) in slow {
            let ended = |_| Verdict::error("the thread of the assertion ended");
            judged.insert(at, work.await.unwrap_or_else(ended));
        }
        let mut judged = judged.into_iter();
        let missing = || Verdict::error("the assertion was not judged");
        let verdicts = views.into_iter().map(|viewed| match viewed {
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
        let (file, snapshots) = (proposal.file.clone(), &self.respondents.snapshots);
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
        bench: &'s Bench<'_>,
        output: &'s Value,
        script_value: Option<&'s Value>,
        evidence: &'s Evidence,
    ) -> Scene<'s> {
        Scene {
            output,
            response: bench.response,
            evidence,
            surfaces: &bench.open_target.surfaces,
            vars: &bench.prepared.vars,
            prompt: &bench.prepared.prompt,
            test: &bench.case.test,
            target: bench.open_target.target.name(),
            definition: Some(bench.open_target.target),
            latency_ms: bench.latency_ms,
            templates: &self.templates,
            script_value,
        }
    }
}

/// All checks of an entry, in order.
fn collect_checks<'a>(entry: &'a Assert, leaves: &mut Vec<(&'a Assert, &'a dyn Check)>) {
    match &entry.rule {
        Rule::Check(check) => leaves.push((entry, check.as_ref())),
        Rule::Set { asserts, .. } => asserts.iter().for_each(|one| collect_checks(one, leaves)),
    }
}

/// What one assertion sees.
struct Viewed<'a> {
    output: Cow<'a, Value>,
    script_value: Option<Value>,
}

/// What an assertion sees after its transform, or its verdict if there is nothing to check.
async fn viewed<'a>(
    assert: &Assert,
    bench: &Bench<'a>,
    asker: &Asker<'_>,
    evidence: &mut Evidence,
) -> Result<Viewed<'a>, Box<Verdict>> {
    let view = assert.view.or(bench.case.test.options.view).unwrap_or(View::Output);
    let answered = evidence.last().is_none_or(|last| last.outcome.is_answer());
    if let Some(error) = &bench.response.error
        && !assert.wants_errors()
        && !answered
    {
        // Without an answer, an assertion can neither pass nor fail.
        return Err(Box::new(Verdict::error(error)));
    }
    let mut output = match view.of(&bench.response.output, bench.response, evidence) {
        // The output of a refused request is its error message.
        Ok(_) if view == View::Output && bench.response.error.is_some() => {
            Cow::Owned(Value::String(bench.response.error.clone().unwrap_or_default()))
        }
        Ok(output) => output,
        Err(why) => return Err(Box::new(Verdict::fail(why))),
    };
    let context = || context(bench.prepared, bench.response);
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
    Ok(Viewed { output, script_value })
}

/// A check with what it sees.
struct Judging<'a> {
    run_context: &'a RunContext<'a>,
    bench: &'a Bench<'a>,
    check: &'a dyn Check,
    viewed: &'a Viewed<'a>,
}

impl Inquiry for Judging<'_> {
    type Outcome = Verdict;

    fn next(&self, evidence: &Evidence, rounds: &Rounds) -> Next<Verdict> {
        let Viewed { output, script_value } = self.viewed;
        let scene = self.run_context.scene(self.bench, output, script_value.as_ref(), evidence);
        match self.check.next(&scene, rounds) {
            // `Check::asks` must be accurate: the list of a suite's effects relies on it.
            Next::Ask(_) if !self.check.asks() => {
                Next::Done(Verdict::error("the assertion asks a question without declaring it"))
            }
            next => next,
        }
    }

    fn unfinished(&self) -> Verdict {
        Verdict::error(TOO_MANY_ROUNDS)
    }
}

/// The `context` argument of user code.
fn context(prepared: &Prepared, response: &Response) -> Value {
    json!({
        "vars": prepared.vars,
        "prompt": {"raw": prepared.prompt, "label": prepared.prompt},
        "metadata": response.metadata,
    })
}
