//! `check_reference`: checks the form of a payment reference.

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::json;

use super::{Call, DemoTool, Effect, ToolError, json};
use crate::config::Twin;

/// The slow matcher stops after this number of steps, about a second, so that it does no harm. An
/// optimised build makes many more of them in that time.
const MOST_STEPS: u32 = if cfg!(debug_assertions) { 1 << 23 } else { 1 << 27 };

pub(super) struct CheckReference;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// A payment reference of letters and digits.
    #[schemars(example = &"RF18", length(min = 1, max = 64))]
    reference: String,
}

impl DemoTool for CheckReference {
    type Args = Args;

    const NAME: &'static str = "check_reference";
    const TITLE: &'static str = "Check reference";
    const DESCRIPTION: &'static str =
        "Says whether a payment reference has only letters and digits.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: Args) -> Result<CallToolResponse, ToolError> {
        let valid = match call.twin() {
            // PLANTED (dos-growth): backtracking over a nested repetition, exponential in the length.
            Twin::Vulnerable => {
                let reference = args.reference.clone();
                tokio::task::spawn_blocking(move || {
                    matches_groups(reference.as_bytes(), &mut MOST_STEPS.clone())
                })
                .await
                .unwrap_or(false)
            }
            Twin::Patched => args.reference.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        json(&json!({ "reference": args.reference, "valid": valid }))
    }
}

/// Matches `^([A-Za-z0-9]+)+$` as a backtracking engine does: it tries each way to split the text.
fn matches_groups(text: &[u8], steps: &mut u32) -> bool {
    let run = text.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    (1..=run).rev().any(|length| {
        let Some(left) = steps.checked_sub(1) else { return false };
        *steps = left;
        length == text.len() || matches_groups(&text[length..], steps)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_for(length: usize) -> u32 {
        let mut steps = MOST_STEPS;
        assert!(!matches_groups(format!("{}!", "a".repeat(length)).as_bytes(), &mut steps));
        MOST_STEPS - steps
    }

    #[test]
    fn five_more_letters_take_thirty_two_times_as_long() {
        assert!(steps_for(15) >= 31 * steps_for(10));
    }

    #[test]
    fn the_verdict_itself_is_right() {
        assert!(matches_groups(b"RF18abc", &mut MOST_STEPS.clone()));
        assert!(!matches_groups(b"RF18-abc", &mut MOST_STEPS.clone()));
    }
}
