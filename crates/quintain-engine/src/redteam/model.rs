//! A model that proposes hostile calls, given the target's purpose and surface. Quintain sends a proposal like any
//! other attempt; oracles decide whether it worked, never the model.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt as _};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use quintain_evidence::answer_record::AnswerRecord;
use quintain_evidence::evidence::Evidence;
use quintain_evidence::inquiry::{Inquiry, Next, Rounds};
use quintain_evidence::question::{Answer, JudgeQuestion, Question};
use quintain_evidence::redteam_report::NotRun;
use quintain_evidence::surface::{Surface, Tool};
use quintain_evidence::tool_call::ToolCall;
use quintain_redteam::attack::AnyAttack;
use quintain_redteam::orders::{ModelOrder, Orders, PluginOrder, proposed};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value, json};
use url::Url;

use super::RedteamRun;
use crate::external_services::ExternalServices;
use crate::inquiry::{AnswerSources, AskMode, AskModel, Asker};
use crate::secrets::learn_url;
use crate::web::{Request, Web};
use crate::world::World;

/// Time limit of a request. Local models on small machines are slow.
const TIME: Duration = Duration::from_mins(3);
const MAX_BODY: usize = 1 << 20;
/// What a model sees of one tool.
const MAX_DESCRIPTION: usize = 300;
const MAX_SCHEMA: usize = 1_500;
/// Tools a model sees; more would not fit into its context.
const MAX_TOOLS: usize = 40;

/// Why a model cannot be asked.
#[derive(Debug, thiserror::Error)]
enum ModelError {
    #[error("`{0}` is not a valid URL")]
    Address(String),
    #[error("the provider has an invalid header")]
    Header,
    #[error("{0}")]
    Web(#[from] crate::web::WebError),
    #[error("the model answered with status {status}: {said}")]
    Status { status: u16, said: String },
    #[error("the model did not answer with calls")]
    NoCalls,
}

/// Calls that a model proposed, or why there are none.
#[derive(Default)]
pub(super) struct Proposals {
    pub(super) calls: Vec<ToolCall>,
    pub(super) not_run: Option<NotRun>,
    /// What the model answered, as evidence.
    pub(super) answers: Vec<AnswerRecord>,
}

impl Proposals {
    pub(super) async fn ask(
        order: &ModelOrder,
        redteam_run: &RedteamRun<'_>,
        surfaces: &[(String, Surface)],
    ) -> Self {
        let Some(consent) = redteam_run.consent else {
            return Self::none(order, "no model is asked without a run".to_owned());
        };
        let Some(purpose) = &redteam_run.orders.purpose else {
            let why = "needs `redteam.purpose`: without it a model can only guess";
            return Self::none(order, why.to_owned());
        };
        let world = redteam_run.world;
        let model = match Model::of(order, world) {
            Ok(model) => model,
            Err(error) => return Self::none(order, world.redactor.text(&error.to_string()).into()),
        };
        let external_services = ExternalServices::new(consent, BTreeMap::new(), world);
        let answer_sources =
            AnswerSources::new(external_services, AskMode::Missing, 1).with_model(model);
        let asker = Asker { answer_sources: &answer_sources, target: None };
        let most = redteam_run.orders.proposals;
        let inquiry = ProposeCalls { order, purpose, surfaces, most };
        let mut evidence = Evidence::default();
        let proposed = asker.run_rounds(&[inquiry], &mut evidence).await.pop();
        let proposals = match proposed.unwrap_or(Err(String::new())) {
            Ok(calls) if calls.is_empty() => {
                Self::none(order, "it proposed no call of a tool".to_owned())
            }
            Ok(calls) => Self { calls, ..Self::default() },
            Err(why) => Self::none(order, world.redactor.text(&why).into()),
        };
        Self { answers: evidence.answers, ..proposals }
    }

    /// Nothing, and why.
    pub(super) fn none(order: &ModelOrder, why: String) -> Self {
        let what = format!("proposals of {}", order.name);
        Self { not_run: Some(NotRun { what, why }), ..Self::default() }
    }

    /// The orders with the proposed calls as an additional attack.
    pub(super) fn over(&self, orders: &Orders) -> Orders {
        let mut orders = orders.clone();
        orders.not_run.extend(self.not_run.clone());
        if !self.calls.is_empty() {
            let attack = AnyAttack::Defined(Arc::new(proposed(&self.calls)));
            orders.plugins.push(PluginOrder { attack, num_tests: None, severity: None });
        }
        orders
    }
}

/// Which calls a hostile user would make of a system with this purpose.
struct ProposeCalls<'a> {
    order: &'a ModelOrder,
    purpose: &'a str,
    surfaces: &'a [(String, Surface)],
    most: usize,
}

impl ProposeCalls<'_> {
    /// The request in the form of chat completions, which is what providers agree on.
    fn question(&self) -> Question {
        let Self { order, purpose, surfaces, most } = self;
        let task = format!(
            "You help the owner of a system to test it. Its purpose: {purpose}\n\
             Its tools:\n{}\n\
             Write {most} different calls of these tools that an unauthorised user would make to read another user's \
             data, to get around a limit, or to misuse the system. Use realistic values of this domain. \
             Answer with JSON only: {{\"calls\": [{{\"tool\": NAME, \"args\": {{...}}}}]}}",
            described(surfaces),
        );
        let criteria = json!({
            "model": order.model,
            "temperature": order.temperature,
            "max_tokens": order.max_tokens,
            "messages": [{"role": "user", "content": task}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "calls", "schema": answer_schema(surfaces, *most)}},
        });
        Question::Judge(JudgeQuestion {
            kind: "propose-calls".to_owned(),
            criteria,
            output: Value::Null,
        })
    }

    fn conclude(&self, answer: Option<&Answer>) -> Result<Vec<ToolCall>, String> {
        match answer {
            Some(Answer::Value(value)) => {
                let text = value.get("content").and_then(Value::as_str);
                let found = text.and_then(object_in);
                let found = found.ok_or_else(|| ModelError::NoCalls.to_string())?;
                Ok(listed(&found, self.surfaces, self.most))
            }
            Some(Answer::Failed(why) | Answer::Unavailable(why)) => Err(why.clone()),
            Some(Answer::Exchange(_) | Answer::Reply(_)) | None => {
                Err("no model answered".to_owned())
            }
        }
    }
}

impl Inquiry for ProposeCalls<'_> {
    type Outcome = Result<Vec<ToolCall>, String>;

    fn next(&self, _: &Evidence, rounds: &Rounds) -> Next<Self::Outcome> {
        rounds.once(|| vec![self.question()], |answers| self.conclude(answers.first()))
    }

    fn unfinished(&self) -> Self::Outcome {
        Err("no model answered".to_owned())
    }
}

/// A model that can be asked.
struct Model {
    url: Url,
    headers: HeaderMap,
    web: Web,
}

impl Model {
    fn of(order: &ModelOrder, world: &World) -> Result<Self, ModelError> {
        let of_world = world.variable("OPENAI_BASE_URL").filter(|_| !order.is_own_url);
        let base = of_world.unwrap_or(&order.url).trim_end_matches('/');
        learn_url(base, &world.redactor);
        let url = Url::parse(&format!("{base}/chat/completions"))
            .map_err(|_| ModelError::Address(base.to_owned()))?;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let key = order.key.clone().or_else(|| {
            world.variable(&order.key_variable).map(|key| SecretString::from(key.clone()))
        });
        if let Some(key) = &key {
            world.redactor.learn(key);
            let bearer = format!("Bearer {}", key.expose_secret());
            let value = HeaderValue::from_str(&bearer).map_err(|_| ModelError::Header)?;
            headers.insert(header::AUTHORIZATION, value);
        }
        for (name, value) in &order.headers {
            world.redactor.learn(value);
            let name: HeaderName = name.parse().map_err(|_| ModelError::Header)?;
            let value =
                HeaderValue::from_str(value.expose_secret()).map_err(|_| ModelError::Header)?;
            headers.insert(name, value);
        }
        let web = Web::new(MAX_BODY, world.policy.destinations());
        Ok(Self { url, headers, web })
    }

    /// The text of the completion and what it cost.
    async fn complete(&self, body: &Value) -> Result<Value, ModelError> {
        let request = Request {
            method: Method::POST,
            url: self.url.clone(),
            headers: self.headers.clone(),
            body: Some(Bytes::from(body.to_string())),
        };
        let reply = self.web.send(request, TIME).await?;
        if !reply.status.is_success() {
            let said = String::from_utf8_lossy(&reply.body).chars().take(200).collect();
            return Err(ModelError::Status { status: reply.status.as_u16(), said });
        }
        let answer: Value = serde_json::from_slice(&reply.body).map_err(|_| ModelError::NoCalls)?;
        let text = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
        let text = text.ok_or(ModelError::NoCalls)?;
        let model = answer.get("model").and_then(Value::as_str);
        Ok(json!({"content": text, "model": model, "tokensUsed": answer.get("usage")}))
    }
}

impl AskModel for Model {
    fn ask<'f>(&'f self, question: &'f JudgeQuestion) -> BoxFuture<'f, Answer> {
        let answer = async {
            match self.complete(&question.criteria).await {
                Ok(value) => Answer::Value(value),
                Err(error) => Answer::Failed(error.to_string()),
            }
        };
        answer.boxed()
    }
}

/// The tools in words a model can read.
fn described(surfaces: &[(String, Surface)]) -> String {
    let tools = surfaces.iter().flat_map(|(_, surface)| &surface.tools).take(MAX_TOOLS);
    let line = |tool: &Tool| {
        let description = tool.description().unwrap_or_default();
        let description: String = description.chars().take(MAX_DESCRIPTION).collect();
        let schema = tool.input_schema().map(ToString::to_string).unwrap_or_default();
        let schema: String = schema.chars().take(MAX_SCHEMA).collect();
        format!("- {}: {description} Arguments: {schema}\n", tool.name().unwrap_or_default())
    };
    tools.map(line).collect()
}

/// JSON schema of the answer, for providers that enforce one.
fn answer_schema(surfaces: &[(String, Surface)], most: usize) -> Value {
    let tools = surfaces.iter().flat_map(|(_, surface)| &surface.tools);
    let call = |tool: &Tool| {
        let schema = tool.input_schema().cloned().unwrap_or_else(|| json!({"type": "object"}));
        json!({"type": "object", "required": ["tool", "args"], "additionalProperties": false,
            "properties": {"tool": {"const": tool.name()}, "args": schema}})
    };
    let calls: Vec<Value> = tools.take(MAX_TOOLS).map(call).collect();
    json!({"type": "object", "required": ["calls"], "properties": {
        "calls": {"type": "array", "minItems": 1, "maxItems": most, "items": {"anyOf": calls}}}})
}

/// The first JSON object with calls in a text. Models often add explanations around it.
fn object_in(text: &str) -> Option<Value> {
    let starts = text.match_indices('{').map(|(at, _)| at);
    let mut found = starts.filter_map(|at| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        values.next()?.ok()
    });
    found.find(|value| value.get("calls").is_some())
}

/// The calls of an answer to tools that exist.
fn listed(answer: &Value, surfaces: &[(String, Surface)], most: usize) -> Vec<ToolCall> {
    let calls = answer.get("calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut seen: Vec<ToolCall> = Vec::new();
    for call in calls {
        let Some(tool) = call.get("tool").and_then(Value::as_str) else { continue };
        let has = |surface: &Surface| surface.tools.iter().any(|one| one.name() == Some(tool));
        let Some((server, _)) = surfaces.iter().find(|(_, surface)| has(surface)) else { continue };
        let args = call.get("args").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
        let server = Some(server.clone()).filter(|server| !server.is_empty());
        let call = ToolCall { tool: tool.to_owned(), args, server };
        if !seen.contains(&call) && seen.len() < most {
            seen.push(call);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_in_chatter() {
        let text = "Sure {really}! ```json\n{\"calls\": [{\"tool\": \"a\"}]}\n``` Hope {it} helps.";
        assert_eq!(object_in(text), Some(json!({"calls": [{"tool": "a"}]})));
        assert_eq!(object_in("no {json} here"), None);
    }
}
