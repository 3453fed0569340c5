//! What the command line says about a target, stored with a run so that `--resume` and `replay` reach the same
//! target. Values of variables and headers are secrets: only their names are stored.

use std::path::{Path, PathBuf};

use quintain_engine::store::SuiteText;
use quintain_wire::redact::MASK;
use serde::{Deserialize, Serialize};

use super::TargetArgs;
use crate::cli::App;

/// The name of this text among the stored files of the suite.
const NAME: &str = "options of the target";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::cli) struct Given {
    /// Working directory of the run; stored as the folder of the text.
    #[serde(skip)]
    folder: Option<PathBuf>,
    /// Whether a secret was left out.
    #[serde(skip)]
    is_masked: bool,
    /// Set for a target that is not in a suite.
    url: Option<String>,
    command: Vec<String>,
    /// Names of variables (`--env`).
    env: Vec<String>,
    /// Names of headers (`--header`).
    headers: Vec<String>,
    cwd: Option<PathBuf>,
    transport: Option<String>,
    protocol: Option<String>,
    timeout: Option<u64>,
    stored_auth_only: bool,
}

impl Given {
    /// For a command without options about targets.
    pub(in crate::cli) fn nothing(app: &App) -> Self {
        Self { folder: Some(app.context.cwd.clone()), ..Self::default() }
    }

    /// Destructures all options, so that the compiler reports a new one that is missing here.
    pub(super) fn of(args: &TargetArgs, app: &App) -> Self {
        let TargetArgs {
            // Suites are stored separately, and the chosen target is an option of the run.
            config: _,
            target: _,
            url,
            command,
            headers,
            env,
            cwd,
            transport,
            protocol,
            timeout,
            stored_auth_only,
        } = args;
        Self {
            folder: Some(app.context.cwd.clone()),
            is_masked: false,
            url: url.clone(),
            command: command.clone(),
            env: names(env, '='),
            headers: names(headers, ':'),
            cwd: cwd.as_ref().map(|cwd| app.context.cwd.join(cwd)),
            transport: transport.clone(),
            protocol: protocol.clone(),
            timeout: *timeout,
            stored_auth_only: *stored_auth_only,
        }
    }

    /// The text to store.
    pub(in crate::cli) fn text(&self) -> Option<SuiteText> {
        Some(SuiteText {
            name: NAME.to_owned(),
            base_dir: self.folder.clone()?,
            text: serde_json::to_string(self).ok()?.into(),
        })
    }

    /// Takes it from the stored texts; runs of earlier versions have none.
    pub(in crate::cli) fn take(texts: &mut Vec<SuiteText>) -> Self {
        let Some(at) = texts.iter().position(|text| text.name == NAME) else {
            return Self::default();
        };
        let stored = texts.remove(at);
        let given: Self = serde_json::from_str(&stored.text).unwrap_or_default();
        let is_masked = stored.text.contains(MASK);
        Self { folder: Some(stored.base_dir), is_masked, ..given }
    }

    /// Whether the command line contained a secret, which is not stored.
    pub(in crate::cli) fn is_masked(&self) -> bool {
        self.is_masked
    }

    /// The target and options of the stored run, overridden by this command line.
    pub(super) fn under(&self, args: &TargetArgs, app: &App) -> TargetArgs {
        let missing = |flag: &str, stored: &[String], given: &[String]| {
            let missing = stored.iter().filter(|name| !given.contains(name));
            missing.map(|name| format!("{flag} {name}")).collect::<Vec<_>>()
        };
        let mut forgotten = missing("--env", &self.env, &names(&args.env, '='));
        forgotten.extend(missing("--header", &self.headers, &names(&args.headers, ':')));
        if !forgotten.is_empty() {
            let forgotten = forgotten.join(", ");
            app.console.warn(&format!(
                "the run was started with {forgotten}; values are not stored, so pass them again"
            ));
        }
        TargetArgs {
            config: args.config.clone(),
            target: args.target.clone(),
            url: self.url.clone(),
            command: self.command.clone(),
            headers: args.headers.clone(),
            env: args.env.clone(),
            cwd: args.cwd.clone().or_else(|| self.cwd.clone()),
            transport: args.transport.clone().or_else(|| self.transport.clone()),
            protocol: args.protocol.clone().or_else(|| self.protocol.clone()),
            timeout: args.timeout.or(self.timeout),
            stored_auth_only: args.stored_auth_only || self.stored_auth_only,
        }
    }

    /// The working directory of the run if it is not `here`: its servers start there again.
    pub(in crate::cli) fn elsewhere(&self, here: &Path) -> Option<PathBuf> {
        self.folder.clone().filter(|folder| folder != here)
    }
}

fn names(pairs: &[String], at: char) -> Vec<String> {
    let name = |pair: &String| pair.split(at).next().unwrap_or_default().trim().to_owned();
    pairs.iter().map(name).collect()
}
