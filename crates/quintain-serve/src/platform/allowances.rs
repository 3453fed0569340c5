//! What the owner of a server allows, and how much.

use std::path::PathBuf;

use quintain_engine::Access;
use quintain_wire::destination::Destination;

use crate::settings::{Settings, Transport};

/// What the owner of a server allows.
#[derive(Debug, Clone)]
pub struct Allowances {
    /// The version of the program.
    pub version: String,
    /// Targets that everybody may name, and that may be attacked off loopback with `confirm: true`. An operator may also
    /// name loopback.
    pub allow_targets: Vec<Destination>,
    /// Programs that an operator may start as targets.
    pub allow_commands: Access<String>,
    /// Whether the host asks its user before a tool runs, as over stdio. A user may allow targets that are not listed.
    pub asks_its_user: bool,
    /// Folders whose files no run, tool or report reads or writes: the state of the server.
    pub hidden: Vec<PathBuf>,
    /// The folder whose files an operator may name.
    pub workspace: PathBuf,
    /// Runs of all principals that execute concurrently.
    pub concurrent_runs: usize,
    pub operator_quota: Quota,
    /// Of everybody who is not an operator.
    pub quota: Quota,
}

/// How much a principal may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Runs that execute or wait concurrently.
    pub concurrent_runs: usize,
    /// Runs in the store.
    pub stored_runs: usize,
    /// Calls that one run may make.
    pub calls_per_run: usize,
    /// Duration of one run.
    pub seconds_per_run: u64,
    /// Size of generators, data sets and orchestrators together.
    pub stored_bytes: u64,
}

impl Default for Allowances {
    fn default() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            allow_targets: Vec::new(),
            allow_commands: Access::Only(Vec::new()),
            asks_its_user: true,
            hidden: Vec::new(),
            workspace: PathBuf::new(),
            concurrent_runs: 8,
            operator_quota: Quota {
                concurrent_runs: 8,
                stored_runs: 100_000,
                calls_per_run: 1_000_000,
                seconds_per_run: 24 * 3_600,
                stored_bytes: 1 << 30,
            },
            quota: Quota {
                concurrent_runs: 2,
                stored_runs: 500,
                calls_per_run: 20_000,
                seconds_per_run: 1_800,
                stored_bytes: 64 << 20,
            },
        }
    }
}

impl Allowances {
    /// What the settings of a server allow. `workspace` is the folder it was started in.
    ///
    /// # Errors
    /// All entries of `allowTargets` that are not a host, or a host and a port.
    pub fn of(settings: &Settings, workspace: PathBuf) -> Result<Self, Vec<String>> {
        let (mut allow_targets, mut errors) = (Vec::new(), Vec::new());
        for text in &settings.allow_targets {
            match text.parse::<Destination>() {
                Ok(target) => allow_targets.push(target),
                Err(error) => errors.push(format!("`{text}` in allowTargets: {error}")),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        // Over stdio the host asks its user before a tool runs.
        let allow_commands = match (&settings.allow_commands, settings.transport) {
            (Some(list), _) => Access::Only(list.clone()),
            (None, Transport::Stdio) => Access::Everything,
            (None, Transport::Http) => Access::Only(Vec::new()),
        };
        let version = settings.version.clone();
        let asks_its_user = settings.transport == Transport::Stdio;
        Ok(Self {
            version,
            allow_targets,
            allow_commands,
            asks_its_user,
            workspace,
            ..Self::default()
        })
    }
}
