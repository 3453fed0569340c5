//! The only reader of environment, terminal, working directory and clock.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

/// What the process found when it was started.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The environment; variables that are not Unicode are left out.
    pub(crate) env: BTreeMap<String, String>,
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// This program, to start the practice target with.
    pub(crate) program: PathBuf,
    /// Whether standard output may be coloured.
    pub(crate) colour_stdout: bool,
    /// Whether standard error may be coloured.
    pub(crate) colour_stderr: bool,
    /// Whether somebody watches standard error.
    pub(crate) watched: bool,
}

impl Context {
    pub(crate) fn read() -> Self {
        let env: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
        let colour =
            |terminal: bool| !set("NO_COLOR") && (terminal || set("CLICOLOR_FORCE")) && !dumb(&env);
        Self {
            cwd: std::env::current_dir().unwrap_or_default(),
            program: std::env::current_exe().unwrap_or_else(|_| "quintain".into()),
            colour_stdout: colour(std::io::stdout().is_terminal()),
            colour_stderr: colour(std::io::stderr().is_terminal()),
            watched: std::io::stderr().is_terminal() && !dumb(&env),
            env,
        }
    }

    /// Whether a variable is set to something that means yes.
    pub(crate) fn flag(&self, name: &str) -> bool {
        let value = self.env.get(name).map(|value| value.to_ascii_lowercase());
        value.is_some_and(|value| matches!(value.as_str(), "1" | "true" | "yes" | "on"))
    }

    /// `MCP_REQUEST_TIMEOUT_MS`; what is no positive number counts as not set.
    pub(crate) fn request_timeout(&self) -> Option<Duration> {
        let millis = self.env.get("MCP_REQUEST_TIMEOUT_MS")?.trim().parse::<u64>().ok()?;
        (millis > 0).then(|| Duration::from_millis(millis))
    }

    /// Where logins and runs are kept: `QUINTAIN_HOME`, else the platform's data directory.
    pub(crate) fn state_dir(&self) -> Option<PathBuf> {
        let var =
            |name: &str| self.env.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(home) = var("QUINTAIN_HOME") {
            return Some(home);
        }
        let base = if cfg!(windows) {
            var("LOCALAPPDATA")?
        } else if cfg!(target_os = "macos") {
            var("HOME")?.join("Library/Application Support")
        } else {
            var("XDG_DATA_HOME").or_else(|| Some(var("HOME")?.join(".local/share")))?
        };
        Some(base.join("quintain"))
    }
}

fn dumb(env: &BTreeMap<String, String>) -> bool {
    env.get("TERM").is_some_and(|term| term == "dumb")
}
