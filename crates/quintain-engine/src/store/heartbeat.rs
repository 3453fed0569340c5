//! Decides whether a run that did not end is still active. Its writer stores a token that identifies its process, and
//! every few seconds the current time. Every machine that shares the store can read both.

use std::fs;
use std::time::{Duration, SystemTime};

/// Interval between heartbeats. Shorter in tests.
pub(super) const INTERVAL: Duration = Duration::from_millis(if cfg!(test) { 20 } else { 5_000 });
/// Allows for six missing heartbeats, since a machine may be busy and clocks of two machines differ.
const LIMIT_MS: i64 = 30_000;

/// Milliseconds since 1970, the format of stored heartbeats.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A token that is unique to one writer, across machines.
pub(super) fn token() -> String {
    let mut nonce = [0; 8];
    // If this fails, the rest of the token still distinguishes processes.
    let _ = getrandom::fill(&mut nonce);
    let nonce = u64::from_be_bytes(nonce);
    match (pid_namespace(), Process::of("self")) {
        (Some(namespace), Some(Process { pid, started, .. })) => {
            format!("{namespace} {pid} {started} {nonce:016x}")
        }
        _ => format!("{nonce:016x}"),
    }
}

/// Whether the writer of a run is still alive. Looks up its process if possible, otherwise checks the time of its last
/// heartbeat.
pub(super) fn is_alive(token: Option<&str>, heartbeat: i64, now: i64) -> bool {
    let Some(token) = token else { return false };
    if let [written_at, pid, started, _] = token.split(' ').collect::<Vec<_>>()[..]
        && pid_namespace().is_some_and(|here| here == written_at)
    {
        let process = Process::of(pid);
        return process.is_some_and(|process| process.started == started && !process.ended);
    }
    now.saturating_sub(heartbeat) <= LIMIT_MS
}

/// Identifies where process ids are valid: this boot of this machine and this container. `None` if the system does not
/// provide it.
fn pid_namespace() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{}/{}", boot.trim(), namespace.display()))
}

/// What Linux reports about a process. Process ids are reused, so the start time is part of its identity.
struct Process {
    pid: String,
    started: String,
    /// A zombie: it ended, but its parent has not waited for it.
    ended: bool,
}

impl Process {
    fn of(pid: &str) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let pid = text.split(' ').next()?.to_owned();
        // The name of the program is in parentheses and may contain anything.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let started = (*fields.get(19)?).to_owned();
        let ended = matches!(*fields.first()?, "Z" | "X");
        Some(Self { pid, started, ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn tokens_differ_and_their_own_process_is_alive() {
        let (one, other) = (token(), token());
        assert_ne!(one, other);
        // A process that can be looked up is alive, even without a recent heartbeat.
        let late = if pid_namespace().is_some() { MINUTE } else { 0 };
        assert!(is_alive(Some(&one), 0, late));
    }

    #[test]
    fn elsewhere_the_heartbeat_decides() {
        let elsewhere = Some("other-boot/pid:[1] 1 1 00");
        assert!(is_alive(elsewhere, 0, 20_000));
        assert!(is_alive(elsewhere, 5_000, 0), "a clock that is ahead does not count as died");
        assert!(!is_alive(elsewhere, 0, MINUTE));
        assert!(is_alive(Some("0011"), 0, 20_000) && !is_alive(Some("0011"), 0, MINUTE));
        assert!(!is_alive(None, 0, 0), "there is no writer");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_ended_is_dead_at_once() {
        let here = pid_namespace().unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let started = Process::of(&child.id().to_string()).unwrap().started;
        let token = format!("{here} {} {started} 00", child.id());
        assert!(is_alive(Some(&token), 0, 0));
        let reused = format!("{here} {} 1 00", child.id());
        assert!(!is_alive(Some(&reused), 0, 0), "another process has this id now");
        child.kill().unwrap();
        // Killed and not yet waited for.
        while is_alive(Some(&token), 0, 0) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!is_alive(Some(&token), 0, 0));
    }
}
