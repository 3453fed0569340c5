//! Composes the text that is sent: the prompt with its variables filled in, or a list of chat messages. What the attack
//! says is inserted as it is and never expanded as a template.

use quintain_redteam::attack::Chat;
use quintain_source::Nunjucks;
use serde_json::{Map, Value, json};

use super::template::{CANARY, Messages, PLANTED, SESSION, Template, content, is_system};

/// A value for variables that neither the suite nor the attack fills.
const HARMLESS: &str = "The order of 3 March was shipped on 5 March. The invoice is paid.";

/// A turn of a conversation: what was said, and the reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::redteam) struct PastTurn {
    pub(in crate::redteam) said: String,
    pub(in crate::redteam) reply: String,
}

/// Everything that a message is composed of.
pub(super) struct Message<'a> {
    pub(super) template: &'a Template,
    /// `redteam.systemPrompt`.
    pub(super) system: Option<&'a str>,
    pub(super) chat: &'a Chat,
    /// Values of the suite's first test, for variables that the attack does not fill.
    pub(super) usual: &'a Map<String, Value>,
    pub(super) past: &'a [PastTurn],
    pub(super) said: &'a str,
    pub(super) session: &'a str,
    /// Whether the target keeps the conversation itself.
    pub(super) is_stateful: bool,
}

/// The text to send, and the variables it was composed of.
#[derive(Debug)]
pub(super) struct Composed {
    pub(super) prompt: String,
    pub(super) vars: Map<String, Value>,
}

impl Message<'_> {
    /// # Errors
    /// If a template is invalid.
    pub(super) fn compose(&self, templates: &Nunjucks) -> Result<Composed, String> {
        let vars = self.vars(self.said);
        let fill = |text: &str, vars: &Map<String, Value>| {
            templates.render(text, vars).map_err(|error| error.to_string())
        };
        let (mut before, last) = match &self.template.messages {
            Messages::Text(text) => (Vec::new(), fill(text, &vars)?),
            Messages::List(list) => {
                let (last, before) = list.split_last().ok_or("the prompt has no messages")?;
                let filled = before.iter().map(|message| {
                    let mut message = message.clone();
                    message["content"] = fill(&content(&message), &vars)?.into();
                    Ok(message)
                });
                (filled.collect::<Result<Vec<_>, String>>()?, fill(&content(last), &vars)?)
            }
        };
        let system = self.system.map(|system| fill(system, &vars)).transpose()?;
        if let Some(system) = system {
            before.insert(0, json!({"role": "system", "content": system}));
        }
        self.plant(&mut before);
        let is_list = matches!(self.template.messages, Messages::List(_)) || !before.is_empty();
        if self.past.is_empty() && !is_list || self.is_stateful && before.is_empty() {
            return Ok(Composed { prompt: last, vars });
        }
        let mut messages = before;
        for turn in self.past.iter().filter(|_| !self.is_stateful) {
            let said = match &self.template.messages {
                Messages::Text(text) => fill(text, &self.vars(&turn.said))?,
                Messages::List(list) => {
                    let text = list.last().map(content).unwrap_or_default();
                    fill(&text, &self.vars(&turn.said))?
                }
            };
            messages.push(json!({"role": "user", "content": said}));
            messages.push(json!({"role": "assistant", "content": turn.reply}));
        }
        messages.push(json!({"role": "user", "content": last}));
        Ok(Composed { prompt: Value::from(messages).to_string(), vars })
    }

    fn vars(&self, said: &str) -> Map<String, Value> {
        let input = &self.template.input;
        let mut vars = Map::new();
        for name in &input.data {
            let usual = self.usual.get(name).cloned();
            vars.insert(name.clone(), usual.unwrap_or_else(|| HARMLESS.into()));
        }
        vars.extend(self.chat.vars.clone());
        vars.insert(input.variable.clone(), said.into());
        vars.insert(CANARY.to_owned(), self.chat.canary.clone().unwrap_or_default().into());
        vars.insert(PLANTED.to_owned(), self.chat.planted.clone().unwrap_or_default().into());
        vars.insert(SESSION.to_owned(), self.session.into());
        vars
    }

    /// Adds what the attack plants to the system message, unless a template has a place for it.
    fn plant(&self, before: &mut [Value]) {
        let Some(planted) = self.chat.planted.as_deref() else { return };
        let is_there = |message: &Value| content(message).contains(planted);
        if before.iter().any(is_there) {
            return;
        }
        if let Some(system) = before.iter_mut().find(|message| is_system(message)) {
            let text = format!("{}\n\n{planted}", content(system));
            system["content"] = text.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use quintain_redteam::orders::PromptOrder;

    use super::*;

    fn composed(system: Option<&str>, chat: &Chat, past: &[PastTurn], is_stateful: bool) -> String {
        let order = PromptOrder { system: system.map(str::to_owned), ..PromptOrder::default() };
        let template = Template::plain(&order);
        let message = Message {
            template: &template,
            system,
            chat,
            usual: &Map::new(),
            past,
            said: "hi {{7*7}} \"x\"",
            session: "s1",
            is_stateful,
        };
        message.compose(&Nunjucks::default()).unwrap().prompt
    }

    #[test]
    fn a_single_message_is_plain_text_and_is_not_expanded() {
        assert_eq!(composed(None, &Chat::default(), &[], false), "hi {{7*7}} \"x\"");
    }

    #[test]
    fn system_messages_and_past_turns_make_a_list() {
        let past = [PastTurn { said: "a".into(), reply: "b".into() }];
        let chat = Chat { planted: Some("Code: k.".into()), ..Chat::default() };
        let sent = composed(Some("Be brief."), &chat, &past, false);
        let list: Value = serde_json::from_str(&sent).unwrap();
        let roles: Vec<&str> =
            list.as_array().unwrap().iter().filter_map(|m| m["role"].as_str()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
        assert_eq!(list[0]["content"], "Be brief.\n\nCode: k.");
        assert_eq!(list[3]["content"], "hi {{7*7}} \"x\"");
        assert_eq!(composed(None, &Chat::default(), &past, true), "hi {{7*7}} \"x\"");
    }

    #[test]
    fn the_canary_is_put_where_the_suite_wants_it() {
        let chat = Chat { canary: Some("kwh".into()), ..Chat::default() };
        let sent = composed(Some("Code {{canary}}."), &chat, &[], false);
        assert!(sent.contains("Code kwh."), "{sent}");
    }
}
