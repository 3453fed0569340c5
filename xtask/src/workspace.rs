//! Where the workspace and its target folder are, and how cargo is called.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{Result, process};

pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        // The manifest folder is fixed at compile time, so this works from any current directory.
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .ok_or("xtask has no parent folder")?
            .to_path_buf();
        let workspace = Self { target: root.join("target"), root };
        let metadata = workspace.metadata(&["--no-deps"])?;
        let target = metadata["target_directory"].as_str().ok_or("cargo names no target folder")?;
        Ok(Self { target: target.into(), root: workspace.root })
    }

    /// Runs cargo in the workspace, with its output on the screen.
    pub(crate) fn cargo(&self, arguments: &[&str], variables: &[(String, String)]) -> Result<()> {
        let mut command = self.cargo_command(arguments);
        command.envs(variables.iter().map(|(key, value)| (key, value)));
        process::stream(&mut command)
    }

    pub(crate) fn metadata(&self, extra: &[&str]) -> Result<Value> {
        let mut arguments = vec!["metadata", "--format-version", "1"];
        arguments.extend(extra);
        let text = process::capture(&mut self.cargo_command(&arguments))?;
        serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
    }

    /// The files git knows or would know, so that nothing ignored or generated is looked at.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let mut command = Command::new("git");
        command.args(["ls-files", "--cached", "--others", "--exclude-standard"]);
        let text = process::capture(command.current_dir(&self.root))?;
        let paths = text.lines().map(PathBuf::from);
        Ok(paths.filter(|path| self.root.join(path).exists()).collect())
    }

    /// Whether cargo knows this command, which someone has to install first.
    pub(crate) fn has_cargo(&self, command: &str) -> bool {
        process::capture(&mut self.cargo_command(&[command, "--version"])).is_ok()
    }

    /// The platform triple, for looking at the dependencies that are really built here.
    pub(crate) fn host() -> Result<String> {
        let text = process::capture(Command::new("rustc").arg("-vV"))?;
        let host = text.lines().find_map(|line| line.strip_prefix("host: "));
        host.map(str::to_owned).ok_or_else(|| "rustc names no host".into())
    }

    fn cargo_command(&self, arguments: &[&str]) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(arguments).current_dir(&self.root);
        command
    }
}
