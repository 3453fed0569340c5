//! Decides which programs a run may start. A suite can set `PATH` for the programs it starts, so a restricted run
//! starts a program by the path that was checked.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quintain_evidence::code::Language;

use super::{Access, Denied, Policy};

/// Variables that change which code a program loads or starts. A suite may set them only if the policy names them.
const REDIRECTING: [&str; 29] = [
    "BASH_ENV",
    "BROWSER",
    "CLASSPATH",
    "DOTNET_STARTUP_HOOKS",
    "EDITOR",
    "ENV",
    "GEM_HOME",
    "GEM_PATH",
    "HOME",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LUA_INIT",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PAGER",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "RUBYLIB",
    "RUBYOPT",
    "SHELLOPTS",
    "VISUAL",
    "XDG_CONFIG_HOME",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];
/// Prefixes of such variables for the dynamic linker, and for tools that fetch and start programs.
const PREFIXES: [&str; 8] =
    ["BUNDLE_", "DYLD_", "GIT_", "LD_", "NPM_CONFIG_", "PIP_", "UV_", "npm_config_"];

/// Finds and checks programs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Commands {
    policy: Arc<Policy>,
    /// `PATH` of this process.
    search: String,
}

impl Commands {
    pub(crate) fn new(policy: Arc<Policy>, search: Option<&String>) -> Self {
        Self { policy, search: search.cloned().unwrap_or_default() }
    }

    /// The program to start for a command. `folder` is its working directory, and `variables` are the environment
    /// variables that the suite sets for it.
    pub(crate) fn program<'n>(
        &self,
        written: &str,
        folder: Option<&Path>,
        variables: impl IntoIterator<Item = &'n String>,
    ) -> Result<OsString, Denied> {
        let Access::Only(list) = &self.policy.commands else { return Ok(written.into()) };
        let program = self.found(written, folder);
        if !list.iter().any(|known| self.found(known, None) == program) {
            return Err(Denied::Command(written.to_owned()));
        }
        self.check_variables(variables)?;
        Ok(program.into())
    }

    /// The program to start as interpreter of a language. If the suite chose it, the policy must allow it like any other
    /// command.
    pub(crate) fn interpreter<'n>(
        &self,
        language: Language,
        written: &str,
        is_chosen: bool,
        variables: impl IntoIterator<Item = &'n String>,
    ) -> Result<OsString, Denied> {
        self.policy.interpreter(language)?;
        if is_chosen {
            return self.program(written, None, variables);
        }
        if self.policy.interpreters.is_everything() && self.policy.commands.is_everything() {
            return Ok(written.into());
        }
        self.check_variables(variables)?;
        Ok(self.found(written, None).into())
    }

    fn check_variables<'n>(
        &self,
        variables: impl IntoIterator<Item = &'n String>,
    ) -> Result<(), Denied> {
        let redirects = |name: &&String| {
            REDIRECTING.contains(&name.as_str())
                || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        };
        variables.into_iter().filter(redirects).try_for_each(|name| self.policy.variable(name))
    }

    /// The path of a program: as given, or the first match in `PATH`. Symbolic links in the folder are resolved. The file
    /// name is not, since one file can be several programs, depending on its name.
    fn found(&self, written: &str, folder: Option<&Path>) -> PathBuf {
        if written.contains(std::path::is_separator) {
            return with_real_folder(&folder.unwrap_or(Path::new("")).join(written));
        }
        let folders: Vec<PathBuf> =
            std::env::split_paths(&self.search).filter(|folder| folder.is_absolute()).collect();
        let found = folders.iter().map(|folder| folder.join(written)).find(|path| path.is_file());
        // Return an absolute path even if nothing was found, so that the start does not search again.
        let nowhere = || folders.first().map_or(Path::new("/"), PathBuf::as_path).join(written);
        with_real_folder(&found.unwrap_or_else(nowhere))
    }
}

fn with_real_folder(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return path };
    folder.canonicalize().map_or_else(|_| path.clone(), |folder| folder.join(name))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn commands(list: &[&str], search: &Path) -> Commands {
        let list = list.iter().map(|text| (*text).to_owned()).collect();
        let policy = Policy { commands: Access::Only(list), ..Policy::nothing() };
        Commands::new(Arc::new(policy), Some(&search.display().to_string()))
    }

    #[test]
    fn a_program_is_named_by_its_name_or_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let path = root.join("tool");
        for name in ["tool", "other"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        std::fs::create_dir(root.join("sub")).unwrap();
        std::fs::write(root.join("sub/tool"), "").unwrap();
        let text = |path: &Path| path.display().to_string();
        let start = |list: &str, asked: &str| commands(&[list], &root).program(asked, None, []);
        let ok = Ok(OsString::from(&path));
        assert_eq!(start("tool", "tool"), ok);
        assert_eq!(start(&text(&path), "tool"), ok);
        assert_eq!(start("tool", &text(&path)), ok);
        assert_eq!(start("tool", &text(&root.join("sub/../tool"))), ok);
        for asked in ["other", "./tool", "sub/tool", &text(&root.join("sub/tool")), "tool -x", ""] {
            let denied = Err(Denied::Command(asked.to_owned()));
            assert_eq!(start("tool", asked), denied, "{asked}");
        }
        assert_eq!(start("absent", "absent"), Ok(root.join("absent").into()));
        let named = commands(&["tool"], &root);
        assert_eq!(named.program("./tool", Some(&root), []), ok);
        assert!(named.program("./tool", Some(&root.join("sub")), []).is_err());
    }

    #[test]
    fn a_suite_cannot_make_a_named_program_another_one() {
        let dir = tempfile::tempdir().unwrap();
        let commands = commands(&["tool"], dir.path());
        for name in ["PATH", "HOME", "LD_PRELOAD", "GIT_SSH", "npm_config_prefix", "NODE_OPTIONS"] {
            let name = name.to_owned();
            let started = commands.program("tool", None, [&name]);
            assert_eq!(started, Err(Denied::Variable(name.clone())));
        }
        assert!(commands.program("tool", None, [&"LANG".to_owned()]).is_ok());
        let free = Commands::default().program("tool", None, [&"PATH".to_owned()]);
        assert_eq!(free, Ok("tool".into()));
    }
}
