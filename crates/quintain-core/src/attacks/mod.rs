//! Every built-in attack, one family per file.

mod accepted;
mod auth_missing;
mod bfla;
mod bola;
mod command_injection;
mod cross_session_leak;
mod data_exfil;
mod debug_access;
mod deeds;
mod dos_malformed;
mod error_leak;
mod excessive_agency;
mod hidden_tool;
mod http;
mod http_host_origin;
mod leaks;
mod listed;
mod names;
mod nature;
mod output_injection;
mod path_traversal;
mod path_write;
mod paths;
mod pii;
mod rbac;
pub mod reach;
mod schema_bypass;
mod secrets;
mod session_hijack;
mod ssrf;
mod token_handling;
mod tool_discovery;
mod tool_poisoning;
mod tool_shadowing;
mod toxic_flow;
mod unsafe_url_scheme;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use crate::attack::Attack;

static ALL: &[&dyn Attack] = &[
    &auth_missing::AuthMissing,
    &bfla::Bfla,
    &bola::Bola,
    &command_injection::CommandInjection,
    &cross_session_leak::CrossSessionLeak,
    &data_exfil::DataExfil,
    &debug_access::DebugAccess,
    &dos_malformed::DosMalformed,
    &error_leak::ErrorLeak,
    &excessive_agency::ExcessiveAgency,
    &hidden_tool::HiddenTool,
    &http_host_origin::HttpHostOrigin,
    &output_injection::OutputInjection,
    &path_traversal::PathTraversal,
    &path_write::PathWrite,
    &pii::Pii,
    &rbac::Rbac,
    &schema_bypass::SchemaBypass,
    &secrets::Secrets,
    &session_hijack::SessionHijack,
    &ssrf::Ssrf,
    &token_handling::TokenHandling,
    &tool_discovery::ToolDiscovery,
    &tool_poisoning::ToolPoisoning,
    &tool_shadowing::ToolShadowing,
    &toxic_flow::ToxicFlow,
    &unsafe_url_scheme::UnsafeUrlScheme,
];

pub fn all() -> &'static [&'static dyn Attack] {
    ALL
}

/// The attack of that id or alias.
pub fn find(name: &str) -> Option<&'static dyn Attack> {
    ALL.iter().copied().find(|attack| attack.meta().answers_to(name))
}
