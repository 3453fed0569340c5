//! The places of the code that open files, start programs, connect or read the environment. Each asks the policy, or
//! is no concern of it for the reason given; a new place fails here until somebody has thought about it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// What opens something.
const OPENS: [&str; 15] = [
    "Command::new(",
    "CommandWrap::with_new(",
    "TcpListener::bind(",
    "TcpStream::connect(",
    "WalkDir::new(",
    "File::open(",
    "OpenOptions::new(",
    "Folder::open(",
    "fs::read",
    "fs::write",
    "reqwest::Client::builder(",
    "Client::new(",
    "world.env",
    "env::var",
    "lookup_host(",
];

const DOORS: [(&str, &str); 27] = [
    ("engine/confined/portable.rs", "opens below folders that its callers were allowed"),
    ("engine/files.rs", "`Disk` stands behind `AllowedFiles`"),
    ("engine/inquiry/snapshots.rs", "asks the policy"),
    ("engine/jobs/eval.rs", "sees the variables that `Jobs::under` leaves"),
    ("engine/jobs/redteam.rs", "the same"),
    ("engine/planted/journal.rs", "our own journal"),
    ("engine/planted/mod.rs", "our own journal"),
    ("engine/planted/removal.rs", "removes what we planted"),
    ("engine/process.rs", "starts what `Commands` found"),
    ("engine/redteam/files.rs", "looks at roots that the policy names"),
    (
        "engine/redteam/canary_files.rs",
        "plants in our own folder and in roots that the policy names",
    ),
    ("engine/redteam/canary_files/lodging.rs", "the same"),
    ("engine/redteam/canary_files/project.rs", "`git` only if the policy names it"),
    (
        "engine/redteam/listener.rs",
        "an address of the orders is checked in siege.rs; else a free port of the loopback",
    ),
    ("engine/redteam/own.rs", "`sleep` only if the policy names it"),
    ("engine/redteam/places.rs", "leaves out what the policy does not name"),
    ("engine/redteam/restore.rs", "looks at what places.rs leaves"),
    ("engine/redteam/shims.rs", "writes to our own folder"),
    ("engine/store/heartbeat.rs", "the store of runs"),
    ("engine/web.rs", "checked by the client"),
    ("wire/auth/oauth/boundary.rs", "resolves names of hosts that were checked"),
    ("wire/auth/oauth/callback.rs", "the login of a user"),
    ("wire/auth/oauth/opener.rs", "the login of a user"),
    ("wire/auth/stored/store.rs", "`World::logins` hands out its folder"),
    ("wire/net.rs", "the client checks every request"),
    ("wire/transport/courier.rs", "checked by the client"),
    ("wire/transport/stdio.rs", "starts what `Commands` found"),
];

/// The code of a file without its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.split("#[cfg(all(test").next().unwrap_or_default().to_owned()
}

#[test]
fn nothing_is_opened_elsewhere() {
    let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    for room in ["engine", "wire"] {
        let source = crates.join(format!("quintain-{room}/src"));
        for entry in WalkDir::new(&source).into_iter().filter_map(Result::ok) {
            let path = entry.path();
            let name = path.strip_prefix(&source).unwrap().display().to_string();
            let is_test = name.split('/').any(|part| matches!(part, "tests" | "tests.rs"));
            if path.extension().is_none_or(|suffix| suffix != "rs") || is_test {
                continue;
            }
            let code = code(path);
            let opens = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            if opens.clone().any(|line| OPENS.iter().any(|call| line.contains(call))) {
                found.insert(format!("{room}/{name}"));
            }
        }
    }
    let known: BTreeSet<String> = DOORS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let new: Vec<_> = found.difference(&known).collect();
    assert!(new.is_empty(), "these open something; ask the policy, then list them: {new:?}");
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "these open nothing any more: {gone:?}");
}
