//! Prepares and runs the grading of traces.

use std::io::Read as _;
use std::sync::Arc;

use quintain_evidence::event::{Column, RunInfo};
use quintain_evidence::result::TargetName;
use quintain_grade::evaluate::Grading;
use quintain_grade::meta_eval::CalibrationFile;
use quintain_grade::metrics;
use quintain_grade::readers::{self, ReadOptions, Reader, Router, surface_file};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::environment::{Jobs, Ready, Refusal, RequestNotice};
use super::eval::base_run_info;
use super::handle::{RunError, RunOutcome, Running};
use super::request::{GradeWork, RunRequest, TraceInput};
use crate::grade::{GradeRun, TraceSource, execute};
use crate::inquiry::AskMode;
use crate::masked;
use crate::metrics::MetricRequest;
use crate::models::{ModelAccess, ModelSettings};
use crate::policy::Policy;
use crate::role_models;
use crate::store::RunKind;

/// Maximum size of what comes through a pipe.
const MAX_PIPED: u64 = 256 << 20;

/// A grading that can start.
pub(super) struct PreparedGrade {
    sources: Vec<TraceSource>,
    format: Option<&'static dyn Reader>,
    read: ReadOptions,
    grading: Grading,
    models: ModelSettings,
    ask: AskMode,
    concurrency: usize,
    calibration: Option<CalibrationFile>,
}

pub(super) async fn prepare(
    jobs: &Jobs,
    request: &RunRequest,
    work: &GradeWork,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<Ready<PreparedGrade>, Refusal> {
    let mut is_valid = true;
    let mut wrong = |what: String, help: Option<String>| {
        notify(RequestNotice::Error(what, help));
        is_valid = false;
    };
    let format = work.format.as_deref().and_then(|name| {
        let found = readers::by_name(name);
        if found.is_none() {
            let help = format!("formats: {}", readers::names());
            wrong(format!("unknown format `{name}`"), Some(help));
        }
        found
    });
    let named = work.metrics.iter().map(|MetricRequest { name, options }| (name.as_str(), options));
    let compiled = metrics::compile_all(named).unwrap_or_else(|errors| {
        errors.0.iter().for_each(|error| {
            wrong(error.to_string(), Some("`quintain list metrics` lists them".to_owned()));
        });
        Vec::new()
    });
    let servers = match &work.surface {
        None => Vec::new(),
        Some(path) => match surface(jobs, path) {
            Ok(servers) => servers,
            Err(what) => {
                wrong(what, None);
                Vec::new()
            }
        },
    };
    let (mut sources, mut missing) = (Vec::new(), 0);
    for input in &work.inputs {
        match source(jobs, request, input).await {
            Ok(source) => sources.push(source),
            // The other files are graded, unless there is none.
            Err(what) if work.inputs.len() > 1 => {
                missing += 1;
                sources.push(TraceSource::Missing(what));
            }
            Err(what) => wrong(what, None),
        }
    }
    if missing > 0 && missing == sources.len() {
        for source in &sources {
            if let TraceSource::Missing(what) = source {
                wrong(what.clone(), None);
            }
        }
    }
    let calibration = work.calibration.as_deref().map(CalibrationFile::read);
    let calibration = calibration.transpose().unwrap_or_else(|error| {
        wrong(format!("the calibration cannot be used: {error}"), None);
        None
    });
    if let Err(error) = work.models.recorded() {
        wrong(error.to_string(), None);
    }
    if let Some(judge) = work.models.judge.as_ref().filter(|_| work.models.replay.is_none())
        && let Err(why) = role_models::check(judge, &ModelAccess::unconnected(&jobs.world))
    {
        wrong(format!("the judge cannot be asked: {why}"), None);
    }
    // A run that was graded before has the answers of its judge.
    let is_new = sources
        .iter()
        .any(|source| !matches!(source, TraceSource::Run(_, run) if run.kind == RunKind::Grade));
    let has_judge = work.models.judge.is_some() || work.models.replay.is_some();
    for metric in compiled.iter().filter(|metric| is_new && !has_judge && metric.needs_judge()) {
        let help = "name a model in the option `model` of the metric, or with `--judge MODEL`";
        let what = format!("the metric `{}` needs a judge, and none is named", metric.name());
        wrong(what, Some(help.to_owned()));
    }
    if !is_valid {
        return Err(Refusal::AlreadyReported);
    }
    let grading =
        Grading { metrics: compiled, calls: work.calls.clone(), fail_if: work.fail_if.clone() };
    let read = ReadOptions {
        router: work.router.as_ref().map(Router::from),
        servers,
        ..ReadOptions::default()
    };
    let target = TargetName { id: crate::grade::LABEL.to_owned(), label: None };
    let column =
        Column { target, prompt_idx: 0, raw: String::new(), label: crate::grade::LABEL.to_owned() };
    let info = RunInfo {
        description: request.description.clone(),
        columns: vec![column],
        options: work.options(),
        tags: request.tags.clone(),
        of_traces: true,
        ..base_run_info(request)
    };
    let info = masked::run(&info, &jobs.world.redactor).into_owned();
    let prepared = PreparedGrade {
        sources,
        format,
        read,
        grading,
        models: work.models.clone(),
        ask: work.ask,
        concurrency: work.concurrency.unwrap_or(4),
        calibration,
    };
    let world = work.models.clone().asked_again(work.ask == AskMode::Again).world(&jobs.world);
    Ok(Ready { world, ..Ready::new(jobs, request, info, None, prepared) })
}

fn surface(
    jobs: &Jobs,
    path: &std::path::Path,
) -> Result<Vec<quintain_evidence::trace::TraceServer>, String> {
    let shown = path.display();
    let full = jobs.world.cwd.join(path);
    // The local user can also name a pipe, such as `<(...)` of a shell.
    let is_pipe = *jobs.world.policy == Policy::everything()
        && std::fs::metadata(&full).is_ok_and(|found| !found.is_file() && !found.is_dir());
    let bytes = if is_pipe { piped(&full) } else { jobs.files.read(&full) };
    let bytes = bytes.map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`{shown}` is not UTF-8"))?;
    surface_file::servers(&text).ok_or_else(|| {
        format!("`{shown}` lists no tools; expected is a `tools/list` result or a list of servers")
    })
}

/// Everything that comes through a pipe.
fn piped(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_PIPED + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PIPED {
        let why = format!("it is larger than {} MiB", MAX_PIPED >> 20);
        return Err(std::io::Error::other(why));
    }
    Ok(bytes)
}

async fn source(
    jobs: &Jobs,
    request: &RunRequest,
    input: &TraceInput,
) -> Result<TraceSource, String> {
    match input {
        TraceInput::File(path) => {
            let name = path.display().to_string();
            let path = jobs.world.policy.file(&jobs.world.cwd.join(path));
            let path = path.map_err(|denied| format!("cannot read `{name}`: {denied}"))?;
            match std::fs::metadata(&path) {
                Err(error) => Err(format!("cannot read `{name}`: {error}")),
                Ok(found) if found.is_dir() => Err(format!("cannot read `{name}`: it is a folder")),
                Ok(_) => Ok(TraceSource::File { name, path }),
            }
        }
        TraceInput::Text { name, text } => {
            Ok(TraceSource::Text { name: name.clone(), text: Arc::from(text.as_str()) })
        }
        TraceInput::Run(id) => {
            let found = jobs.stored_run(id, request).await;
            let (store, run) = found.map_err(|refusal| refusal.to_string())?;
            Ok(TraceSource::Run(store.clone(), run))
        }
    }
}

impl GradeWork {
    /// The choices of the run as they are stored with it, so that it can be graded again.
    fn options(&self) -> Map<String, Value> {
        let mut options = Map::new();
        options.insert("metrics".to_owned(), json!(self.metrics));
        options.insert("calls".to_owned(), json!(self.calls));
        options.insert("failIf".to_owned(), json!(self.fail_if));
        self.models.note_judge(&mut options);
        options
    }

    /// The same choices from a stored run.
    pub fn of_options(options: &Map<String, Value>) -> Self {
        Self {
            metrics: stored(options, "metrics"),
            calls: stored(options, "calls"),
            fail_if: stored(options, "failIf"),
            models: ModelSettings::default().or_stored(options),
            ..Self::default()
        }
    }
}

fn stored<T: DeserializeOwned + Default>(options: &Map<String, Value>, name: &str) -> T {
    let value = options.get(name).cloned();
    value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

pub(super) async fn run(
    ready: Ready<PreparedGrade>,
    mut running: Running,
) -> Result<RunOutcome, RunError> {
    let Ready { info, world, store, work, .. } = ready;
    let redactor = &world.redactor;
    let writer = store.map(|store| store.start(&info, &[], redactor, running.slot.is_queued()));
    let emitter = &mut running.emitter;
    emitter.store_in(writer.as_ref());
    running.slot.wait_for_turn(&mut running.stop, writer.as_ref()).await;
    let PreparedGrade { sources, format, read, grading, models, ask, concurrency, calibration } =
        *work;
    let grade_run = GradeRun {
        sources,
        format,
        read,
        grading: &grading,
        info: &info,
        world: &world,
        models: &models,
        ask,
        concurrency,
        calibration: calibration.as_ref(),
    };
    let outcome = execute(grade_run, running.stop, writer, &mut |event| emitter.emit(event)).await;
    Ok(RunOutcome {
        summary: outcome.summary,
        unreachable: outcome.unreadable,
        store_error: outcome.store_error,
        ..RunOutcome::default()
    })
}
