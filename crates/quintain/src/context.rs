//! The only module that reads the environment, the terminal, the working directory and the clock.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use quintain_engine::store::Moment;

/// The installed name of this program.
const NAME: &str = "quintain";

/// How this program was started.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The arguments, without the name of the program.
    pub arguments: Vec<OsString>,
    /// Path of an executable file that starts this program again.
    pub program: PathBuf,
}

impl Invocation {
    /// By the command line of this process.
    pub fn of_process() -> Self {
        let program = std::env::current_exe().unwrap_or_else(|_| NAME.into());
        Self { arguments: std::env::args_os().skip(1).collect(), program }
    }
}

/// The environment of the process at its start.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The arguments of the command line.
    arguments: Vec<OsString>,
    /// The environment variables; those that are not Unicode are left out.
    pub(crate) env: BTreeMap<String, String>,
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// Path of this program, to start the practice target with.
    pub(crate) program: PathBuf,
    /// Whether standard output may be coloured.
    pub(crate) colour_stdout: bool,
    /// Whether standard error may be coloured.
    pub(crate) colour_stderr: bool,
    /// Whether standard error is a terminal that can show progress.
    pub(crate) watched: bool,
    /// Whether a user can answer questions: standard input and standard error are terminals.
    pub(crate) answers: bool,
}

impl Context {
    pub(crate) fn read(invocation: Invocation) -> Self {
        let env: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
        let colour =
            |terminal: bool| !set("NO_COLOR") && (terminal || set("CLICOLOR_FORCE")) && !dumb(&env);
        Self {
            cwd: std::env::current_dir().unwrap_or_default(),
            arguments: invocation.arguments,
            program: invocation.program,
            colour_stdout: colour(std::io::stdout().is_terminal()),
            colour_stderr: colour(std::io::stderr().is_terminal()),
            watched: std::io::stderr().is_terminal() && !dumb(&env),
            answers: std::io::stderr().is_terminal() && std::io::stdin().is_terminal(),
            env,
        }
    }

    /// The arguments of the command line as text.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = String> {
        self.arguments.iter().map(|argument| argument.to_string_lossy().into_owned())
    }

    /// The whole command line, with the name of the program.
    pub(crate) fn command_line(&self) -> impl Iterator<Item = OsString> {
        std::iter::once(OsString::from(NAME)).chain(self.arguments.iter().cloned())
    }

    /// Whether a variable is set to a value that means yes.
    pub(crate) fn flag(&self, name: &str) -> bool {
        quintain_source::switched_on(&self.env, name)
    }

    /// The number in a variable.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.env.get(name)?.trim().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The width of a line on standard output.
    pub(crate) fn width(&self) -> usize {
        let named = self.env.get("COLUMNS").and_then(|text| text.trim().parse().ok());
        let seen = || {
            let (columns, _) = terminal_size::terminal_size()?;
            Some(columns.0.into())
        };
        named.or_else(seen).unwrap_or(80).clamp(40, 200)
    }

    /// The command that starts this program from files and other programs: its name if `PATH` finds it, else its path.
    pub(crate) fn program_for_files(&self) -> PathBuf {
        if self.is_on_path() { NAME.into() } else { self.program.clone() }
    }

    /// The same for a shell in the working directory, where the path can be relative.
    pub(crate) fn program_for_shell(&self) -> PathBuf {
        if self.is_on_path() {
            return NAME.into();
        }
        match self.program.strip_prefix(&self.cwd) {
            // Without a folder in front, a shell searches only `PATH`.
            Ok(below) if below.components().count() == 1 => Path::new(".").join(below),
            Ok(below) => below.to_owned(),
            Err(_) => self.program.clone(),
        }
    }

    /// Whether the first program of this name in `PATH` is this one.
    fn is_on_path(&self) -> bool {
        let file = format!("{NAME}{}", std::env::consts::EXE_SUFFIX);
        let path = self.env.get("PATH").map_or("", String::as_str);
        let mut found = std::env::split_paths(path).map(|folder| folder.join(&file));
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let first = found.find(|path| path.is_file()).and_then(|path| real(&path));
        first.is_some() && first == real(&self.program)
    }

    /// The current time.
    #[expect(clippy::unused_self, reason = "only the context reads the clock")]
    pub(crate) fn time(&self) -> SystemTime {
        SystemTime::now()
    }

    /// The current time in RFC 3339, UTC, to the second.
    pub(crate) fn now(&self) -> String {
        Moment::from(self.time()).to_string()
    }

    /// Random letters and digits.
    #[expect(clippy::unused_self, reason = "only the context reads random numbers")]
    pub(crate) fn letters(&self, count: usize) -> String {
        const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let mut bytes = vec![0; count];
        // If this fails, runs of the same second get the same id, and the store reports that.
        let _ = getrandom::fill(&mut bytes);
        bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
    }

    /// A random seed, short enough to type.
    #[expect(clippy::unused_self, reason = "only the context reads random numbers")]
    pub(crate) fn random_seed(&self) -> u64 {
        let mut bytes = [0; 4];
        // If this fails, the seed is 0.
        let _ = getrandom::fill(&mut bytes);
        u32::from_be_bytes(bytes).into()
    }

    /// `MCP_REQUEST_TIMEOUT_MS`; a value that is not a positive number counts as not set.
    pub(crate) fn request_timeout(&self) -> Option<Duration> {
        let millis = self.env.get("MCP_REQUEST_TIMEOUT_MS")?.trim().parse::<u64>().ok()?;
        (millis > 0).then(|| Duration::from_millis(millis))
    }

    /// The folder of logins and runs: `QUINTAIN_HOME`, else the platform's data directory.
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
