//! Values that a case passes to later cases: stored outputs and the conversation so far.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use quintain_evidence::response::Response;
use quintain_suite::plan::{Case, PlannedCase};
use quintain_suite::suite::{PromptBody, Suite};
use serde_json::{Map, Value, json};

/// Values that cases pass to later cases.
pub(super) struct Conversations {
    /// Whether any test stores its output. If so, all cases run one after the other.
    stores: bool,
    /// For each prompt, whether it refers to the conversation.
    talks: Vec<bool>,
    stored_values: Mutex<StoredValues>,
}

#[derive(Default)]
struct StoredValues {
    registers: Map<String, Value>,
    conversations: HashMap<(usize, String), Vec<Value>>,
}

impl Conversations {
    pub(super) fn of(suite: &Suite) -> Self {
        let stores = suite.tests.tests.store_outputs;
        let talks = suite.tests.prompts.iter().map(|prompt| match &prompt.body {
            PromptBody::Text(text) => text.contains("_conversation"),
            PromptBody::Call(call) => call.to_string().contains("_conversation"),
            PromptBody::Code(_) => false,
        });
        Self { stores, talks: talks.collect(), stored_values: Mutex::default() }
    }

    /// Whether this case may depend on values of other cases.
    pub(super) fn orders(&self, planned_case: &PlannedCase) -> bool {
        self.stores || self.has_conversation(planned_case)
    }

    fn has_conversation(&self, planned_case: &PlannedCase) -> bool {
        self.talks[planned_case.prompt] && !planned_case.scheduling.silent
    }

    /// The variables that a case gets from earlier ones.
    pub(super) fn carried(&self, case: &Case<'_>) -> Map<String, Value> {
        let mut carried = Map::new();
        if case.planned_case.repeat > 0 || self.orders(case.planned_case) {
            let stored_values = self.stored_values.lock().unwrap_or_else(PoisonError::into_inner);
            carried.extend(stored_values.registers.clone());
            if self.has_conversation(case.planned_case) {
                let turns =
                    stored_values.conversations.get(&key(case)).cloned().unwrap_or_default();
                carried.insert("_conversation".into(), turns.into());
            }
        }
        carried
    }

    /// Whether a case stores values for later cases.
    pub(super) fn keeps(&self, case: &Case<'_>) -> bool {
        case.test.options.store_output_as.is_some() || self.has_conversation(case.planned_case)
    }

    /// Stores values for later cases: the output under its name, and the untransformed output in the conversation.
    pub(super) fn keep(&self, case: &Case<'_>, prompt: &str, response: &Response) {
        if !self.keeps(case) {
            return;
        }
        let name = &case.test.options.store_output_as;
        let mut stored_values = self.stored_values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = name {
            stored_values.registers.insert(name.clone(), response.output.clone());
        }
        if self.has_conversation(case.planned_case) {
            let input = last_message(prompt);
            let turn =
                json!({"prompt": as_json(prompt), "input": input, "output": response.said()});
            stored_values.conversations.entry(key(case)).or_default().push(turn);
        }
    }
}

/// The key of a conversation: the column and the `conversationId` of the test.
fn key(case: &Case<'_>) -> (usize, String) {
    let id = case.test.metadata.get("conversationId").map(ToString::to_string);
    (case.planned_case.column, id.unwrap_or_default())
}

fn as_json(prompt: &str) -> Value {
    serde_json::from_str(prompt).unwrap_or_else(|_| prompt.into())
}

/// The content of the last message of a chat, else the prompt itself.
fn last_message(prompt: &str) -> Value {
    let parsed: Option<Value> = serde_json::from_str(prompt).ok();
    let content = parsed.as_ref().and_then(|chat| chat.as_array()?.last()?.get("content"));
    content.cloned().unwrap_or_else(|| prompt.into())
}
