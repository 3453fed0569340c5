//! What is known about a target that takes text: its prompts, its instructions, the tools it is offered.

use quintain_evidence::finding::Place;
use serde::{Deserialize, Serialize};

use crate::knowledge::Aim;

/// Consecutive words of the instructions in a reply that are worth a suspicion. Fewer may be a description of the target's
/// own task.
pub(crate) const SHORT_EXCERPT: usize = 8;

/// The input of a target that takes text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Input {
    /// The name of the target.
    pub target: String,
    /// The id of the target, which for a model contains its name.
    pub id: String,
    pub prompts: Vec<InputPrompt>,
    /// What the target is for, in the user's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The tools that a model is offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<OfferedTool>,
    /// Whether the target keeps the conversation itself, so that turns cannot be forged.
    pub is_stateful: bool,
}

/// A prompt of the suite.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputPrompt {
    /// Its name; empty if it is the only one.
    pub label: String,
    /// The variable that contains what the user says.
    pub variable: String,
    /// Other variables: documents, records, results of a search.
    pub data: Vec<String>,
    /// The text around the variables, and the system message: the instructions of the target.
    pub instructions: String,
    /// Whether Quintain can add to the instructions.
    pub plants: bool,
    /// Whether the instructions contain `{{canary}}`.
    pub has_canary: bool,
}

/// A tool that a model is offered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedTool {
    pub name: String,
    /// Names of its arguments that take text.
    pub texts: Vec<String>,
}

impl Input {
    /// The prompt of an aim, with its position.
    pub fn prompt_of(&self, aim: &Aim) -> Option<(usize, &InputPrompt)> {
        let Place::Input { prompt, .. } = &aim.place else { return None };
        self.prompts.iter().enumerate().find(|(_, one)| one.label == *prompt)
    }

    fn aim(&self, prompt: &InputPrompt, variable: &str) -> Aim {
        Aim::at(Place::Input {
            server: self.target.clone(),
            prompt: prompt.label.clone(),
            variable: variable.to_owned(),
        })
    }

    /// What the user says, in every prompt.
    pub fn messages(&self) -> Vec<Aim> {
        self.prompts.iter().map(|prompt| self.aim(prompt, &prompt.variable)).collect()
    }

    /// Every other variable; what the user says in prompts that have no other.
    pub fn data(&self) -> Vec<Aim> {
        let aims = self.prompts.iter().flat_map(|prompt| {
            let own = prompt.data.iter().map(|variable| self.aim(prompt, variable));
            let pasted = prompt.data.is_empty().then(|| self.aim(prompt, &prompt.variable));
            own.chain(pasted)
        });
        aims.collect()
    }

    /// The aims whose prompt satisfies a condition.
    pub fn messages_where(&self, is: impl Fn(&InputPrompt) -> bool) -> Vec<Aim> {
        let mut aims = self.messages();
        aims.retain(|aim| self.prompt_of(aim).is_some_and(|(_, prompt)| is(prompt)));
        aims
    }

    /// Whether the target has instructions, as far as Quintain knows, so that a user could override them.
    pub fn has_task(&self, prompt: &InputPrompt) -> bool {
        self.purpose.is_some() || !prompt.instructions.trim().is_empty()
    }
}

impl InputPrompt {
    /// Whether a secret can be put where only the target reads it.
    pub fn takes_secret(&self) -> bool {
        self.plants || self.has_canary
    }

    /// Whether a reply that discloses the instructions can be recognised: by a secret in them, or because enough of their
    /// words are known.
    pub fn shows_disclosure(&self) -> bool {
        let words = self.instructions.split(|c: char| !c.is_alphanumeric());
        self.takes_secret() || words.filter(|word| !word.is_empty()).count() >= SHORT_EXCERPT
    }
}
