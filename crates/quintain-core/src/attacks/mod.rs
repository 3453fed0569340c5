//! Every built-in attack, one family per file.

mod accepted;
mod command_injection;
mod data_exfil;
mod debug_access;
mod deeds;
mod dos_malformed;
mod error_leak;
mod output_injection;
mod path_traversal;
mod path_write;
mod paths;
pub mod reach;
mod schema_bypass;
mod ssrf;
mod unsafe_url_scheme;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use crate::attack::Attack;

static ALL: &[&dyn Attack] = &[
    &command_injection::CommandInjection,
    &data_exfil::DataExfil,
    &debug_access::DebugAccess,
    &dos_malformed::DosMalformed,
    &error_leak::ErrorLeak,
    &output_injection::OutputInjection,
    &path_traversal::PathTraversal,
    &path_write::PathWrite,
    &schema_bypass::SchemaBypass,
    &ssrf::Ssrf,
    &unsafe_url_scheme::UnsafeUrlScheme,
];

pub fn all() -> &'static [&'static dyn Attack] {
    ALL
}

/// The attack of that id or alias.
pub fn find(name: &str) -> Option<&'static dyn Attack> {
    ALL.iter().copied().find(|attack| attack.meta().answers_to(name))
}
