//! All code that opens files, starts programs, connects or reads the environment. Each file asks the policy, or has a
//! reason why it need not; a new file fails this test until it is listed with a reason.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// Expressions that open something.
const OPENS: [&str; 19] = [
    "Command::new(",
    "CommandWrap::with_new(",
    "TcpListener::bind(",
    "TcpStream::connect(",
    "UdpSocket::",
    "UnixStream::",
    "UnixListener::",
    "symlink(",
    "temp_dir(",
    "WalkDir::new(",
    "File::open(",
    "OpenOptions::new(",
    "Folder::open(",
    "fs::",
    "reqwest::Client::builder(",
    "Client::new(",
    "world.env",
    "env::var",
    "lookup_host(",
];

/// The files, and why they may.
const ACCESS: &[(&str, &str)] = &[
    ("engine/confined/portable.rs", "opens only below folders that its callers may use"),
    ("engine/confined/unix.rs", "as portable.rs"),
    ("engine/files.rs", "`AllowedFiles` guards `Disk`"),
    ("engine/inquiry/snapshots.rs", "asks the policy"),
    ("engine/jobs/eval.rs", "gets only the variables that `Jobs::under` allows"),
    ("engine/jobs/redteam.rs", "gets only the variables that `Jobs::under` allows"),
    ("engine/models/mod.rs", "gets only the variables that `Jobs::under` allows"),
    ("engine/model_readiness.rs", "as models/mod.rs"),
    ("engine/planted/journal.rs", "journal of planted files"),
    ("engine/grade/mod.rs", "gets only the variables that `Jobs::under` allows"),
    ("engine/grade/reading.rs", "reads only what `jobs/grade.rs` got from the policy"),
    ("engine/jobs/grade.rs", "the policy checks every path"),
    ("engine/planted/mod.rs", "journal of planted files"),
    ("engine/planted/private.rs", "creates only the folder of the run"),
    ("engine/planted/removal.rs", "removes only planted files"),
    ("engine/process.rs", "starts only what `Commands` found"),
    ("engine/redteam/files.rs", "reads only roots that the policy lists"),
    (
        "engine/redteam/canary_files.rs",
        "plants only in the folder of the run and in roots that the policy lists",
    ),
    ("engine/redteam/canary_files/command_paths.rs", "as canary_files.rs"),
    ("engine/redteam/canary_files/project.rs", "starts `git` only if the policy lists it"),
    ("engine/redteam/listener.rs", "setup.rs checks the address"),
    ("engine/redteam/own_objects.rs", "starts `sleep` only if the policy lists it"),
    ("engine/redteam/speaker.rs", "gets only the variables that `Jobs::under` allows"),
    ("engine/redteam/watched_paths.rs", "leaves out what the policy does not list"),
    ("engine/redteam/restore.rs", "reads only what watched_paths.rs returns"),
    ("engine/redteam/setup.rs", "writes only to the folder of the run"),
    ("engine/redteam/shims.rs", "writes only to the folder of the run"),
    ("engine/store/heartbeat.rs", "the store of runs"),
    ("engine/web.rs", "checked by the client"),
    ("llm/cache.rs", "only in the folder that `World::model_cache` names"),
    ("wire/auth/oauth/boundary.rs", "resolves names of hosts that were checked"),
    ("wire/auth/oauth/callback.rs", "interactive login"),
    ("wire/auth/stored/store.rs", "`World::logins` returns its folder only if allowed"),
    ("wire/net.rs", "the client checks every request"),
    ("wire/recording/capture.rs", "the file that the user names; no job records"),
    ("wire/recording/file.rs", "as capture.rs"),
    ("wire/recording/http/upstream.rs", "the URL that the user names; no job records"),
    ("wire/recording/signals.rs", "reads which signals this process ignores"),
    ("wire/recording/stdio/pipes.rs", "the standard streams of this process"),
    ("wire/resolver.rs", "resolves only names that were checked, and checks their addresses"),
    ("wire/transport/courier.rs", "checked by the client"),
    ("wire/transport/stdio.rs", "starts only what `Commands` found"),
];

/// The code of a file without its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.split("#[cfg(all(test").next().unwrap_or_default().to_owned()
}

/// Everything that a job consists of. The other crates belong to the command line.
const CRATES: [&str; 9] =
    ["source", "script", "content", "evidence", "suite", "redteam", "wire", "llm", "engine"];

/// Whether a line contains one of the calls, and not as the end of a longer name.
fn opens(line: &str) -> bool {
    let is_whole = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    OPENS.iter().any(|call| line.match_indices(call).any(|(at, _)| is_whole(at)))
}

#[test]
fn nothing_is_opened_elsewhere() {
    let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    for crate_name in CRATES {
        let source = crates.join(format!("quintain-{crate_name}/src"));
        for entry in WalkDir::new(&source).into_iter().filter_map(Result::ok) {
            let path = entry.path();
            let name = path.strip_prefix(&source).unwrap().display().to_string();
            let is_test = name.split('/').any(|part| matches!(part, "tests" | "tests.rs"));
            if path.extension().is_none_or(|suffix| suffix != "rs") || is_test {
                continue;
            }
            let code = code(path);
            if code.lines().filter(|line| !line.trim_start().starts_with("//")).any(opens) {
                found.insert(format!("{crate_name}/{name}"));
            }
        }
    }
    let known: BTreeSet<String> = ACCESS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let new: Vec<_> = found.difference(&known).collect();
    assert!(new.is_empty(), "these files open something; ask the policy, then list them: {new:?}");
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "these files no longer open anything: {gone:?}");
}
