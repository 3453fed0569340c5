//! Confirms hits of targets that take text in new conversations, asks models about attempts, and shortens prompts.

use quintain_evidence::finding::Confidence;
use quintain_redteam::attack::{Action, Aim, Hit, Hostile, Trial, Tried};
use quintain_redteam::orders::PluginOrder;

use super::executor::{Executor, SETTLE};
use super::scope::Scope;
use super::trial_plan::{repetition_of, strategy_of};
use crate::inquiry::Asker;

/// Maximum number of shorter prompts to try.
const MAX_SHRINKS: usize = 6;

impl Executor<'_> {
    /// Repeats a hit in new conversations with new random texts. Returns whether it counts. Models are not deterministic:
    /// what an echo or an accident cannot show stays confirmed, with the number of times that it worked.
    pub(super) async fn confirm_prompt(
        &self,
        plugin: &PluginOrder,
        aim: &Aim,
        hit: &mut Hit,
        scope: Scope,
    ) -> bool {
        if hit.confidence == Confidence::Suspected {
            return true;
        }
        let Some(set) = hit.set.map(|set| repetition_of(set).0) else { return true };
        let (mut times, mut tries) = (0, 0);
        for turn in 1..=self.orders.confirmations {
            let mut attempts = self.trial_plan.attempts(plugin, aim, turn, scope);
            attempts.retain(|attempt| attempt.set == set);
            let mut tried = self.settled(attempts, SETTLE, &mut None).await;
            if tried.is_empty() {
                break;
            }
            self.meter.called(tried.len());
            self.ask_models(plugin, aim, &mut tried).await;
            let trial = Trial { view: self.view, aim, tried: &tried };
            tries += 1;
            times +=
                usize::from(plugin.attack.detect(&trial).iter().any(|one| one.fault == hit.fault));
        }
        if plugin.attack.is_unsteady() && times < tries {
            return false;
        }
        if tries > 0 {
            hit.what = format!(
                "{}; repeated in {tries} new conversations, it worked in {times}",
                hit.what
            );
        }
        true
    }

    /// Asks models what an attack cannot decide itself. The answers become part of the evidence of each attempt.
    pub(super) async fn ask_models(&self, plugin: &PluginOrder, aim: &Aim, tried: &mut [Tried]) {
        let Some(answer_sources) = &self.speaker.answer_sources else { return };
        for at in 0..tried.len() {
            let trial = Trial { view: self.view, aim, tried };
            let questions = plugin.attack.asks(&trial, &tried[at]);
            if questions.is_empty() || self.budget.is_spent() {
                continue;
            }
            let asker = Asker { answer_sources, target: None, repetition: 0 };
            let before = tried[at].evidence.answers.len();
            asker.ask(&questions, &mut tried[at].evidence).await;
            for record in &tried[at].evidence.answers[before..] {
                self.budget.spend(record.cost.token_usage.as_ref(), record.cost.price);
            }
        }
    }

    /// Leaves out sentences of a prompt that works, as long as it works without them.
    pub(super) async fn shrunk_prompt(
        &self,
        plugin: &PluginOrder,
        aim: &Aim,
        hit: &mut Hit,
        mut set: Vec<Tried>,
    ) -> Vec<Tried> {
        let hostile = |one: &Tried| match &one.attempt.action {
            Action::Chat(chat) => chat.hostile == Hostile::Last && chat.messages.len() == 1,
            _ => false,
        };
        let strategy = hit.set.and_then(|set| strategy_of(self.orders, set));
        let is_plain = strategy.is_none() && hit.confidence == Confidence::Confirmed;
        let Some(at) = set.iter().rposition(hostile).filter(|_| is_plain) else { return set };
        if !plugin.attack.shrinks() || plugin.attack.is_unsteady() {
            return set;
        }
        let mut left = MAX_SHRINKS;
        let mut start = 0;
        loop {
            let Action::Chat(chat) = &set[at].attempt.action else { return set };
            let text = chat.messages[0].clone();
            let sentences: Vec<&str> = text.split_inclusive(['.', '!', '?', '\n']).collect();
            if start >= sentences.len() || sentences.len() < 2 || left == 0 {
                return set;
            }
            left -= 1;
            let shorter: Vec<&str> = sentences
                .iter()
                .enumerate()
                .filter(|(n, _)| *n != start)
                .map(|(_, one)| *one)
                .collect();
            let mut attempt = set[at].attempt.clone();
            let shorter = shorter.concat().trim().to_owned();
            attempt.action = Action::Chat(chat.clone().with_hostile_text(shorter.as_str()));
            attempt.payload = Some(shorter.into());
            let Some(again) = self.settled(vec![attempt], SETTLE, &mut None).await.pop() else {
                return set;
            };
            self.meter.called(1);
            let mut shrunk = set.clone();
            shrunk[at] = again;
            let trial = Trial { view: self.view, aim, tried: &shrunk };
            let hits = plugin.attack.detect(&trial);
            let is_same =
                |found: &Hit| found.fault == hit.fault && found.confidence == hit.confidence;
            match hits.into_iter().find(is_same) {
                Some(same) => {
                    hit.sign = same.sign;
                    set = shrunk;
                }
                None => start += 1,
            }
        }
    }
}
