//! Every built-in attack, one family per file.

mod argument_injection;
mod auth_missing;
mod bfla;
mod bola;
mod code_injection;
mod command_injection;
mod cross_session_leak;
mod data_exfil;
mod debug_access;
mod dos_growth;
mod dos_malformed;
mod error_leak;
mod excessive_agency;
mod hidden_tool;
mod http;
mod http_host_origin;
mod inspections;
pub(crate) mod leaks;
mod listed;
mod names;
mod nosql_injection;
mod output_injection;
mod pairs;
mod path_traversal;
mod path_write;
mod paths;
mod pii;
mod prompts;
mod rbac;
pub mod reach;
mod schema_bypass;
mod secrets;
mod session_hijack;
mod sql_injection;
mod ssrf;
mod template_injection;
mod token_handling;
mod tool_access;
mod tool_actions;
mod tool_contract;
mod tool_discovery;
mod tool_poisoning;
mod tool_shadowing;
mod toxic_flow;
mod traces;
mod unsafe_url_scheme;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use dos_malformed::{CRASH_ATTACK, CRASH_FAULT};
pub use inspections::inspections;
pub use prompts::disclosed;

use crate::attack::Attack;
use crate::suits::Receiver;

static ALL: &[&dyn Attack] = &[
    &argument_injection::ArgumentInjection,
    &auth_missing::AuthMissing,
    &bfla::Bfla,
    &bola::Bola,
    &code_injection::CodeInjection,
    &command_injection::CommandInjection,
    &cross_session_leak::CrossSessionLeak,
    &data_exfil::DataExfil,
    &debug_access::DebugAccess,
    &dos_growth::DosGrowth,
    &dos_malformed::DosMalformed,
    &error_leak::ErrorLeak,
    &excessive_agency::ExcessiveAgency,
    &hidden_tool::HiddenTool,
    &http_host_origin::HttpHostOrigin,
    &nosql_injection::NosqlInjection,
    &output_injection::OutputInjection,
    &path_traversal::PathTraversal,
    &path_write::PathWrite,
    &pii::Pii,
    &rbac::Rbac,
    &schema_bypass::SchemaBypass,
    &secrets::Secrets,
    &session_hijack::SessionHijack,
    &sql_injection::SqlInjection,
    &ssrf::Ssrf,
    &template_injection::TemplateInjection,
    &token_handling::TokenHandling,
    &tool_discovery::ToolDiscovery,
    &tool_poisoning::ToolPoisoning,
    &tool_shadowing::ToolShadowing,
    &toxic_flow::ToxicFlow,
    &unsafe_url_scheme::UnsafeUrlScheme,
    // Targets that take text.
    &prompts::ascii_smuggling::AsciiSmuggling,
    &prompts::bola::MODEL_BOLA,
    &prompts::cca::ContextCompliance,
    &prompts::cross_session_leak::ModelCrossSessionLeak,
    &prompts::data_exfil::ModelDataExfil,
    &prompts::debug_access::DEBUG_ACCESS,
    &prompts::divergent_repetition::DivergentRepetition,
    &prompts::excessive_agency::ModelExcessiveAgency,
    &prompts::hijacking::Hijacking,
    &prompts::indirect_prompt_injection::IndirectPromptInjection,
    &prompts::memory_poisoning::MemoryPoisoning,
    &prompts::model_identification::ModelIdentification,
    &prompts::output_injection::ModelOutputInjection,
    &prompts::pii::MODEL_PII,
    &prompts::prompt_extraction::PromptExtraction,
    &prompts::prompt_injection::PromptInjection,
    &prompts::rbac::MODEL_RBAC,
    &prompts::reasoning_dos::ReasoningDos,
    &prompts::special_token_injection::SpecialTokenInjection,
    &prompts::system_prompt_override::SystemPromptOverride,
    &prompts::tool_discovery::ModelToolDiscovery,
];

pub fn all() -> &'static [&'static dyn Attack] {
    ALL
}

/// The attacks that apply to such a target.
pub fn suiting(receiver: Receiver) -> impl Iterator<Item = &'static dyn Attack> {
    ALL.iter().copied().filter(move |attack| attack.suits().includes(receiver))
}

/// The attack with this id or alias.
pub fn find(name: &str) -> Option<&'static dyn Attack> {
    ALL.iter().copied().find(|attack| attack.meta().answers_to(name))
}
