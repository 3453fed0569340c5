//! What an attack requires.

use super::input::{Input, InputPrompt};
use super::target_view::TargetView;

/// What is missing for an attack with these needs, in words.
pub fn missing(needs: &[Need], view: &TargetView<'_>) -> Option<String> {
    let has = |need: &Need| match need {
        Need::SameHost => view.capabilities.same_host,
        Need::TwoIdentities => view.capabilities.identities.len() > 1,
        Need::Credentials => view.capabilities.credentials,
        Need::Http => view.capabilities.http,
        Need::Judge => view.capabilities.judge.is_some(),
        Need::Instructions => any_prompt(view, Input::has_task),
        Need::KnownInstructions => any_prompt(view, |_, prompt| prompt.shows_disclosure()),
        Need::Planting => any_prompt(view, |_, prompt| prompt.plants),
        Need::OfferedTools => {
            view.capabilities.input.as_ref().is_some_and(|input| !input.tools.is_empty())
        }
    };
    let missing: Vec<&str> =
        needs.iter().filter(|need| !has(need)).map(|need| need.words()).collect();
    (!missing.is_empty()).then(|| format!("needs {}", missing.join(" and ")))
}

fn any_prompt(view: &TargetView<'_>, is: impl Fn(&Input, &InputPrompt) -> bool) -> bool {
    let input = view.capabilities.input.as_ref();
    input.is_some_and(|input| input.prompts.iter().any(|prompt| is(input, prompt)))
}

/// A requirement of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A target on this machine, so that files and connections can be observed.
    SameHost,
    /// Two sets of credentials.
    TwoIdentities,
    /// Any credentials.
    Credentials,
    /// A target that uses HTTP.
    Http,
    /// A model that judges.
    Judge,
    /// A target with instructions.
    Instructions,
    /// Instructions that Quintain recognises in a reply.
    KnownInstructions,
    /// A place in the instructions of the target for a random text.
    Planting,
    /// A model that is offered tools.
    OfferedTools,
}

impl Need {
    /// What is missing, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::SameHost => "a target on this machine",
            Self::TwoIdentities => "two identities (`redteam.identities`)",
            Self::Credentials => "credentials of the target",
            Self::Http => "an HTTP target",
            Self::Judge => "a judge (`redteam.judge`)",
            Self::Instructions => {
                "instructions that could be overridden: a prompt with instructions, `redteam.systemPrompt` \
                 or `redteam.purpose`"
            }
            Self::KnownInstructions => {
                "instructions that it could recognise in a reply: `redteam.systemPrompt`, a prompt with instructions \
                 of at least 8 words, or `{{canary}}` in the prompt (`redteam.purpose` is not part of what the target receives)"
            }
            Self::Planting => {
                "a system message that Quintain can add to (`redteam.systemPrompt`, or a prompt that is a \
                 list of messages), or `{{planted}}` in the prompt"
            }
            Self::OfferedTools => "a model with tools (`config.tools`)",
        }
    }
}
