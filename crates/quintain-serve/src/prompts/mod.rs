//! The registry of prompts, and completion of their arguments.

mod adversarial_test;
mod benchmark_test;
mod bias_detection;
mod capability_test;
mod conversation_test;
mod creativity_test;
mod given;
mod harmful_content_test;
mod jailbreak_frames;
mod jailbreak_test;
mod knowledge_test;
mod mcp_security_review;
mod own;
mod page;
mod privacy_test;
mod prompt_injection;
mod reasoning_test;
mod selection;
mod template;
mod triage_findings;

pub use own::load as load_own;

use crate::prompt::{Argument, Prompt, Values};

/// Every entry, in the order of lists.
pub static PROMPTS: &[&dyn Prompt] = &[
    &jailbreak_test::PROMPT,
    &bias_detection::PROMPT,
    &prompt_injection::PROMPT,
    &capability_test::PROMPT,
    &harmful_content_test::PROMPT,
    &privacy_test::PROMPT,
    &adversarial_test::PROMPT,
    &reasoning_test::PROMPT,
    &creativity_test::PROMPT,
    &knowledge_test::PROMPT,
    &conversation_test::PROMPT,
    &benchmark_test::PROMPT,
    &mcp_security_review::PROMPT,
    &triage_findings::PROMPT,
];

/// How many values the protocol allows in one completion.
const MOST_COMPLETIONS: usize = 100;

/// The prompt of a name.
pub fn find(name: &str) -> Option<&'static dyn Prompt> {
    PROMPTS.iter().copied().find(|prompt| prompt.meta().name == name)
}

/// The values of an argument that start with a prefix. Of a list, the last item is completed. Empty for text, for ids,
/// which only the store knows, and for unknown names.
pub fn complete(prompt: &str, argument: &str, prefix: &str) -> Vec<String> {
    let arguments = find(prompt).map_or(&[][..], |prompt| prompt.meta().arguments);
    let is_meant = |known: &&Argument| known.name == argument || known.aliases.contains(&argument);
    let (values, start) = match arguments.iter().find(is_meant).map(|known| &known.values) {
        Some(Values::Suggested(values) | Values::OneOf(values)) => (*values, ""),
        Some(Values::List(values)) => {
            let start = prefix.rfind(',').map_or(0, |comma| {
                let rest = &prefix[comma + 1..];
                comma + 1 + (rest.len() - rest.trim_start().len())
            });
            (*values, &prefix[..start])
        }
        _ => return Vec::new(),
    };
    let prefix = prefix[start.len()..].to_lowercase();
    let fitting = values.iter().filter(|value| value.to_lowercase().starts_with(&prefix));
    fitting.take(MOST_COMPLETIONS).map(|value| format!("{start}{value}")).collect()
}

#[cfg(test)]
mod tests;
