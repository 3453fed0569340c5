//! Checks of a finished command: no processes left behind, and no excessive use of memory.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Time for the kernel to remove killed processes.
const GRACE: Duration = Duration::from_secs(1);

/// Peak memory of a live process in kilobytes, if the system provides it.
pub(crate) fn peak_rss_kb(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Kills every process of a case except `ours`, and returns their command lines.
pub(crate) fn end_survivors(place: &Path, ours: Option<u32>) -> Vec<String> {
    let start = Instant::now();
    let look = || -> Vec<(u32, String)> {
        survivors(place).into_iter().filter(|(pid, _)| Some(*pid) != ours).collect()
    };
    let mut found = look();
    while !found.is_empty() && start.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(10));
        found = look();
    }
    for (pid, _) in &found {
        kill(&pid.to_string());
    }
    found.into_iter().map(|(_, line)| line).collect()
}

/// Sends SIGKILL to a process, or with a leading `-` to a group. It may have ended already.
pub(crate) fn kill(target: &str) {
    let mut command = Command::new("kill");
    command.args(["-9", "--", target]).stderr(Stdio::null());
    // The result does not matter: a process that survives this is found again and reported.
    let _ = command.status();
}

/// Processes that run in the folder of the case or name it in their arguments. An environment variable would
/// be a clearer mark, but the binary passes only few variables to its children.
fn survivors(place: &Path) -> Vec<(u32, String)> {
    let mark = place.to_string_lossy().into_owned();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ").trim().to_owned();
        let here = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(place));
        // The command line of a zombie is empty; it has ended and waits for its parent.
        if !line.is_empty() && (here || line.contains(&mark)) {
            found.push((pid, line));
        }
    }
    found
}
