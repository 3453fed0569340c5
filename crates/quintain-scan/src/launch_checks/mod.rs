//! Checks of how configurations start or connect to servers. To add one: write its
//! file, and its line in `ALL`. Nothing is started, and checks read the machine only
//! through a [`Machine`].

mod conflicting_servers;
mod container_powers;
mod lookalike_package;
mod piped_download;
mod plain_http;
mod preloaded_code;
mod program;
mod secret_in_config;
mod shell_wrapper;
mod unpinned_package;
mod unverified_transport;
mod writable_by_others;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::clients::{Config, Entry};
use quintain_content::registry::Meta;
use quintain_evidence::connection::Launch;
use quintain_evidence::finding::{Confidence, Finding, Place, Severity};
use quintain_evidence::static_finding::{FindingText, finding};
use quintain_evidence::weakness::Weakness;

pub use secret_in_config::{Literal, literals, masked};

/// Looks for one kind of misconfiguration.
pub struct LaunchCheck {
    pub meta: Meta,
    /// Its severity, CWEs and framework entries.
    pub weakness: Weakness<'static>,
    look: fn(&Scene<'_>) -> Vec<Concern>,
}

/// What checks may ask about files, without starting anything.
pub trait Machine {
    /// Where a program of this name would be found.
    fn program(&self, name: &str) -> Option<PathBuf>;

    /// The path itself, or a folder above it, that every user can write.
    fn open_to_all(&self, path: &Path) -> Option<PathBuf>;
}

/// One server among all that are configured.
pub struct Scene<'a> {
    pub config: &'a Config,
    pub entry: &'a Entry,
    pub launch: &'a Launch,
    pub configs: &'a [Config],
    pub machine: &'a dyn Machine,
}

/// Something that is wrong with a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concern {
    /// Which part of the entry: `args[1]`, `env.TOKEN`, `url`.
    pub part: String,
    /// What is wrong, in one line without a full stop.
    pub title: String,
    /// What was seen.
    pub what: String,
    /// What to do.
    pub help: String,
    /// Overrides the severity of the check.
    pub severity: Option<Severity>,
    pub confidence: Confidence,
}

impl Concern {
    fn new(part: impl Into<String>, title: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            part: part.into(),
            title: title.into(),
            what: what.into(),
            help: String::new(),
            severity: None,
            confidence: Confidence::Confirmed,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    fn suspected(mut self) -> Self {
        self.confidence = Confidence::Suspected;
        self
    }
}

/// All checks, in the order of the reference.
static ALL: &[&LaunchCheck] = &[
    &secret_in_config::SECRET_IN_CONFIG,
    &plain_http::PLAIN_HTTP,
    &unverified_transport::UNVERIFIED_TRANSPORT,
    &unpinned_package::UNPINNED_PACKAGE,
    &lookalike_package::LOOKALIKE_PACKAGE,
    &piped_download::PIPED_DOWNLOAD,
    &preloaded_code::PRELOADED_CODE,
    &shell_wrapper::SHELL_WRAPPER,
    &container_powers::CONTAINER_POWERS,
    &writable_by_others::WRITABLE_BY_OTHERS,
    &conflicting_servers::CONFLICTING_SERVERS,
];

pub fn all() -> &'static [&'static LaunchCheck] {
    ALL
}

/// Checks an entry. Disabled entries are listed, not checked.
pub fn look(
    config: &Config,
    entry: &Entry,
    configs: &[Config],
    machine: &dyn Machine,
) -> Vec<Finding> {
    let Some(launch) = entry.launch.as_ref().filter(|_| !entry.disabled) else { return Vec::new() };
    let scene = Scene { config, entry, launch, configs, machine };
    let mut findings = Vec::new();
    for check in all() {
        for concern in (check.look)(&scene) {
            let place = Place::Launch { server: entry.name.clone(), part: concern.part };
            let told = FindingText {
                title: concern.title,
                what: concern.what,
                help: Some(concern.help).filter(|help| !help.is_empty()),
                severity: concern.severity,
                confidence: concern.confidence,
                note: None,
                fault: "",
            };
            let mut finding = finding(check.meta.id, check.weakness, config.client.id, place, told);
            finding.written = Some(entry.written(config));
            findings.push(finding);
        }
    }
    findings
}
