//! Sends messages to a target that takes text, and records each exchange in one form whatever the kind of target.

use std::sync::Arc;
use std::time::Duration;

use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::redteam_report::NotRun;
use quintain_evidence::response::Response;
use quintain_redteam::attack::{Chat, Input, OfferedTool};
use quintain_redteam::orders::Orders;
use quintain_source::Nunjucks;
use quintain_suite::suite::ModelTarget;
use quintain_suite::target::{Reach, Reached};
use serde_json::{Map, Value, json};

use super::compose::{Message, PastTurn};
use super::template::Template;
use crate::external_services::ExternalServices;
use crate::models::ModelAccess;
use crate::redteam::TextTarget;
use crate::redteam::roots;
use crate::targets::{self, Ask};
use crate::world::World;

/// A target that takes text, ready to be asked.
pub(in crate::redteam) struct TextSender<'a> {
    text_target: TextTarget<'a>,
    templates: Nunjucks,
    prompts: Vec<Template>,
    /// Prompts that cannot be used, and why.
    pub(in crate::redteam) not_run: Vec<NotRun>,
    usual: Map<String, Value>,
    system: Option<String>,
    is_stateful: bool,
    purpose: Option<String>,
    time_limit: Option<Duration>,
}

impl<'a> TextSender<'a> {
    pub(in crate::redteam) fn of(text_target: TextTarget<'a>, orders: &Orders) -> Self {
        let suite = text_target.suite;
        let limited = text_target.target.prompts.as_ref();
        let all: Vec<_> = suite
            .tests
            .prompts
            .iter()
            .filter(|prompt| {
                limited.is_none_or(|names| {
                    let is =
                        |name: &String| *name == prompt.label || prompt.id.as_ref() == Some(name);
                    names.iter().any(is)
                })
            })
            .collect();
        let mut prompts = Vec::new();
        let mut not_run = Vec::new();
        for prompt in &all {
            match Template::of(prompt, &orders.prompts, all.len() == 1) {
                Ok(template) => prompts.push(template),
                Err(why) => {
                    not_run.push(NotRun { what: format!("prompt `{}`", prompt.label), why });
                }
            }
        }
        if all.is_empty() {
            prompts.push(Template::plain(&orders.prompts));
        }
        let first =
            (!suite.tests.tests.is_empty()).then(|| suite.tests.tests.get(0).ok()).flatten();
        Self {
            text_target,
            templates: suite.target_templates(),
            prompts,
            not_run,
            usual: first.map(|test| test.vars.clone()).unwrap_or_default(),
            system: orders.prompts.system.clone(),
            is_stateful: orders.prompts.is_stateful,
            purpose: orders.purpose.clone(),
            time_limit: orders.prompts.time_limit,
        }
    }

    /// What attacks know about the target.
    pub(in crate::redteam) fn input(&self) -> Input {
        let target = self.text_target.target;
        Input {
            target: target.name().to_owned(),
            id: target.id.clone(),
            prompts: self.prompts.iter().map(|prompt| prompt.input.clone()).collect(),
            purpose: self.purpose.clone(),
            tools: offered(&target.offered),
            is_stateful: self.is_stateful,
        }
    }

    /// The text that a conversation of one message sends; none if it has more, or cannot be composed.
    pub(in crate::redteam) fn composed(&self, chat: &Chat) -> Option<String> {
        let [said] = &chat.messages[..] else { return None };
        let past = chat
            .forged
            .iter()
            .map(|(said, reply)| PastTurn { said: said.clone(), reply: reply.clone() });
        let message = Message {
            template: self.prompts.get(chat.prompt)?,
            system: self.system.as_deref(),
            chat,
            usual: &self.usual,
            past: &past.collect::<Vec<_>>(),
            said,
            session: "quintain",
            is_stateful: self.is_stateful,
        };
        message.compose(&self.templates).ok().map(|composed| composed.prompt)
    }

    pub(in crate::redteam) fn is_stateful(&self) -> bool {
        self.is_stateful
    }

    /// Sends one message of a conversation.
    pub(in crate::redteam) async fn say(
        &self,
        chat: &Chat,
        past: &[PastTurn],
        said: &str,
        session: &str,
        outside: &ExternalServices,
    ) -> Exchange {
        let target = self.text_target.target;
        let refused = |why: String| {
            Exchange::new(target.name(), "ask", Value::Null, Outcome::Refused { why })
        };
        let Some(template) = self.prompts.get(chat.prompt) else {
            return refused("there is no such prompt".to_owned());
        };
        let message = Message {
            template,
            system: self.system.as_deref(),
            chat,
            usual: &self.usual,
            past,
            said,
            session,
            is_stateful: self.is_stateful,
        };
        let composed = match message.compose(&self.templates) {
            Ok(composed) => composed,
            Err(why) => return refused(why),
        };
        let ask = Ask {
            prompt: &composed.prompt,
            vars: &composed.vars,
            templates: &self.templates,
            options: &Map::new(),
        };
        let asking = targets::ask(target, &ask, outside);
        let asked = match self.time_limit {
            Some(limit) => tokio::time::timeout(limit, asking).await.map_err(|_| limit),
            None => Ok(asking.await),
        };
        let (exchange, response) = match asked {
            Ok(asked) => asked,
            Err(after) => {
                let sent = json!({"prompt": composed.prompt});
                return Exchange::new(target.name(), "ask", sent, Outcome::TimedOut { after });
            }
        };
        let response = match &target.transform {
            Some(code) if response.error.is_none() => {
                let (context, output) = (json!({"vars": composed.vars}), response.output.clone());
                let given = [("output", &output), ("context", &context)];
                match outside.run(code, "get_transform", &given).await {
                    Ok(output) => Response { output, ..response },
                    Err(why) => Response::failed(why),
                }
            }
            _ => response,
        };
        recorded(exchange, response, &composed.prompt)
    }
}

/// Why a response is not an answer of the application: an HTTP error, or nothing. It proves neither a weakness nor its
/// absence.
fn no_answer(response: &Response) -> Option<String> {
    let status = response.metadata.get("http").and_then(|http| http.get("status"));
    let status = status.and_then(Value::as_u64).filter(|status| *status >= 400);
    if let Some(status) = status {
        return Some(format!("the target answered with status {status}"));
    }
    let is_empty = match &response.output {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    };
    is_empty.then(|| "the answer is empty".to_owned())
}

/// The exchange in the form that attacks read: what was sent, the output, and what it cost.
fn recorded(exchange: Exchange, response: Response, prompt: &str) -> Exchange {
    let sent = json!({"prompt": prompt, "request": exchange.sent});
    let no_answer = no_answer(&response);
    let outcome = match (response.error, exchange.outcome) {
        (None, _) if no_answer.is_some() => Outcome::Refused { why: no_answer.unwrap_or_default() },
        (Some(why), Outcome::Reply(_)) => Outcome::Refused { why },
        (Some(_), failed) => failed,
        (None, raw) => {
            let mut reply = Map::new();
            reply.insert("output".to_owned(), response.output);
            reply.extend(response.token_usage.map(|usage| ("tokenUsage".to_owned(), usage)));
            reply.extend(response.cost.map(|cost| ("cost".to_owned(), json!(cost))));
            let raw = raw.result().cloned().filter(|raw| *raw != reply["output"]);
            reply.extend(raw.map(|raw| ("raw".to_owned(), raw)));
            Outcome::Reply(reply.into())
        }
    };
    Exchange { sent, outcome, ..exchange }
}

/// The tools in `config.tools`, as the APIs of models write them.
fn offered(config: &Map<String, Value>) -> Vec<OfferedTool> {
    let all = config.values().filter_map(Value::as_array).flatten();
    let tool = |tool: &Value| {
        let function = tool.get("function").unwrap_or(tool);
        let name = function.get("name").and_then(Value::as_str)?.to_owned();
        let schema = ["parameters", "input_schema", "inputSchema"];
        let schema = schema.iter().find_map(|key| function.get(key));
        let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
        let is_text = |schema: &Value| schema.get("type").is_none_or(|kind| kind == "string");
        let texts = properties.into_iter().flatten().filter(|(_, schema)| is_text(schema));
        Some(OfferedTool { name, texts: texts.map(|(name, _)| name.clone()).collect() })
    };
    all.filter_map(tool).collect()
}

/// Whether a target that takes text contacts another machine.
pub(in crate::redteam) fn is_remote(text_target: TextTarget<'_>) -> bool {
    let TextTarget { target, suite } = text_target;
    if let Some(settings) = target.settings::<ModelTarget>() {
        // The address may come from the provider or from the environment.
        let world = World { env: Arc::new(suite.env.clone()), ..World::default() };
        let model = ModelAccess::unconnected(&world).of_target(target, settings);
        let endpoint = model.ok().and_then(|model| model.model().endpoint());
        return endpoint.is_some_and(|url| roots::is_on_another_machine(url.as_str()));
    }
    let variables = quintain_evidence::effects::Variables::default();
    let reached = Reach::of(target, &suite.env, &variables, &[]);
    reached.iter().any(|one| match one {
        Reached::Contact(contact) => roots::is_on_another_machine(&contact.url),
        Reached::Start(_) | Reached::Code { .. } => false,
    })
}
