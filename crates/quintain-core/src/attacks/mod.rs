//! Every built-in attack, one family per file.

mod auth_missing;
mod bfla;
mod bola;
mod command_injection;
mod cross_session_leak;
mod excessive_agency;
mod hidden_tool;
mod http;
mod http_host_origin;
mod leaks;
mod listed;
mod names;
mod nature;
mod pii;
mod rbac;
mod reach;
mod secrets;
mod session_hijack;
mod token_handling;
mod tool_discovery;
mod tool_poisoning;
mod tool_shadowing;
mod toxic_flow;

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
    &excessive_agency::ExcessiveAgency,
    &hidden_tool::HiddenTool,
    &http_host_origin::HttpHostOrigin,
    &pii::Pii,
    &rbac::Rbac,
    &secrets::Secrets,
    &session_hijack::SessionHijack,
    &token_handling::TokenHandling,
    &tool_discovery::ToolDiscovery,
    &tool_poisoning::ToolPoisoning,
    &tool_shadowing::ToolShadowing,
    &toxic_flow::ToxicFlow,
];

pub fn all() -> &'static [&'static dyn Attack] {
    ALL
}

/// The attack of that id or alias.
pub fn find(name: &str) -> Option<&'static dyn Attack> {
    ALL.iter().copied().find(|attack| attack.meta().answers_to(name))
}
