//! Runs the commands of a case in a separate folder and records their output and effects.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    os::unix::{fs::symlink, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    case::{Case, words},
    limits::{end_survivors, kill, peak_rss_kb},
    normal::normalise,
};

/// Path of the interpreter itself: the shim of a version manager, which is a script, would need the caller's home
/// directory.
pub(crate) static PYTHON: LazyLock<String> = LazyLock::new(|| {
    let is_script = |path: &Path| {
        let mut start = [0; 2];
        File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
    };
    let paths = env::var_os("PATH").unwrap_or_default();
    let mut found = env::split_paths(&paths).map(|folder| folder.join("python3"));
    let found = found.find(|path| path.is_file() && !is_script(path));
    found.map_or_else(|| "python3".into(), |path| path.display().to_string())
});

/// Normalised output and effects of a case.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// One exit code per command, or `killed`.
    pub(crate) exit: String,
    /// The files in `expected`, as they are after the commands.
    pub(crate) files: Vec<(PathBuf, Option<String>)>,
    pub(crate) peak_rss_mb: u64,
    pub(crate) survivors: Vec<String>,
    pub(crate) timed_out: bool,
    /// Files written by the commands that contain one of the secrets.
    pub(crate) leaks: Vec<String>,
}

struct Finished {
    stdout: String,
    stderr: String,
    exit: Option<i32>,
    peak_rss_kb: u64,
    survivors: Vec<String>,
}

pub(crate) fn run(case: &Case) -> Result<Seen, String> {
    let place = Fixture::new().map_err(|error| format!("the case's folder: {error}"))?;
    let server =
        case.server.as_deref().map(|line| Server::start(&place, line, case)).transpose()?;
    let expand = |line: &str| place.expand(line, server.as_ref(), case);
    case.copy_inputs(&place.work, expand).map_err(|error| format!("the case's files: {error}"))?;
    let inputs = names_below(&place.root, Path::new(""));
    let (mut stdout, mut stderr, mut exits) = (String::new(), String::new(), Vec::new());
    let (mut peak, mut timed_out, mut survivors) = (0, false, Vec::new());
    for line in &case.commands {
        let ours = server.as_ref().map(|server| server.child.id());
        let variables = case.variables.iter().map(|(key, value)| (key.clone(), expand(value)));
        let mut command = place.command(&words(&expand(line))?);
        command.envs(variables);
        let finished = place.execute(command, case, ours)?;
        stdout += &finished.stdout;
        stderr += &finished.stderr;
        timed_out |= finished.exit.is_none();
        exits.push(finished.exit.map_or_else(|| "killed".to_owned(), |code| code.to_string()));
        peak = peak.max(finished.peak_rss_kb);
        survivors.extend(finished.survivors);
    }
    let places = place.stand_ins(case);
    let clean = |text: &str| normalise(text, &places);
    let expected = case.folder.join("expected");
    let files = names_below(&expected, Path::new(""));
    Ok(Seen {
        stdout: clean(&stdout),
        stderr: clean(&stderr),
        exit: exits.join("\n") + "\n",
        files: files
            .into_iter()
            .map(|name| {
                let text = fs::read_to_string(place.work.join(&name)).ok();
                (name, text.map(|text| clean(&text)))
            })
            .collect(),
        peak_rss_mb: peak / 1024,
        survivors: survivors.iter().map(|line| clean(line)).collect(),
        timed_out,
        leaks: leaks(&place.root, &inputs, &case.secrets),
    })
}

/// New files that contain a secret.
fn leaks(root: &Path, inputs: &[PathBuf], secrets: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    if secrets.is_empty() {
        return found;
    }
    for name in names_below(root, Path::new("")).iter().filter(|name| !inputs.contains(name)) {
        let bytes = fs::read(root.join(name)).unwrap_or_default();
        let holds = |secret: &&String| {
            bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
        };
        let held = secrets.iter().filter(holds);
        found.extend(held.map(|secret| format!("`{secret}` in {}", name.display())));
    }
    found
}

/// A separate folder for one run; its path marks every process of the run.
struct Fixture {
    root: PathBuf,
    work: PathBuf,
    /// Removes the folder when dropped.
    _temporary: TempDir,
}

impl Fixture {
    fn new() -> std::io::Result<Self> {
        let temporary = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
        let root = fs::canonicalize(temporary.path())?;
        let work = root.join("work");
        fs::create_dir_all(&work)?;
        fs::create_dir_all(root.join("home"))?;
        // With this link, the command lines of the hostile servers contain the mark.
        symlink(repository().join("peers/hostile"), root.join("hostile"))?;
        // Helpers for several cases are linked next to the files of the case.
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools");
        let tools_of = names_below(&tools, Path::new("")).into_iter();
        // Ignore the cache of the interpreter.
        for tool in tools_of.filter(|tool| !tool.starts_with("__pycache__")) {
            symlink(tools.join(&tool), work.join(&tool))?;
        }
        Ok(Self { root, work, _temporary: temporary })
    }

    fn hostile(&self) -> String {
        self.root.join("hostile/server.py").display().to_string()
    }

    /// Replaces `$NAME`; longer names first, because a name can be the start of another.
    fn expand(&self, line: &str, server: Option<&Server>, case: &Case) -> String {
        let binary = env!("CARGO_BIN_EXE_quintain");
        let mut values = vec![
            ("HOSTILE", format!("{} {}", *PYTHON, self.hostile())),
            ("HOSTILE_SCRIPT", self.hostile()),
            ("PYTHON", PYTHON.clone()),
            ("DEMO", format!("{binary} demo --stdio")),
            ("QUINTAIN", binary.to_owned()),
            ("REPO", repository().display().to_string()),
            ("DIR", self.work.display().to_string()),
        ];
        let told = server.into_iter().flat_map(|server| &server.told);
        values.extend(told.map(|(name, value)| (name.as_str(), value.clone())));
        values.extend(case.needed());
        values.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let fill =
            |text: String, (name, value): &(&str, String)| text.replace(&format!("${name}"), value);
        values.iter().fold(line.to_owned(), fill)
    }

    /// A line that starts with `exec` runs another program instead of the binary.
    fn command(&self, words: &[String]) -> Command {
        let (program, arguments) = match words {
            [first, program, rest @ ..] if first == "exec" => (program.as_str(), rest),
            _ => (env!("CARGO_BIN_EXE_quintain"), words),
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.work).env_clear();
        command.env("PATH", path_with_binary());
        command.env("HOME", self.root.join("home")).env("NO_COLOR", "1").env("LANG", "C.UTF-8");
        command
    }

    fn execute(
        &self,
        mut command: Command,
        case: &Case,
        ours: Option<u32>,
    ) -> Result<Finished, String> {
        let input =
            File::open(case.folder.join("stdin")).map_or_else(|_| Stdio::null(), Into::into);
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| format!("cannot start: {error}"))?;
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let (exit, peak_rss_kb) = wait(&mut child, case.limit)?;
        // Before waiting for the readers: a survivor may keep the pipes open.
        let survivors = end_survivors(&self.root, ours);
        Ok(Finished { stdout: text(stdout), stderr: text(stderr), exit, peak_rss_kb, survivors })
    }

    fn stand_ins(&self, case: &Case) -> Vec<(String, String)> {
        let text = |path: &Path| path.display().to_string();
        let own = [
            (self.hostile(), "[hostile]"),
            (text(&self.work), "[dir]"),
            (text(&self.root), "[root]"),
            (env!("CARGO_BIN_EXE_quintain").to_owned(), "[quintain]"),
            (PYTHON.clone(), "[python]"),
        ];
        let mut all: Vec<_> = own.into_iter().map(|(place, name)| (place, name.into())).collect();
        all.extend(case.needed().map(|(name, value)| (value, format!("[{name}]"))));
        // Peers may be in a folder below it.
        all.push((text(&repository()), "[repo]".into()));
        all
    }
}

/// Waits for the end or the time limit, and measures memory meanwhile.
fn wait(child: &mut Child, limit: Duration) -> Result<(Option<i32>, u64), String> {
    let start = Instant::now();
    let mut peak = 0;
    loop {
        peak = peak.max(peak_rss_kb(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok((Some(status.code().unwrap_or(-1)), peak));
        }
        if start.elapsed() > limit {
            kill(&format!("-{}", child.id()));
            child.wait().map_err(|error| error.to_string())?;
            return Ok((None, peak));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

type Reader = thread::JoinHandle<Vec<u8>>;

fn collect(pipe: Option<impl Read + Send + 'static>) -> Reader {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // Output before an error is still useful.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn text(reader: Reader) -> String {
    String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
}

/// A server that runs during the commands.
struct Server {
    child: Child,
    /// The values in its first line, with names in upper case.
    told: Vec<(String, String)>,
}

impl Server {
    fn start(place: &Fixture, line: &str, case: &Case) -> Result<Self, String> {
        let fail = |what: String| format!("server `{line}`: {what}");
        let mut command = place.command(&words(&place.expand(line, None, case))?);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| fail(error.to_string()))?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or_else(|| fail("no output".into()))?;
        let read = BufReader::new(stdout).read_line(&mut line);
        // From here on, dropping the guard ends the process.
        let mut server = Self { child, told: Vec::new() };
        read.map_err(|error| fail(error.to_string()))?;
        let told: BTreeMap<String, Value> = serde_json::from_str(&line)
            .map_err(|error| fail(format!("printed {line:?}: {error}")))?;
        let told = told
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_uppercase(), value.as_str()?.to_owned())));
        server.told = told.collect();
        // Scheme, host and port: the part before the third slash.
        let url = server.told.iter().find(|(name, _)| name == "URL").map(|(_, url)| url);
        let origin = url.map(|url| url.split('/').take(3).collect::<Vec<_>>().join("/"));
        server.told.extend(origin.map(|origin| ("ORIGIN".to_owned(), origin)));
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `PATH` with the folder of the binary under test first.
fn path_with_binary() -> OsString {
    let own = Path::new(env!("CARGO_BIN_EXE_quintain")).parent().map(Path::to_path_buf);
    let paths = env::var_os("PATH").unwrap_or_default();
    let all = own.into_iter().chain(env::split_paths(&paths));
    // Fails only for folders that are not valid in `PATH`.
    env::join_paths(all).unwrap_or(paths)
}

pub(crate) fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::canonicalize(&root).unwrap_or(root)
}

/// Relative names of all files below a folder.
fn names_below(folder: &Path, prefix: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = prefix.join(entry.file_name());
        if entry.path().is_dir() {
            names.extend(names_below(&entry.path(), &name));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}
