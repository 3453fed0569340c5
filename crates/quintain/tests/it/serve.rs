//! `quintain serve` with real clients and real attacks. The scripts in `tests/serve` start the program themselves.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::run::repository;

/// A script, and the variable that names the environment it needs.
const SCRIPTS: [(&str, Option<&str>); 12] = [
    ("protocol.py", None),
    ("seed.py", None),
    ("attacks.py", None),
    ("hosting.py", None),
    ("install.py", None),
    ("redteam.py", None),
    ("runs.py", None),
    ("sdk_classic.py", Some("QUINTAIN_PEER_PYTHON_CLASSIC")),
    ("sdk_modern.py", Some("QUINTAIN_PEER_PYTHON_MODERN")),
    ("sdk_typescript.py", Some("QUINTAIN_PEER_NPM")),
    ("inspector.py", Some("QUINTAIN_PEER_INSPECTOR")),
    ("issuer.py", Some("QUINTAIN_PEER_OIDC")),
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |(script, needs): (&'static str, Option<&'static str>)| {
        let peer = needs.map(env::var);
        let is_missing = matches!(peer, Some(Err(_)));
        let python = match peer {
            Some(Ok(folder)) if matches!(script, "sdk_classic.py" | "sdk_modern.py") => {
                PathBuf::from(folder).join("bin/python")
            }
            _ => "python3".into(),
        };
        let name = format!("serve::{}", script.trim_end_matches(".py"));
        Trial::test(name, move || run(script, &python)).with_ignored_flag(is_missing)
    };
    SCRIPTS.into_iter().map(trial).collect()
}

fn run(script: &str, python: &PathBuf) -> Result<(), Failed> {
    let folder = repository().join("crates/quintain/tests/serve");
    let done = Command::new(python)
        .arg(folder.join(script))
        .arg(env!("CARGO_BIN_EXE_quintain"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()?;
    if done.status.success() {
        return Ok(());
    }
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Err(format!("{}\n{}", shown(&done.stdout), shown(&done.stderr)).into())
}
