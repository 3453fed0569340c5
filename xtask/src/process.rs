//! Starting other programs: streamed or captured, always with a readable error.

use std::{
    env,
    fs::File,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::Result;

/// Runs a program whose output belongs on the screen.
pub(crate) fn stream(command: &mut Command) -> Result<()> {
    let line = display(command);
    println!("$ {line}");
    forget_package(command);
    let status = command.status().map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` ended with {status}")) }
}

/// The variables with which cargo describes this package must not reach other builds: crates that depend on these variables would be compiled
/// again whenever a build starts from here.
fn forget_package(command: &mut Command) {
    let names = env::vars_os().map(|(name, _)| name);
    let of_package = names.filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    });
    of_package.for_each(|name| {
        command.env_remove(name);
    });
}

/// Runs a program whose output is an answer, or matters only when it fails.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let line = display(command);
    forget_package(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start `{line}`: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{line}` ended with {}\n{text}{complaint}", output.status))
}

/// Runs a program with a limit and its output in a file; `None` means that it had to be killed.
pub(crate) fn limited(command: &mut Command, log: &Path, limit: Duration) -> Result<Option<i32>> {
    let line = display(command);
    let fail = |error| format!("cannot run `{line}`: {error}");
    let out = File::create(log).map_err(fail)?;
    let err = out.try_clone().map_err(fail)?;
    // A group of its own, so that a program that hangs is ended together with what it started.
    command.process_group(0);
    let mut child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().map_err(fail)?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(fail)? {
            return Ok(Some(status.code().unwrap_or(-1)));
        }
        if start.elapsed() > limit {
            let group = format!("-{}", child.id());
            capture(Command::new("kill").args(["-9", "--", &group]))?;
            child.wait().map_err(fail)?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn display(command: &Command) -> String {
    // The name alone reads better than the long path under which cargo and others are found.
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let mut words = vec![name.to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}
