//! Runs one case: renders its template, sends it, judges the answer.

use std::borrow::Cow;
use std::time::Duration;

use quintain_content::jsonpath;
use quintain_evidence::code::Code;
use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use quintain_evidence::probe::{PlannedStep, Probe};
use quintain_evidence::response::Response;
use quintain_evidence::result::{CaseResult, CaseStatus, Grade, PromptText, SourcePlace};
use quintain_source::{Sources, Span};
use quintain_suite::plan::{self, Case, PlannedCase};
use quintain_suite::prepare::{PreparedCase, fill, prepare};
use quintain_suite::suite::{Prompt, PromptBody, Test, VarFile, resolve};
use serde_json::{Map, Value, json};

use super::mask::mask;
use super::open_targets::OpenTarget;
use super::{RunContext, within};
use crate::inquiry::Asker;
use crate::masked::MaskedCase;
use crate::targets::Ask;

/// The target's response to a case.
pub(super) struct Answered {
    pub(super) response: Response,
    attempts: u32,
}

/// The evidence of a case so far, and whom it asks.
pub(super) struct CaseState<'a> {
    pub(super) asker: Asker<'a>,
    pub(super) evidence: Evidence,
    /// The stored response of the target, if the case is judged again.
    recorded: Option<Result<Answered, String>>,
}

impl RunContext<'_> {
    /// Runs one case. Errors are part of the result.
    pub(super) async fn case(&self, planned_case: &PlannedCase) -> MaskedCase {
        let open_target = self.open_targets.get(planned_case.target);
        let prompt = &self.job.suite.tests.prompts[planned_case.prompt];
        self.rate_limit.wait().await;
        let case = &planned_case.case(self.job.suite);
        let mut carried = self.conversations.carried(case);
        carried.insert("__repeatIndex".to_owned(), planned_case.repeat.into());
        let PlannedCase { test_idx, column, repeat, .. } = planned_case;
        let step = format!("test-{test_idx}-prompt-{column}-repeat-{repeat}");
        carried.insert("__evalStepId".to_owned(), step.into());
        let mut draft = self.draft(case, open_target, prompt);
        let mut state = self.begin(planned_case, open_target).await;
        let prepared = self.prepared(prompt, case, open_target, carried, &mut state).await;
        match (&case.flaw, prepared) {
            (Some(flaw), _) => draft.error = Some(flaw.to_string()),
            (None, Err(error)) => {
                draft.error = Some(error);
                draft.evidence = state.evidence;
            }
            (None, Ok(prepared)) => {
                Box::pin(self.filled(case, open_target, &prepared, state, &mut draft)).await;
                draft.prompt.raw = prepared.prompt;
            }
        }
        let result = mask(draft, &self.job.world.redactor);
        let delay = self.job.settings.delay.or(open_target.target.delay);
        if let (Some(delay), None) = (delay, self.job.recording) {
            tokio::time::sleep(delay).await;
        }
        result
    }

    /// The initial state of a case: empty, or with the recorded evidence.
    async fn begin<'a>(
        &'a self,
        planned_case: &PlannedCase,
        open_target: &'a OpenTarget<'_>,
    ) -> CaseState<'a> {
        let asker = Asker {
            answer_sources: &self.answer_sources,
            target: Some(open_target),
            repetition: planned_case.repeat as usize,
        };
        let Some(recording) = self.job.recording else {
            return CaseState { asker, evidence: Evidence::default(), recorded: None };
        };
        match recording.result(planned_case, self.job.settings.ask).await {
            Ok(CaseResult { evidence, mut response, attempts, .. }) => {
                if let Some(said) = response.untransformed.take() {
                    response.output = said;
                }
                CaseState { asker, evidence, recorded: Some(Ok(Answered { response, attempts })) }
            }
            Err(why) => {
                CaseState { asker, evidence: Evidence::default(), recorded: Some(Err(why)) }
            }
        }
    }

    async fn prepared(
        &self,
        prompt: &Prompt,
        case: &Case<'_>,
        open_target: &OpenTarget<'_>,
        mut carried: Map<String, Value>,
        state: &mut CaseState<'_>,
    ) -> Result<PreparedCase, String> {
        let CaseState { asker, evidence, .. } = state;
        for (name, value) in case.vars() {
            if let Some(VarFile::Code(code)) = case.test.file(value) {
                let vars = case.given(&carried);
                let made = asker.variable(code, name, &prompt.raw(), vars, evidence).await?;
                carried.insert(name.clone(), made);
            }
        }
        let prompt = self.written(prompt, case, open_target, &carried, state).await?;
        let speaks_mcp = open_target.speaks_mcp() && case.test.provider.is_none();
        prepare(case, &prompt, &carried, speaks_mcp, &self.templates)
            .map_err(|error| error.to_string())
    }

    /// The prompt. If it is a function, calls it.
    async fn written<'p>(
        &self,
        prompt: &'p Prompt,
        case: &Case<'_>,
        open_target: &OpenTarget<'_>,
        carried: &Map<String, Value>,
        state: &mut CaseState<'_>,
    ) -> Result<Cow<'p, Prompt>, String> {
        let PromptBody::Code(code) = &prompt.body else { return Ok(Cow::Borrowed(prompt)) };
        let vars =
            resolve(&case.given(carried), &self.templates).map_err(|error| error.to_string())?;
        let CaseState { asker, evidence, .. } = state;
        let text = asker.prompt(code, prompt, open_target.target, &vars, evidence).await?;
        Ok(Cow::Owned(Prompt { body: PromptBody::Text(text), ..prompt.clone() }))
    }

    /// The result of a case that did not run before the time limit of the run.
    pub(super) fn time_limit_result(&self, planned_case: &PlannedCase) -> MaskedCase {
        let prompt = &self.job.suite.tests.prompts[planned_case.prompt];
        let case = planned_case.case(self.job.suite);
        let mut draft = self.draft(&case, self.open_targets.get(planned_case.target), prompt);
        let millis = self.job.settings.max_time.unwrap_or_default().as_millis();
        draft.error = Some(format!("Evaluation exceeded max duration of {millis}ms"));
        mask(draft, &self.job.world.redactor)
    }

    async fn filled(
        &self,
        case: &Case<'_>,
        open_target: &OpenTarget<'_>,
        prepared: &PreparedCase,
        mut state: CaseState<'_>,
        draft: &mut CaseResult,
    ) {
        let limit = case.test.options.timeout.or(self.job.settings.timeout);
        let work = async {
            let mut answered = self.answer(case, open_target, prepared, &mut state).await;
            let graded = self.grade(case, open_target, prepared, &mut answered, &mut state).await;
            (answered, graded)
        };
        let Some((answered, graded)) = Box::pin(within(limit, work)).await else {
            let millis = limit.unwrap_or_default().as_millis();
            draft.error = Some(format!("Evaluation timed out after {millis}ms"));
            return;
        };
        draft.latency_ms = latency(&state.evidence);
        draft.attempts = answered.attempts;
        match graded {
            Ok((grade, graded)) => {
                apply_grade(draft, grade);
                draft.graded = graded.map(Box::new);
            }
            Err(error) => draft.error = Some(error),
        }
        if draft.status != CaseStatus::Errored {
            self.conversations.keep(case, &prepared.prompt, &answered.response);
        }
        draft.evidence = state.evidence;
        draft.response = answered.response;
    }

    /// The target's answer, or the recorded one.
    async fn answer(
        &self,
        case: &Case<'_>,
        open_target: &OpenTarget<'_>,
        prepared: &PreparedCase,
        state: &mut CaseState<'_>,
    ) -> Answered {
        let plain = |response| Answered { response, attempts: 0 };
        if let Some(output) = &case.test.provider_output {
            return plain(Response { output: output.clone(), ..Response::default() });
        }
        if let Some(recorded) = state.recorded.take() {
            return recorded.unwrap_or_else(|why| plain(Response::failed(why)));
        }
        if let Some(why) = open_target.closed() {
            return plain(Response::failed(why));
        }
        let probe = match &prepared.probe {
            Ok(probe) => probe,
            Err(error) => return plain(Response::failed(error.to_string())),
        };
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (exchanges, mut response) =
                match self.send(open_target, &case.test, probe, &prepared.vars).await {
                    Ok(sent) => sent,
                    Err(why) => return plain(Response::failed(why)),
                };
            // Retry only if the connection closed, so the target did not answer.
            let evidence = &mut state.evidence;
            evidence.exchanges = exchanges;
            let lost = evidence
                .last()
                .is_some_and(|exchange| matches!(exchange.outcome, Outcome::Closed { .. }));
            if !lost || attempts > self.job.settings.retries {
                if let Some(payload) = &prepared.payload {
                    response.metadata.insert("originalPayload".to_owned(), payload.clone());
                }
                if let Some(code) = open_target.transform_response() {
                    response = of_result(state, code, response).await;
                }
                if self.job.settings.fail_on_tool_error {
                    fail_on_tool_error(&state.evidence, &mut response);
                }
                return Answered { response, attempts };
            }
        }
    }

    async fn send(
        &self,
        open_target: &OpenTarget<'_>,
        test: &Test,
        probe: &Probe,
        vars: &Map<String, Value>,
    ) -> Result<(Vec<Exchange>, Response), String> {
        let mut evidence = Evidence::default();
        match probe {
            Probe::Text(prompt) => {
                let options = &test.options.raw;
                let ask = Ask { prompt, vars, templates: &self.target_templates, options };
                let outside = &self.answer_sources.external_services;
                let (exchange, response) = match &test.provider {
                    Some(named) => self.role_models.ask_named(named, &ask, outside).await?,
                    None => open_target.ask(&ask, outside).await,
                };
                Ok((vec![exchange], response))
            }
            Probe::Steps(steps) => {
                let mut known = vars.clone();
                for planned in steps {
                    let step = fill(planned, &known, &self.templates).map_err(|e| e.to_string())?;
                    let exchange = open_target.step(&step).await;
                    let result = exchange.outcome.result().cloned();
                    evidence.exchanges.push(exchange);
                    // Later steps need values of this result.
                    let Some(result) = result else { break };
                    capture(planned, &result, &mut known)?;
                }
                let response = Response::of_mcp(&evidence);
                Ok((evidence.exchanges, response))
            }
        }
    }

    pub(super) fn draft(
        &self,
        case: &Case<'_>,
        open_target: &OpenTarget<'_>,
        prompt: &Prompt,
    ) -> CaseResult {
        let prompt = PromptText { raw: String::new(), label: prompt.label.clone() };
        let planned_case = case.planned_case;
        CaseResult {
            test_idx: planned_case.test_idx,
            group: planned_case.group,
            prompt_idx: planned_case.column,
            repeat: planned_case.repeat,
            description: case.test.description.clone(),
            vars: case.vars().clone(),
            test: test_json(&case.test, case.vars()),
            place: place(self.job.sources, case.test.span),
            ..CaseResult::blank(planned_case.ordinal, plan::name(open_target.target), prompt)
        }
    }
}

/// Applies `transformResponse` of an MCP target to the result of a tool call.
async fn of_result(state: &mut CaseState<'_>, code: &Code, response: Response) -> Response {
    let Some(result) = &response.raw else { return response };
    let context = Value::Object(response.metadata.clone());
    let given = [("result", result), ("content", &response.output), ("context", &context)];
    let CaseState { asker, evidence, .. } = state;
    match asker.run(code, "get_transform", &given, evidence).await {
        Ok(made) => {
            let mut made = Response::of_code(made);
            made.raw.get_or_insert_with(|| result.clone());
            for (name, value) in response.metadata {
                made.metadata.entry(name).or_insert(value);
            }
            made
        }
        Err(why) => {
            let error = Some(format!("Failed to transform MCP response: {why}"));
            Response { error, output: Value::Null, ..response }
        }
    }
}

fn apply_grade(draft: &mut CaseResult, grade: Grade) {
    draft.status = if grade.pass { CaseStatus::Passed } else { CaseStatus::Failed };
    draft.score = grade.score;
    draft.named_scores.clone_from(&grade.named_scores);
    draft.error = (!grade.pass).then(|| grade.reason.clone());
    draft.grade = Some(grade);
}

/// Stores values of a result as variables for later steps.
fn capture(
    planned: &PlannedStep,
    result: &Value,
    known: &mut Map<String, Value>,
) -> Result<(), String> {
    for (name, path) in &planned.capture {
        let found = jsonpath::query(path, result).map_err(|error| error.to_string())?;
        let Some(first) = found.first() else {
            return Err(format!("`capture` found nothing at {path} for `{name}`"));
        };
        known.insert(name.clone(), (*first).clone());
    }
    Ok(())
}

fn fail_on_tool_error(evidence: &Evidence, response: &mut Response) {
    if let Some(Outcome::ToolError(_)) = evidence.last().map(|exchange| &exchange.outcome) {
        let texts = evidence.last().map(|exchange| exchange.outcome.texts().join("\n"));
        response.error = Some(format!("MCP tool error: {}", texts.unwrap_or_default()));
    }
}

fn latency(evidence: &Evidence) -> f64 {
    let took: Duration = evidence.exchanges.iter().map(|exchange| exchange.took).sum();
    took.as_secs_f64() * 1e3
}

/// The file, line and column of a span, counted from 1.
pub(super) fn place(sources: &Sources, span: Span) -> Option<SourcePlace> {
    let file = sources.get(span.file).filter(|_| !span.is_empty())?;
    let position = file.position(span.start);
    Some(SourcePlace { file: file.name().to_owned(), line: position.line, column: position.column })
}

/// promptfoo's `testCase`.
fn test_json(test: &Test, vars: &Map<String, Value>) -> Value {
    let mut json = Map::new();
    if let Some(description) = &test.description {
        json.insert("description".into(), description.clone().into());
    }
    json.insert("vars".into(), vars.clone().into());
    let asserts = test.asserts.iter().map(|assert| assert.raw.clone());
    json.insert("assert".into(), asserts.collect());
    json.insert("options".into(), test.options.raw.clone().into());
    json.insert("metadata".into(), test.metadata.clone().into());
    if let Some(threshold) = test.threshold {
        json.insert("threshold".into(), json!(threshold));
    }
    Value::Object(json)
}
