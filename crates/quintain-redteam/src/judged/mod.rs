//! Attacks that only a judge can decide: rules in words, intents in words, and promptfoo's plugins about the content of
//! replies. Their requests are harmless stand-ins, and their findings are suspected at most.

mod table;

pub use table::{Plugin, find, group, plugins};

use quintain_content::registry::About;
use quintain_evidence::finding::Severity;
use quintain_evidence::question::Question;
use quintain_evidence::weakness::Weakness;
use serde_json::Value;

use crate::attack::{
    Action, Aim, Attack, Attempt, Brief, Chat, Hit, Input, Need, TargetView, Trial, Tried,
};
use crate::opinion::Votes;
use crate::suits::Suits;

/// An attack whose success a judge decides.
#[derive(Debug, Clone)]
pub struct Judged {
    pub(crate) id: String,
    pub(crate) summary: String,
    pub(crate) docs: String,
    pub(crate) severity: Severity,
    pub(crate) frameworks: &'static [&'static str],
    /// What the judge decides about.
    pub(crate) rule: String,
    pub(crate) requests: Vec<Request>,
}

/// One conversation that may end in a violation. `{word}` is a random word.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) form: String,
    pub(crate) messages: Vec<String>,
    /// Replaces the rule of the attack.
    pub(crate) rule: Option<String>,
}

impl Request {
    pub(crate) fn new(form: impl Into<String>, messages: impl IntoIterator<Item = String>) -> Self {
        Self { form: form.into(), messages: messages.into_iter().collect(), rule: None }
    }
}

impl Attack for Judged {
    fn meta(&self) -> About<'_> {
        About { id: &self.id, aliases: &[], summary: &self.summary, docs: &self.docs, since: "" }
    }

    fn weakness(&self) -> Weakness<'_> {
        Weakness { severity: self.severity, cwe: &[], frameworks: self.frameworks }
    }

    fn suits(&self) -> Suits {
        Suits::MODELS
    }

    fn needs(&self) -> &[Need] {
        &[Need::Judge]
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        view.input().map(Input::messages).unwrap_or_default()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some((at, _)) = brief.view.and_then(|view| view.input()?.prompt_of(aim)) else {
            return Vec::new();
        };
        let attempts = self.requests.iter().enumerate().map(|(set, request)| {
            let nonce = brief.nonce();
            let fill = |text: &String| text.replace("{word}", nonce.as_str());
            let messages = request.messages.iter().map(fill).collect();
            let chat = Chat { prompt: at, messages, ..Chat::default() };
            Attempt {
                form: request.form.clone(),
                set,
                role: String::new(),
                payload: chat.hostile_text().map(Value::from),
                action: Action::Chat(chat),
                nonce,
            }
        });
        attempts.collect()
    }

    fn asks(&self, trial: &Trial<'_>, tried: &Tried) -> Vec<Question> {
        // Any reply of a conversation may break the rule, not only the last one.
        let (Some(judge), reply) = (&trial.view.capabilities.judge, tried.replies()) else {
            return Vec::new();
        };
        let sent = tried.sent();
        if reply.trim().is_empty() {
            return Vec::new();
        }
        let form = &tried.attempt.form;
        let is_of = |request: &&Request| {
            form.strip_prefix(&request.form)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
        };
        let own = self.requests.iter().find(is_of).and_then(|request| request.rule.as_deref());
        judge.questions(&self.id, own.unwrap_or(&self.rule), &sent, &reply)
    }

    fn is_undecided(&self, trial: &Trial<'_>) -> bool {
        Votes::none_in(trial.tried.iter().map(|tried| &tried.evidence), &self.id)
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let hits = trial.tried.iter().filter_map(|tried| {
            let votes = Votes::of(&tried.evidence.answers, &self.id);
            if !votes.see_violation() {
                return None;
            }
            let title =
                format!("{} through `{}` ({})", self.summary, trial.aim.place, tried.attempt.form);
            Some(Hit::suspected(title, votes.describe()).by(tried).fault("judged"))
        });
        hits.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use quintain_evidence::answer_record::{AnswerRecord, Cost, KeptAnswer};
    use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
    use quintain_evidence::finding::Confidence;
    use serde_json::json;

    use super::*;
    use crate::attack::{Capabilities, InputPrompt, MarkKey};
    use crate::knowledge::Knowledge;
    use crate::opinion::Judge;
    use crate::opinion::testing::vote;

    fn hits(verdict: &str, judge: Option<Judge>) -> Vec<Hit> {
        let attack = find("politics").unwrap();
        let prompt = InputPrompt { variable: "prompt".into(), ..InputPrompt::default() };
        let input = Input { prompts: vec![prompt], ..Input::default() };
        let capabilities = Capabilities { input: Some(input), judge, ..Capabilities::default() };
        let knowledge = Knowledge::default();
        let view = TargetView { surfaces: &[], knowledge: &knowledge, capabilities: &capabilities };
        let aim = attack.aims(&view).remove(0);
        let brief = Brief::new(None, None, 1, &[], MarkKey::of_seed(1).marks("x")).on(&view);
        let mut tried: Vec<Tried> = Vec::new();
        for attempt in attack.attempts(&aim, &brief) {
            let reply = Outcome::Reply(json!({"output": "I vote for the blue list."}));
            let exchange = Exchange::new("t", "chat", json!({}), reply);
            let evidence = Evidence { exchanges: vec![exchange], ..Evidence::default() };
            let mut one = Tried { attempt, evidence };
            let asked = attack.asks(&Trial { view: &view, aim: &aim, tried: &[] }, &one);
            one.evidence.answers = asked
                .into_iter()
                .map(|question| AnswerRecord {
                    key: String::new(),
                    answer: KeptAnswer::Value(
                        json!({"output": vote(&question, verdict, "it takes a side")}),
                    ),
                    question,
                    took: Duration::ZERO,
                    cost: Cost::default(),
                    unusable: false,
                })
                .collect();
            tried.push(one);
        }
        attack.detect(&Trial { view: &view, aim: &aim, tried: &tried })
    }

    #[test]
    fn a_judge_makes_a_finding_suspected_and_never_confirmed() {
        let judge = Some(Judge { model: json!("m"), samples: 3 });
        let found = hits("violates", judge.clone());
        assert!(!found.is_empty());
        assert!(found.iter().all(|hit| hit.confidence == Confidence::Suspected));
        assert!(found[0].what.starts_with("3 of 3 opinions"));
        assert!(hits("complies", judge.clone()).is_empty());
        assert!(hits("unclear", judge).is_empty());
        assert!(hits("violates", None).is_empty(), "nobody was asked");
    }
}
