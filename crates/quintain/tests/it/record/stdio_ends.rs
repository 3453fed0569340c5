//! The ends of a recorded session: nothing is lost, and either side notices what it would notice without a recorder.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use super::stdio::fed;
use super::{SOON, capture, ensure, folder, is_running, signal, wait_until};
use crate::budgets::quintain;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("record::stdio_waits_for_a_client_that_reads_late", late_reader),
        Trial::test("record::stdio_ends_by_a_signal_though_nobody_reads", unread),
        Trial::test("record::stdio_delivers_a_line_that_takes_long_to_record", slow_record),
        Trial::test("record::stdio_passes_the_end_of_output_on", closed_output),
        Trial::test("record::stdio_passes_the_end_of_reading_on", closed_input),
        Trial::test("record::stdio_continues_beyond_the_limit_of_a_file", file_limit),
    ]
}

/// More than one pipe contains, and less than both pipes of a direction.
const OUTPUT: usize = 100_000;
/// Longer than the recorder waits for anything but a client.
const LONG: Duration = Duration::from_secs(3);

fn recorded(place: &Path, script: &str) -> Result<Child, Failed> {
    let args = ["record", "-o", "capture.jsonl", "--", "sh", "-c", script];
    let mut command = quintain(place, &args);
    Ok(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
}

/// Starts a server that writes its output and exits, and waits for the exit.
fn exited(place: &Path) -> Result<Child, Failed> {
    let script =
        format!("head -c {OUTPUT} /dev/zero | tr '\\0' x; echo $$ >pid.new; mv pid.new pid");
    let child = recorded(place, &script)?;
    let pid = || fs::read_to_string(place.join("pid")).ok()?.trim().parse().ok();
    wait_until("the server exits", || pid().is_some_and(|pid| !is_running(pid)))?;
    Ok(child)
}

fn late_reader() -> Result<(), Failed> {
    let folder = folder()?;
    let mut child = exited(folder.path())?;
    // That something does not happen takes time to see.
    let start = Instant::now();
    while start.elapsed() < LONG {
        ensure(child.try_wait()?.is_none(), "it did not wait for the client")?;
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut output = Vec::new();
    child.stdout.take().ok_or("no output")?.read_to_end(&mut output)?;
    ensure(output.len() == OUTPUT, output.len())?;
    ensure(child.wait()?.success(), "exit code")
}

fn unread() -> Result<(), Failed> {
    let folder = folder()?;
    let mut child = exited(folder.path())?;
    signal(child.id(), "TERM")?;
    let start = Instant::now();
    wait_until("the recorder ends", || matches!(child.try_wait(), Ok(Some(_))))?;
    ensure(start.elapsed() < SOON, "late")?;
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    ensure(lines.iter().any(|line| line["note"] == "output not read to its end"), "no note")
}

fn slow_record() -> Result<(), Failed> {
    let folder = folder()?;
    let mut input = b"{\"id\":1,\"result\":\"".to_vec();
    input.resize(10 << 20, b'y');
    input.extend(b"\"}\n");
    let args = ["record", "-o", "capture.jsonl", "--", "cat"];
    let output = fed(quintain(folder.path(), &args), &input)?;
    ensure(output.stdout == input, output.stdout.len())?;
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    ensure(super::frames(&lines, "server").len() == 1, "not recorded")
}

fn closed_output() -> Result<(), Failed> {
    let folder = folder()?;
    let mut child = recorded(folder.path(), "echo last; exec 1>&-; cat >received; exit 9")?;
    let mut output = String::new();
    // Ends while the server lives, because its input is still open.
    child.stdout.take().ok_or("no output")?.read_to_string(&mut output)?;
    ensure(output == "last\n", output)?;
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    ensure(lines.iter().any(|line| line["note"] == "end of stream"), "the end was not recorded")?;
    let mut input = child.stdin.take().ok_or("no input")?;
    input.write_all(b"more\n")?;
    drop(input);
    ensure(child.wait()?.code() == Some(9), "exit code")?;
    ensure(fs::read_to_string(folder.path().join("received"))? == "more\n", "not received")
}

fn closed_input() -> Result<(), Failed> {
    let folder = folder()?;
    let script = "exec 0<&-; echo closed; while [ ! -e end ]; do sleep 0.05; done; echo end";
    let mut child = recorded(folder.path(), script)?;
    let mut output = child.stdout.take().ok_or("no output")?;
    let mut line = [0; 7];
    output.read_exact(&mut line)?;
    let mut input = child.stdin.take().ok_or("no input")?;
    wait_until("the client notices", || input.write_all(b"{}\n").is_err())?;
    fs::write(folder.path().join("end"), "")?;
    let mut rest = String::new();
    output.read_to_string(&mut rest)?;
    ensure(rest == "end\n" && child.wait()?.success(), rest)
}

fn file_limit() -> Result<(), Failed> {
    let folder = folder()?;
    let input = "{\"id\":1,\"method\":\"ping\"}\n".repeat(2_000);
    let program = env!("CARGO_BIN_EXE_quintain");
    let script = format!("ulimit -f 8; exec '{program}' record -o capture.jsonl -- cat");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(folder.path());
    let output = fed(command, input.as_bytes())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure(output.status.success() && output.stdout == input.as_bytes(), output.status)?;
    ensure(stderr.matches("the session continues").count() == 1, stderr)?;
    capture(&folder.path().join("capture.jsonl")).map(drop)
}
