//! Attacks on targets that take text: models, applications with a model in them, agents. Their oracles are random words
//! that an echo cannot produce, and random secrets that only the target's instructions contain.

/// `Meta::docs` of an attack.
macro_rules! docs {
    (
        what: $what:expr, why: $why:expr, proof: $proof:expr, plugin: $plugin:expr,
        references: $references:expr $(,)?
    ) => {
        concat!(
            "# What it does\n",
            $what,
            "\n\n# Why it matters\n",
            $why,
            "\n\n# What counts as proof\n",
            $proof,
            "\n\n# Example\n```yaml\nredteam:\n  systemPrompt: You answer questions about invoices.\n  plugins: [",
            $plugin,
            "]\n```\n\n# References\n- ",
            $references,
            "\n"
        )
    };
}

mod disclosed;
mod draft;
mod planted_secret;
#[cfg(test)]
pub(super) mod testing;

pub(super) mod ascii_smuggling;
pub(super) mod bola;
pub(super) mod cca;
pub(super) mod cross_session_leak;
pub(super) mod data_exfil;
pub(super) mod debug_access;
pub(super) mod divergent_repetition;
pub(super) mod excessive_agency;
pub(super) mod hijacking;
pub(super) mod indirect_prompt_injection;
pub(super) mod memory_poisoning;
pub(super) mod model_identification;
pub(super) mod output_injection;
pub(super) mod pii;
pub(super) mod prompt_extraction;
pub(super) mod prompt_injection;
pub(super) mod rbac;
pub(super) mod reasoning_dos;
pub(super) mod special_token_injection;
pub(super) mod system_prompt_override;
pub(super) mod tool_discovery;

pub use disclosed::disclosed;
