//! Tests of the harness: a golden test that cannot fail is useless.

use std::{fs, path::Path};

use libtest_mimic::{Failed, Trial};

use crate::{
    case::{Case, words},
    normal::normalise,
    run, verdict,
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("harness::a_right_case_passes", || {
            let files = [("cmd", "exec $PYTHON -c 'print(1)'"), ("stdout", "1\n")];
            verdict_of(&files).map_err(Into::into)
        }),
        Trial::test("harness::differences_are_all_reported", || {
            let files = [("cmd", "exec $PYTHON -c 'print(2); exit(5)'"), ("stdout", "1\n")];
            must_complain(&files, &["exit differs", "stdout differs", "-1\n+2"])
        }),
        Trial::test("harness::a_hanging_command_is_killed", || {
            let files = [("cmd", "exec $HOSTILE stdio never-reads"), ("timeout-seconds", "1")];
            must_complain(&files, &["no end within 1 s"])
        }),
        Trial::test("harness::a_surviving_process_is_reported", || {
            let program = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', \
                           'import time; time.sleep(60)'])";
            let line = format!("exec $PYTHON -c \"{program}\"");
            must_complain(&[("cmd", &line)], &["processes survived", "time.sleep(60)"])
        }),
        Trial::test("harness::too_much_memory_is_reported", || {
            // The pause gives the measurement time to see the peak.
            let line = "exec $PYTHON -c 'import time; x = bytearray(200_000_000); time.sleep(0.2)'";
            must_complain(&[("cmd", line), ("max-rss-mb", "100")], &["MB of memory, at most 100"])
        }),
        Trial::test("harness::a_leaked_secret_is_reported", || {
            let files = [("cmd", "exec $PYTHON -c 'print(\"s3cret\")'"), ("stdout", "s3cret\n")];
            let files = [files[0], files[1], ("secrets", "s3cret")];
            must_complain(&files, &["the secret `s3cret` leaked"])
        }),
        Trial::test("harness::volatile_text_is_replaced", || {
            let text = "/tmp/x: 12 ms, 1.5s, http://127.0.0.1:4242/mcp, quintain 0.1.0, pid 77, \
                        2026-07-28T10:00:00Z, 3 sessions";
            let clean = "[dir]: [time], [time], http://127.0.0.1:[port]/mcp, quintain [version], pid [pid], \
                         [timestamp], 3 sessions";
            same(&normalise(text, &[("/tmp/x".into(), "[dir]".into())]), clean)
        }),
        Trial::test("harness::words_are_split_like_in_a_shell", || {
            let split = words("call -- 'a b' \"{\\\"x\\\": 1}\"  c''d")?;
            same(&split.join("|"), "call|--|a b|{\\x\\: 1}|cd")
        }),
    ]
}

fn verdict_of(files: &[(&str, &str)]) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    for (name, text) in files {
        fs::write(folder.path().join(name), text).map_err(|error| error.to_string())?;
    }
    let case = Case::read(Path::new(folder.path()))?;
    verdict::compare(&case, &run::run(&case)?)
}

fn must_complain(files: &[(&str, &str)], wanted: &[&str]) -> Result<(), Failed> {
    let Err(complaint) = verdict_of(files) else { return Err("the case passed".into()) };
    for text in wanted {
        if !complaint.contains(text) {
            return Err(format!("no `{text}` in:\n{complaint}").into());
        }
    }
    Ok(())
}

fn same(seen: &str, wanted: &str) -> Result<(), Failed> {
    if seen == wanted { Ok(()) } else { Err(format!("{seen}\nis not\n{wanted}").into()) }
}
