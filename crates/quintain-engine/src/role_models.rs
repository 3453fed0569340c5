//! Who answers a question for a model: the model that a suite names at the question, a target of the suite that it names by
//! label or id, or the default of the role. Any target that takes text can be a judge.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_evidence::evidence::Exchange;
use quintain_evidence::model_reply::ModelReply;
use quintain_evidence::question::{Answer, ModelQuestion, ModelRequest, ModelRole};
use quintain_evidence::response::Response;
use quintain_llm::model::{Ability, unsupported};
use quintain_llm::{
    Asked, ChatRequest, Handle, JsonSchema, ModelError, ModelSpec, json_in, providers,
};
use quintain_source::{Nunjucks, Severity};
use quintain_suite::check::ModelTask;
use quintain_suite::suite::{
    Consent, Files, MCP, ModelKind, ModelTarget, Needed, Purpose, SuiteFile, Target,
    TargetKind as _, load,
};
use serde_json::{Map, Value, json};

use crate::external_services::ExternalServices;
use crate::files::{Disk, allowed};
use crate::inquiry::AskModel;
use crate::models::{
    ModelAccess, ModelSettings, NotConfigured, exchange_of, json_reply, reply_of, usage_of,
};
use crate::secrets::learn;
use crate::targets::{self, Ask, kinds};
use crate::world::World;

/// Whether a suite can name this as a model for a task: one of quintain-llm, or another target that takes text.
///
/// # Errors
/// Why it cannot be asked.
pub(crate) fn check_for(
    task: ModelTask,
    value: &Value,
    access: &ModelAccess,
) -> Result<(), NotConfigured> {
    check(value, access)?;
    let ability = match task {
        ModelTask::Text => Ability::Chat,
        ModelTask::Embedding => Ability::Embed,
        ModelTask::Classification => Ability::Classify,
        ModelTask::Moderation => Ability::Moderate,
    };
    let spec = ModelSpec::read(value).map_err(|error| NotConfigured::new(error.to_string()))?;
    if providers::find(&spec.id).is_none() {
        return Ok(());
    }
    let handle = access.handle(&spec)?;
    let abilities = handle.model().abilities();
    // Models that compare sentences answer `similar` without embeddings.
    if abilities.contains(&ability) || abilities.contains(&Ability::Compare) {
        return Ok(());
    }
    let why = unsupported(handle.model().name(), abilities, ability);
    Err(NotConfigured::new(why.to_string()))
}

/// The same for any task.
///
/// # Errors
/// Why it cannot be asked.
pub(crate) fn check(value: &Value, access: &ModelAccess) -> Result<(), NotConfigured> {
    let spec = ModelSpec::read(value).map_err(|error| NotConfigured::new(error.to_string()))?;
    match kinds().iter().find(|kind| kind.answers_to(&spec.id)) {
        Some(kind) if kind.meta().id == ModelKind.meta().id => access.handle(&spec).map(|_| ()),
        Some(kind) if kind.meta().id == MCP.id => {
            Err(NotConfigured::new("an MCP server cannot answer prompts"))
        }
        Some(_) => Ok(()),
        None => Err(NotConfigured(vec![providers::unknown(&spec.id)])),
    }
}

/// Why nobody answers for a role.
fn nobody(role: ModelRole) -> String {
    match role {
        ModelRole::Judge => "no judge is named; name one with `provider` of the assertion, \
                             `defaultTest.options.provider` or `--judge ID`"
            .to_owned(),
        ModelRole::Adversary => "no model is named; name one with `redteam.provider`".to_owned(),
    }
}

/// A suite with this model as its target.
fn file_of(model: &Value, folder: PathBuf) -> SuiteFile {
    let text: Arc<str> = json!({"targets": [model]}).to_string().into();
    // The name decides that unknown keys are no errors: models have many options.
    SuiteFile { name: "promptfooconfig.model.yaml".to_owned(), text, base_dir: folder }
}

/// Reads a model of a suite as if it were a target, to list what it would start, run and contact. Starts nothing.
pub fn read_only(model: &Value, folder: PathBuf, files: Arc<dyn Files>) -> Option<Target> {
    let purpose = Purpose::Read(Needed::Nothing);
    let loaded = load(vec![file_of(model, folder)], &BTreeMap::new(), files, purpose, &kinds());
    loaded.suite?.targets.pop()
}

/// Answers the questions of one run.
pub(crate) struct RoleModels<'a> {
    /// Targets that a question can name.
    targets: &'a [Target],
    /// `env` of the suite.
    env: &'a BTreeMap<String, String>,
    settings: ModelSettings,
    world: &'a World,
    consent: Consent,
    templates: Nunjucks,
    /// Models by their JSON text; an error is as lasting as a model.
    resolved: Mutex<HashMap<String, Result<Arc<Target>, String>>>,
}

/// A target of the suite, or one that only a question names.
enum Named<'a> {
    OfSuite(&'a Target),
    Own(Arc<Target>),
}

impl Named<'_> {
    fn target(&self) -> &Target {
        match self {
            Self::OfSuite(target) => target,
            Self::Own(target) => target,
        }
    }
}

impl<'a> RoleModels<'a> {
    pub(crate) fn new(
        targets: &'a [Target],
        env: &'a BTreeMap<String, String>,
        settings: ModelSettings,
        world: &'a World,
        consent: Consent,
    ) -> Self {
        Self {
            targets,
            env,
            settings,
            world,
            consent,
            templates: Nunjucks::new(env.clone()),
            resolved: Mutex::default(),
        }
    }

    /// The model that a suite names.
    ///
    /// # Errors
    /// Why there is none.
    fn named(&self, value: &Value) -> Result<Named<'a>, String> {
        if let Value::String(name) = value {
            let is_named =
                |target: &&Target| target.label.as_ref() == Some(name) || target.id == *name;
            if let Some(target) = self.targets.iter().find(is_named) {
                return Ok(Named::OfSuite(target));
            }
        }
        let key = value.to_string();
        let mut resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        let target = resolved.entry(key).or_insert_with(|| self.read(value).map(Arc::new));
        target.clone().map(Named::Own)
    }

    /// Reads a model as if it were a target of the suite.
    fn read(&self, value: &Value) -> Result<Target, String> {
        let folder = self
            .env
            .get("QUINTAIN_SUITE_DIR")
            .map_or_else(|| self.world.cwd.clone(), PathBuf::from);
        let file = file_of(value, folder);
        let files: Arc<dyn Files> = allowed(self.world, Arc::new(Disk));
        let loaded = load(vec![file], self.env, files, Purpose::Run(self.consent), &kinds());
        learn(&loaded.secrets, &self.world.redactor);
        let errors = || {
            let titles =
                loaded.diagnostics.iter().filter(|found| found.severity == Severity::Error);
            titles.map(|found| found.title.clone()).collect::<Vec<_>>().join("; ")
        };
        let mut suite = loaded.suite.ok_or_else(errors)?;
        let target = suite.targets.pop().ok_or("it names no model")?;
        match target.as_mcp() {
            Some(_) => Err("an MCP server cannot answer prompts; name a model".to_owned()),
            None => Ok(target),
        }
    }

    /// The answer of a model, or of another target that takes text.
    async fn reply(
        &self,
        question: &ModelQuestion,
        outside: &ExternalServices,
    ) -> Result<ModelReply, Unanswered> {
        let Some(value) = self.settings.answering(question).map_err(Unanswered::Nobody)? else {
            return Err(Unanswered::Nobody(nobody(question.role)));
        };
        let named = self.named(&value).map_err(Unanswered::Nobody)?;
        let target = named.target();
        if let Some(settings) = target.settings::<ModelTarget>() {
            let handle = outside.models.of_target(target, settings);
            let handle = handle.map_err(|why| Unanswered::Nobody(why.to_string()))?;
            let answer = ask_model(&handle, question).await;
            return answer.map_err(|error| {
                outside.models.failed(&handle, &error);
                error.into()
            });
        }
        let ModelRequest::Chat { prompt, schema } = &question.request else {
            let why = format!("`{}` only answers prompts", target.name());
            return Err(Unanswered::Nobody(why));
        };
        let vars = Map::new();
        let ask = Ask { prompt, vars: &vars, templates: &self.templates, options: &vars };
        let (_, response) = targets::ask(target, &ask, outside).await;
        of_response(response, schema.as_ref())
    }

    /// The target of a test that names its own.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn ask_named(
        &self,
        value: &Value,
        ask: &Ask<'_>,
        outside: &ExternalServices,
    ) -> Result<(Exchange, Response), String> {
        let named = self.named(value)?;
        Ok(targets::ask(named.target(), ask, outside).await)
    }
}

impl AskModel for Arc<RoleModels<'_>> {
    fn learn_secrets(&self, question: &ModelQuestion) {
        // Reading a model learns its secrets; why it cannot be read is reported when it is asked.
        if let Some(value) = &question.model {
            let _ = self.named(value);
        }
    }

    fn ask<'f>(
        &'f self,
        question: &'f ModelQuestion,
        outside: &'f ExternalServices,
    ) -> BoxFuture<'f, Answer> {
        async move {
            match self.reply(question, outside).await {
                Ok(reply) => match serde_json::to_value(reply) {
                    Ok(value) => Answer::Value(value),
                    Err(error) => Answer::Failed(error.to_string()),
                },
                Err(Unanswered::Failed(why)) => Answer::Failed(why),
                Err(Unanswered::Nobody(why)) => Answer::Unavailable(why),
            }
        }
        .boxed()
    }

    fn forget<'f>(
        &'f self,
        question: &'f ModelQuestion,
        outside: &'f ExternalServices,
    ) -> BoxFuture<'f, ()> {
        async move {
            let Ok(Some(model)) = self.settings.answering(question) else { return };
            let Ok(named) = self.named(&model) else { return };
            let target = named.target();
            let Some(settings) = target.settings::<ModelTarget>() else { return };
            let Ok(handle) = outside.models.of_target(target, settings) else { return };
            match &question.request {
                ModelRequest::Chat { prompt, schema } => {
                    let mut request = chat_request(prompt, question);
                    request.schema = schema.as_ref().map(answer_schema);
                    handle.forget(&Asked::Chat(&request)).await;
                }
                ModelRequest::Embed { text } => {
                    handle.forget(&Asked::Embed(std::slice::from_ref(text))).await;
                }
                ModelRequest::Classify { text } => handle.forget(&Asked::Classify(text)).await,
                ModelRequest::Moderate { output, .. } => {
                    handle.forget(&Asked::Moderate(output)).await;
                }
            }
        }
        .boxed()
    }
}

/// Why a question has no answer.
enum Unanswered {
    /// The model was asked.
    Failed(String),
    /// No model is named, or it cannot answer such questions.
    Nobody(String),
}

impl From<ModelError> for Unanswered {
    fn from(error: ModelError) -> Self {
        match error.root() {
            ModelError::Unsupported(_) | ModelError::Config(_) | ModelError::NotAllowed(_) => {
                Self::Nobody(error.to_string())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

fn answer_schema(schema: &Value) -> JsonSchema {
    JsonSchema { name: "answer".to_owned(), schema: schema.clone() }
}

fn chat_request(prompt: &str, question: &ModelQuestion) -> ChatRequest {
    let ModelQuestion { sample, repetition, .. } = *question;
    ChatRequest { sample, repetition, ..ChatRequest::text(prompt) }
}

async fn ask_model(handle: &Handle, question: &ModelQuestion) -> Result<ModelReply, ModelError> {
    match &question.request {
        ModelRequest::Chat { prompt, schema } => {
            let request = chat_request(prompt, question);
            match schema {
                None => Ok(reply_of(handle.chat(&request).await?)),
                Some(schema) => {
                    let answer = handle.chat_json(&request, &answer_schema(schema)).await?;
                    Ok(json_reply(answer))
                }
            }
        }
        ModelRequest::Embed { text } => {
            let found = handle.embed(std::slice::from_ref(text)).await?;
            let vector = found.vectors.into_iter().next();
            Ok(ModelReply {
                output: json!(vector),
                token_usage: usage_of(found.usage),
                cost: found.cost,
                cached: found.cached,
                exchange: exchange_of(found.raw),
                ..ModelReply::default()
            })
        }
        ModelRequest::Classify { text } => {
            let found = handle.classify(text).await?;
            let classes = found.scores.into_iter().map(|(name, score)| (name, json!(score)));
            Ok(ModelReply {
                output: Value::Object(classes.collect()),
                cached: found.cached,
                exchange: exchange_of(found.raw),
                ..ModelReply::default()
            })
        }
        ModelRequest::Moderate { output, .. } => {
            let found = handle.moderate(output).await?;
            let flags = found
                .categories
                .into_iter()
                .filter(|category| category.flagged)
                .map(|category| json!({"code": category.name, "confidence": category.score}));
            Ok(ModelReply {
                output: json!({"flagged": found.flagged, "flags": flags.collect::<Vec<_>>()}),
                cached: found.cached,
                exchange: exchange_of(found.raw),
                ..ModelReply::default()
            })
        }
    }
}

/// The answer of a target that is not a model. If JSON is expected, text is read as JSON.
fn of_response(response: Response, schema: Option<&Value>) -> Result<ModelReply, Unanswered> {
    if let Some(error) = response.error {
        return Err(Unanswered::Failed(error));
    }
    let output = match (response.output, schema) {
        (Value::String(text), Some(schema)) => json_in(&text, &answer_schema(schema))
            .map_err(|error| Unanswered::Failed(error.to_string()))?,
        (output, _) => output,
    };
    Ok(ModelReply {
        output,
        token_usage: response.token_usage,
        cost: response.cost,
        finish_reason: response.finish_reason,
        cached: response.cached,
        attempts: 1,
        exchange: json!({"response": response.raw}),
        ..ModelReply::default()
    })
}
