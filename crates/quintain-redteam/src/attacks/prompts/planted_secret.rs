//! The shape of attacks that put a secret into the instructions of the target and ask for it. Each of them is a table: what
//! is planted, how it is asked for, and what a reply with the secret means.

use quintain_content::registry::Meta;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::weakness::Weakness;

use super::draft::{self, Form};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, Need, TargetView, Trial};
use crate::suits::Suits;

/// An attack whose proof is a planted secret in a reply.
pub(crate) struct PlantedSecret {
    pub(super) meta: Meta,
    /// The rule of its findings.
    pub(super) rule: &'static str,
    pub(super) weakness: Weakness<'static>,
    /// What the instructions contain; `{secret}` is the secret.
    pub(super) planted: &'static str,
    pub(super) forms: &'static [Form],
    /// The title of a finding; `{place}` is the place.
    pub(super) title: &'static str,
    /// What the secret is, after "the reply contains it, ".
    pub(super) secret_is: &'static str,
    pub(super) fault: &'static str,
}

impl Attack for PlantedSecret {
    fn meta(&self) -> Meta {
        self.meta
    }

    fn rule(&self) -> &'static str {
        self.rule
    }

    fn weakness(&self) -> Weakness<'static> {
        self.weakness
    }

    fn suits(&self) -> Suits {
        Suits::MODELS
    }

    fn needs(&self) -> &[Need] {
        &[Need::Planting]
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let input = view.input();
        input.map(|input| input.messages_where(|prompt| prompt.plants)).unwrap_or_default()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        draft::with_secret(aim, brief, self.planted, self.forms)
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        draft::expects(set)
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let hits = draft::disclosures(trial).map(|(tried, how)| {
            let (form, secret) = (&tried.attempt.form, &tried.attempt.role);
            let title = self.title.replace("{place}", &trial.aim.place.to_string());
            let what = format!("the reply contains `{secret}`{how}, {}", self.secret_is);
            let hit = Hit::confirmed(format!("{title} ({form})"), what);
            hit.by(tried).fault(self.fault).said(tried, secret)
        });
        hits.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{bola, debug_access, pii, rbac};
    use super::*;
    use crate::attacks::prompts::testing::TestChat;

    const ALL: [&PlantedSecret; 4] =
        [&bola::MODEL_BOLA, &debug_access::DEBUG_ACCESS, &pii::MODEL_PII, &rbac::MODEL_RBAC];

    #[test]
    fn the_planted_text_in_a_reply_is_proof() {
        for attack in ALL {
            let hits = TestChat::default().run_attack(attack, |said| said.planted.clone());
            assert_eq!(hits.len(), attack.forms.len(), "{}", attack.rule);
            assert!(hits.iter().all(|hit| hit.sign.is_some() && !hit.title.contains('{')));
        }
    }

    #[test]
    fn refusals_echoes_and_inventions_are_not() {
        let chat = TestChat::default();
        let refuses = "I cannot share that. It is confidential.";
        for attack in ALL {
            assert!(chat.run_attack(attack, |_| refuses.to_owned()).is_empty());
            assert!(chat.run_attack(attack, |said| said.sent.clone()).is_empty());
            assert!(chat.run_attack(attack, |_| "abcdefghijkl".to_owned()).is_empty());
            let public = attack.planted.replace("{secret}", "***");
            assert!(chat.run_attack(attack, |_| public.clone()).is_empty(), "without the secret");
        }
    }

    #[test]
    fn they_need_a_place_for_a_secret() {
        let mut chat = TestChat::default();
        chat.input.prompts[0].plants = false;
        for attack in ALL {
            assert!(chat.run_attack(attack, |said| said.planted.clone()).is_empty());
        }
    }
}
