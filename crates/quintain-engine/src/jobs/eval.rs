//! Prepares and runs suites, and judges stored runs again.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use quintain_evidence::event::RunInfo;
use quintain_evidence::result::CaseStatus;
use quintain_suite::plan::{Among, Plan, Sameness, SelectError, Selection, TooManyCases, plan};
use quintain_suite::suite::{Consent, EvaluateOptions, Needed, Purpose, load};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::case_metrics::case_metrics;
use super::check_models::{check_judges, check_models};
use super::environment::{
    Jobs, LoadedSuite, Ready, Refusal, RequestNotice, files_of, refuse_running,
    set_working_directory,
};
use super::handle::{RunError, RunOutcome, Running};
use super::load_answers::LoadAnswers;
use super::loading::{LoadingFiles, load_for_run};
use super::request::{EvalWork, Overrides, RejudgeWork, RunRequest};
use crate::eval::{
    CaseMetrics, EvalRun, PreviousRun, Settings, StoredResponses, execute, stored_sameness,
};
use crate::inquiry::AskMode;
use crate::masked;
use crate::secrets::learn;
use crate::store::{Run, RunKind, SuiteText};
use crate::targets::kinds;
use crate::world::World;

/// Which cases a run has. Stored with the run, so that a later command can resume it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Choices {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_first_n: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_range: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_sample: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_sample_seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_targets: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_prompts: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    filter_metadata: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_failing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_failing_only: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_errors_only: Option<String>,
}

impl Choices {
    /// Reads what [`Choices::to_options`] wrote. Invalid options count as no options.
    pub fn of_options(options: &Map<String, Value>) -> Self {
        serde_json::from_value(Value::Object(options.clone())).unwrap_or_default()
    }

    fn to_options(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(options)) => options,
            _ => Map::new(),
        }
    }

    /// Fills gaps in the request from `commandLineOptions` of the suite.
    pub fn or(&self, suite: &Map<String, Value>) -> Self {
        let mut options = Self::of_options(suite).to_options();
        options.extend(self.to_options());
        Self::of_options(&options)
    }

    /// The earlier run to take tests from, and the statuses that select a test.
    pub fn failing(&self) -> Option<(&str, &'static [CaseStatus])> {
        use CaseStatus::{Errored, Failed};
        let named: [(&Option<String>, &'static [CaseStatus]); 3] = [
            (&self.filter_failing, &[Failed, Errored]),
            (&self.filter_failing_only, &[Failed]),
            (&self.filter_errors_only, &[Errored]),
        ];
        named.into_iter().find_map(|(run, statuses)| Some((run.as_deref()?, statuses)))
    }

    /// # Errors
    /// When a filter is invalid.
    pub fn selection(&self) -> Result<Selection, SelectError> {
        let regex = |pattern: &Option<String>| pattern.as_deref().map(Selection::regex).transpose();
        let metadata = self.filter_metadata.iter().map(|text| Selection::parse_metadata(text));
        Ok(Selection {
            pattern: regex(&self.filter_pattern)?,
            targets: regex(&self.filter_targets)?,
            prompts: regex(&self.filter_prompts)?,
            metadata: metadata.collect::<Result<_, _>>()?,
            range: self.filter_range.as_deref().map(Selection::parse_range).transpose()?,
            first: self.filter_first_n,
            sample: self.filter_sample.map(|count| (count, self.filter_sample_seed.unwrap_or(0))),
            among: None,
        })
    }
}

impl Overrides {
    /// Precedence: the request, the suite, the environment, the default.
    fn settings(&self, suite: &EvaluateOptions, env: &BTreeMap<String, String>) -> Settings {
        let millis = |name: &str| env.get(name)?.trim().parse::<u64>().ok();
        let limit = |given: Option<u64>, suite: Option<Duration>, variable: &str| {
            let given = given.map(Duration::from_millis).or(suite);
            let limit = given.or_else(|| millis(variable).map(Duration::from_millis));
            limit.filter(|limit| !limit.is_zero())
        };
        let delay = limit(self.delay_ms, suite.delay, "PROMPTFOO_DELAY_MS");
        let concurrency = self.concurrency.or(suite.max_concurrency).unwrap_or(4);
        Settings {
            // A delay between tests only works if they do not overlap.
            concurrency: if delay.is_some() { 1 } else { concurrency.max(1) },
            delay,
            timeout: limit(self.timeout_ms, suite.timeout, "PROMPTFOO_EVAL_TIMEOUT_MS"),
            max_time: limit(self.max_time_ms, suite.max_eval_time, "PROMPTFOO_MAX_EVAL_TIME_MS"),
            rate: self.rate.or(suite.rate),
            retries: self.retries,
            fail_on_tool_error: self.fail_on_tool_error || suite.fail_on_tool_error,
            update_snapshots: self.update_snapshots,
            // In CI, a missing snapshot must fail, not be written.
            write_new_snapshots: !env.contains_key("CI"),
            ..Settings::default()
        }
    }
}

/// A suite run that is ready to start.
pub(super) struct PreparedEval {
    consent: Consent,
    plan: Plan,
    settings: Settings,
    previous: Option<PreviousRun>,
    recording: Option<StoredResponses>,
    metrics: Option<CaseMetrics>,
    /// Texts to store with the run in addition to its suite.
    extra_texts: Vec<SuiteText>,
}

pub(super) async fn prepare(
    jobs: &Jobs,
    request: &RunRequest,
    work: &EvalWork,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<Ready<PreparedEval>, Refusal> {
    let consent = Consent::of_the_user();
    let mut env = (*jobs.world.env).clone();
    env.extend(work.variables.clone());
    let redactor = &jobs.world.redactor;
    let (files, disk) = (files_of(&work.suite), LoadingFiles::called(jobs));
    let mut opened = load_for_run(jobs, consent, files, &env, disk.clone(), notify).await?;
    set_working_directory(
        opened.suite.targets.iter_mut().filter_map(|one| one.as_mcp_mut()),
        work.folder.as_ref(),
    )?;
    if opened.suite.targets.is_empty() {
        let help = "name what is under test: `targets: [{id: mcp, config: {server: ...}}]`";
        return Err(Refusal::usage("the suite has no target", help));
    }
    let resumed = match &work.resume {
        Some(resume) => {
            let (store, run) = jobs.stored_run(&resume.run, request).await?;
            refuse_running(&run)?;
            let info = store.info(&run).await?;
            Some((store.clone(), run, info, resume.retry_errors))
        }
        None => None,
    };
    let choices = match &resumed {
        Some((_, _, info, _)) => Choices::of_options(&info.options),
        None => Choices::of_options(&work.choices).or(&opened.suite.tests.command_line),
    };
    let usage = |what: String| Refusal::usage(what, None);
    let mut selection = choices.selection().map_err(|error| usage(error.to_string()))?;
    if let Some((run, statuses)) = choices.failing() {
        let tests = tests_with_status(run, statuses, jobs, request).await.map_err(usage)?;
        let redactor = redactor.clone();
        let stored = move |description: Option<&str>, vars: &Map<String, Value>| {
            stored_sameness(description, vars, &redactor)
        };
        selection.among = Some(Among { tests, stored: Box::new(stored) });
    }
    if opened.suite.tests.is_without_tests() {
        return Err(Refusal::nothing_selected(
            "the suite has no tests",
            match &opened.suite.tests.redteam {
                Some(_) => {
                    "attack its targets with `quintain redteam run`, or add `tests` or `prompts`"
                }
                None => "add `tests` or `prompts`",
            },
        ));
    }
    let options = &opened.suite.tests.options;
    if work.models.judge.is_some() {
        opened.suite.tests.tests.forget_default_judge();
    }
    let models = work.models.clone().or_suite(&opened.suite);
    check_models(&opened, &models, jobs, notify)?;
    let (models, judges_itself) = models.or_targets(&opened.suite);
    let settings = Settings { models, ..work.overrides.settings(options, &env) };
    let metrics = case_metrics(&opened, notify)?;
    settings.models.recorded().map_err(|error| usage(error.to_string()))?;
    let repeat = choices.repeat.or(options.repeat).unwrap_or(1);
    let plan = plan(&opened.suite, &selection, repeat).map_err(too_many)?;
    if plan.cases.is_empty() {
        let help = "remove or change a filter";
        return Err(Refusal::nothing_selected("the filters match no test, prompt or target", help));
    }
    if judges_itself && asks_default_judge(&plan, &opened) {
        notify(RequestNotice::Warning(
            "no judge is named; a model that the suite tests judges, perhaps its own answers; name one \
             with `--judge MODEL` or `judge` in the suite"
                .to_owned(),
        ));
    }
    check_judges(&opened, &plan, &settings.models, jobs, notify)?;
    let (info, previous) = if let Some((store, run, info, retry_errors)) = resumed {
        let previous = PreviousRun::of(store, run, &plan, retry_errors).await?;
        if previous.done.len() == plan.cases.len() {
            notify(RequestNotice::Warning(nothing_left(&previous.run, retry_errors)));
        }
        (RunInfo { planned: plan.cases.len(), ..info }, Some(previous))
    } else {
        let mut stored = choices.to_options();
        stored.insert("maxConcurrency".into(), settings.concurrency.into());
        if let Some(delay) = settings.delay {
            stored.insert("delay".into(), (delay.as_millis() as u64).into());
        }
        settings.models.note_judge(&mut stored);
        let info = RunInfo {
            description: request.description.clone().or(opened.suite.description.clone()),
            config: opened.suite.config(),
            columns: plan.columns.clone(),
            planned: plan.cases.len(),
            options: stored,
            tags: tags(&opened, request),
            ..base_run_info(request)
        };
        (masked::run(&info, redactor).into_owned(), None)
    };
    let world = World { env: env.into(), ..settings.models.world(&jobs.world) };
    let extra_texts = work.extra_texts.iter().cloned().chain(disk.text()).collect();
    let ready =
        PreparedEval { consent, plan, settings, previous, recording: None, metrics, extra_texts };
    Ok(Ready { world, ..Ready::new(jobs, request, info, Some(opened), ready) })
}

/// Whether a test asks a judge and names none.
fn asks_default_judge(plan: &Plan, opened: &LoadedSuite) -> bool {
    let mut tests = plan.cases.iter().map(|case| case.case(&opened.suite).test);
    tests.any(|test| test.models().iter().any(|asked| matches!(asked.model, Ok(None))))
}

/// Why resuming a run runs no test.
fn nothing_left(run: &Run, retry_errors: bool) -> String {
    let id = &run.id;
    let errored = run.counts.map_or(0, |counts| counts.errored);
    match errored {
        _ if retry_errors => format!("no test of {id} has an error; nothing is run"),
        0 => format!("every test of {id} has a result; nothing is run"),
        _ => format!(
            "every test of {id} has a result; nothing is run; \
             run tests with errors again with `--retry-errors {id}`"
        ),
    }
}

fn too_many(error: TooManyCases) -> Refusal {
    Refusal::usage(
        error.to_string(),
        "shorten the lists, lower `repeat`, or select fewer tests with a filter",
    )
}

pub(super) async fn prepare_rejudge(
    jobs: &Jobs,
    request: &RunRequest,
    work: &RejudgeWork,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<Ready<PreparedEval>, Refusal> {
    // Assertions written in code run here as in a normal run.
    let consent = Consent::of_the_user();
    let redactor = &jobs.world.redactor;
    let (store, run) = jobs.stored_run(&work.run, request).await?;
    if matches!(run.kind, RunKind::Redteam | RunKind::Replay) {
        return Err(Refusal::usage(
            format!("{} is a run of attacks, which have no assertions to judge", run.id),
            "`quintain replay` sends the requests of a finding again",
        ));
    }
    let previous = store.info(&run).await?;
    let files = files_of(&work.suite);
    // The stored run contains masks instead of secrets, so the suite must be masked the same way before the two are
    // compared. This first load finds the secrets without running code of the suite.
    let (disk, purpose) = (jobs.files.clone(), Purpose::Read(Needed::Nothing));
    let seen = load(files.clone(), &jobs.world.env, disk, purpose, &kinds());
    learn(&seen.secrets, redactor);
    let mask = |value: &String| redactor.text(value).into_owned();
    let env: BTreeMap<String, String> =
        jobs.world.env.iter().map(|(name, value)| (name.clone(), mask(value))).collect();
    let answers = LoadAnswers::take(&mut store.suite_texts(&run).await?);
    let disk = LoadingFiles::stored(jobs, answers, work.ask);
    let mut opened = load_for_run(jobs, consent, files, &env, disk.clone(), notify).await?;
    if work.models.judge.is_some() {
        opened.suite.tests.tests.forget_default_judge();
    }
    let repeat = Choices::of_options(&previous.options).repeat;
    let repeat = repeat.or(opened.suite.tests.options.repeat).unwrap_or(1);
    let mut plan = plan(&opened.suite, &Selection::default(), repeat).map_err(too_many)?;
    let (planned, id) = (plan.cases.len(), run.id.clone());
    let recording =
        StoredResponses::of(store.clone(), run, &opened.suite, &mut plan, redactor).await?;
    if plan.cases.len() < planned {
        let missing = planned - plan.cases.len();
        notify(RequestNotice::Warning(format!(
            "{missing} of {planned} tests have no stored response"
        )));
    }
    if plan.cases.is_empty() {
        let help = "Quintain matches tests by description and variables";
        return Err(Refusal::nothing_selected(
            format!("no test of this suite has a stored response in run {id}"),
            help,
        ));
    }
    let mut options = previous.options.clone();
    options.insert("rejudged".to_owned(), id.into());
    let info = RunInfo {
        description: opened.suite.description.clone().or(previous.description.clone()),
        columns: plan.columns.clone(),
        planned: plan.cases.len(),
        options,
        id: request.id.clone(),
        created: request.created.clone(),
        version: request.version.clone(),
        of_traces: false,
        ..previous
    };
    let info = masked::run(&info, redactor).into_owned();
    let models = work.models.clone().or_stored(&previous.options);
    let (models, _) = models.or_suite(&opened.suite).or_targets(&opened.suite);
    let settings = Settings {
        update_snapshots: work.update_snapshots,
        write_new_snapshots: !env.contains_key("CI"),
        ask: work.ask,
        models: models.asked_again(work.ask == AskMode::Again),
        ..Settings::default()
    };
    let world = World { env: env.into(), ..settings.models.world(&jobs.world) };
    let metrics = case_metrics(&opened, notify)?;
    let ready = PreparedEval {
        consent,
        plan,
        settings,
        previous: None,
        recording: Some(recording),
        metrics,
        extra_texts: work.extra_texts.iter().cloned().chain(disk.text()).collect(),
    };
    Ok(Ready { world, ..Ready::new(jobs, request, info, Some(opened), ready) })
}

/// Run information that contains only what the request states.
pub(super) fn base_run_info(request: &RunRequest) -> RunInfo {
    RunInfo {
        id: request.id.clone(),
        created: request.created.clone(),
        description: None,
        config: Value::Null,
        columns: Vec::new(),
        planned: 0,
        options: Map::new(),
        tags: request.tags.clone(),
        version: request.version.clone(),
        of_traces: false,
    }
}

/// The tags of the suite, overridden by those of the request.
fn tags(opened: &LoadedSuite, request: &RunRequest) -> BTreeMap<String, String> {
    let tags = opened.suite.tests.tags.iter().map(|(name, value)| match value {
        Value::String(text) => (name.clone(), text.clone()),
        other => (name.clone(), other.to_string()),
    });
    tags.chain(request.tags.clone()).collect()
}

pub(super) async fn run(
    ready: Ready<PreparedEval>,
    mut running: Running,
) -> Result<RunOutcome, RunError> {
    let Ready { info, opened, world, store, work } = ready;
    let Some(opened) = opened else { return Ok(RunOutcome::default()) };
    let redactor = &world.redactor;
    let writer = match (&work.previous, &store) {
        (Some(previous), _) => Some(previous.store.resume(&previous.run, redactor)),
        (None, Some(store)) => {
            let mut texts = texts_of(&opened);
            texts.extend(work.extra_texts);
            Some(store.start(&info, &texts, redactor, running.slot.is_queued()))
        }
        (None, None) => None,
    };
    let job = EvalRun {
        consent: work.consent,
        suite: &opened.suite,
        plan: &work.plan,
        sources: &opened.sources,
        world: &world,
        settings: &work.settings,
        info: &info,
        previous: work.previous.as_ref(),
        recording: work.recording.as_ref(),
        metrics: work.metrics.as_ref(),
    };
    let emitter = &mut running.emitter;
    emitter.store_in(writer.as_ref());
    running.slot.wait_for_turn(&mut running.stop, writer.as_ref()).await;
    let outcome = execute(&job, running.stop, writer, &mut |event| emitter.emit(event)).await;
    Ok(RunOutcome {
        summary: outcome.summary,
        unreachable: outcome.unreachable,
        rejected: outcome.rejected,
        time_limit_reached: outcome.time_limit_reached,
        store_error: outcome.store_error,
        ..RunOutcome::default()
    })
}

/// The suite files as stored with a run. The store masks secrets.
pub(super) fn texts_of(opened: &LoadedSuite) -> Vec<SuiteText> {
    let text = |file: &quintain_suite::suite::SuiteFile| SuiteText {
        name: file.name.clone(),
        base_dir: file.base_dir.clone(),
        text: file.text.clone(),
    };
    opened.files.iter().map(text).collect()
}

/// The tests that ended with one of `statuses` in an earlier run: a stored run or a JSON report.
async fn tests_with_status(
    wanted: &str,
    statuses: &[CaseStatus],
    jobs: &Jobs,
    request: &RunRequest,
) -> Result<HashSet<Sameness>, String> {
    let read = jobs.files.read(&jobs.world.cwd.join(Path::new(wanted)));
    if let Ok(bytes) = &read {
        return in_file(bytes, statuses).ok_or_else(|| {
            format!("`{wanted}` contains no results; name a run or a .json report")
        });
    }
    let is_file = Path::new(wanted).extension().is_some_and(|suffix| suffix == "json");
    if let (true, Err(error)) = (is_file, &read)
        && error.kind() == io::ErrorKind::NotFound
    {
        return Err(format!("cannot read `{wanted}`: {error}"));
    }
    // What must not be read can still be the name of a run.
    let denied = read.err().filter(|error| error.kind() == io::ErrorKind::PermissionDenied);
    let why = |other: String| denied.as_ref().map_or(other, ToString::to_string);
    if jobs.store.is_none() {
        return Err(why(format!("there is no run `{wanted}`")));
    }
    let mut found = HashSet::new();
    let run = jobs.stored_run(wanted, request).await;
    let (store, run) = run.map_err(|refusal| why(refusal.to_string()))?;
    let mut cases = store.cases(&run);
    while let Some(case) = cases.try_next().await.map_err(|error| error.to_string())? {
        let vars = case.test.get("vars").and_then(Value::as_object);
        if statuses.contains(&case.status) {
            let vars = vars.unwrap_or(&case.vars);
            found.insert(Sameness::new(case.description.as_deref(), vars));
        }
    }
    Ok(found)
}

fn in_file(bytes: &[u8], statuses: &[CaseStatus]) -> Option<HashSet<Sameness>> {
    let report: Value = serde_json::from_slice(bytes).ok()?;
    let rows = report.pointer("/results/results")?.as_array()?;
    let ended = rows.iter().filter(|row| {
        let status = match row.get("failureReason").and_then(Value::as_u64) {
            Some(1) => CaseStatus::Failed,
            Some(2) => CaseStatus::Errored,
            _ => CaseStatus::Passed,
        };
        statuses.contains(&status)
    });
    let empty = Map::new();
    let same = ended.map(|row| {
        let test = row.get("testCase");
        let vars = test.and_then(|test| test.get("vars")).and_then(Value::as_object);
        let description = test.and_then(|test| test.get("description")).and_then(Value::as_str);
        Sameness::new(description, vars.unwrap_or(&empty))
    });
    Some(same.collect())
}
