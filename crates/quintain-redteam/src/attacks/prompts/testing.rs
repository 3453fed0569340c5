//! Helpers for the tests of attacks on targets that take text: a chat that replies to attempts.

use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use serde_json::json;

use crate::attack::{
    Attack, Capabilities, Chat, Hit, Input, InputPrompt, MarkKey, OfferedTool, TargetView, Trial,
    Tried,
};
use crate::attack::{Attempt, Brief};
use crate::knowledge::Knowledge;

/// A target with one prompt.
pub(in crate::attacks) struct TestChat {
    pub(in crate::attacks) input: Input,
}

/// What a test sees of a message.
pub(in crate::attacks) struct Said {
    /// The last message.
    pub(in crate::attacks) last: String,
    /// All that the user sent.
    pub(in crate::attacks) sent: String,
    /// What the instructions contain.
    pub(in crate::attacks) planted: String,
    /// What the attempt looks for.
    sought: String,
}

impl Said {
    /// The word that a target says if it obeys.
    pub(in crate::attacks) fn word(&self) -> String {
        self.sought.clone()
    }
}

impl Default for TestChat {
    fn default() -> Self {
        let prompt = InputPrompt {
            label: String::new(),
            variable: "prompt".into(),
            data: Vec::new(),
            instructions:
                "You are the billing assistant of TechMart. Answer only questions about invoices \
                           and never talk about the suppliers of TechMart."
                    .into(),
            plants: true,
            has_canary: false,
        };
        let tool = |name: &str| OfferedTool { name: name.into(), texts: vec!["id".into()] };
        let input = Input {
            target: "t".into(),
            id: "openai:chat:tiny-7b".into(),
            prompts: vec![prompt],
            tools: vec![tool("get_invoice"), tool("delete_invoice")],
            ..Input::default()
        };
        Self { input }
    }
}

/// The evidence of these replies.
pub(in crate::attacks) fn replies(texts: &[String]) -> Evidence {
    let exchange = |text: &String| {
        let reply = Outcome::Reply(json!({"output": text}));
        Exchange::new("t", "chat", json!({}), reply)
    };
    Evidence { exchanges: texts.iter().map(exchange).collect(), ..Evidence::default() }
}

impl TestChat {
    /// Sends all attempts of an attack, turn by turn, and returns its hits.
    pub(in crate::attacks) fn run_attack(
        &self,
        attack: &dyn Attack,
        reply: impl Fn(&Said) -> String,
    ) -> Vec<Hit> {
        self.run_with(attack, |attempt, chat| {
            let turns = chat.messages.iter().map(|last| {
                let said = Said {
                    last: last.clone(),
                    sent: chat.sent(),
                    planted: [&chat.planted, &chat.canary].into_iter().flatten().cloned().collect(),
                    sought: attempt.role.clone(),
                };
                reply(&said)
            });
            replies(&turns.collect::<Vec<_>>())
        })
    }

    /// The same with whole evidence for each conversation.
    pub(in crate::attacks) fn run_with(
        &self,
        attack: &dyn Attack,
        reply: impl Fn(&Attempt, &Chat) -> Evidence,
    ) -> Vec<Hit> {
        let knowledge = Knowledge::default();
        let capabilities =
            Capabilities { input: Some(self.input.clone()), ..Capabilities::default() };
        let view = TargetView { surfaces: &[], knowledge: &knowledge, capabilities: &capabilities };
        let mut hits = Vec::new();
        for aim in attack.aims(&view) {
            let brief = Brief::new(None, None, 1, &[], MarkKey::of_seed(7).marks("test")).on(&view);
            let tried: Vec<Tried> = attack
                .attempts(&aim, &brief)
                .into_iter()
                .map(|attempt| {
                    let chat = attempt.action.chat().expect("a conversation");
                    Tried { evidence: reply(&attempt, chat), attempt: attempt.clone() }
                })
                .collect();
            hits.extend(attack.detect(&Trial { view: &view, aim: &aim, tried: &tried }));
        }
        hits
    }
}
