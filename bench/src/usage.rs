//! The cost of a whole process: time, processor time and memory.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::{Pid, SysconfVar, sysconf};

use crate::Failure;

/// How often memory is sampled. The system reports the peak, so only an allocation in the
/// last moment of a process can be missed.
const LOOK: Duration = Duration::from_millis(5);

#[derive(Clone, Copy)]
pub struct Usage {
    pub wall: Duration,
    /// User and system time of the process and of the children that it waited for.
    pub cpu: Duration,
    /// That of the process without children, in steps of the system's clock; needs `/proc`.
    pub own: Option<Duration>,
    /// The largest resident set of the process without children, in bytes; needs `/proc`.
    pub memory: Option<u64>,
}

pub struct Ran {
    pub usage: Usage,
    /// The exit code; none if a signal ended the process.
    pub code: Option<i32>,
    /// Standard output and standard error.
    pub said: String,
}

/// Runs a process to its end, with its output in a file. Nothing else may start meanwhile.
pub fn run(command: &mut Command, log: &Path) -> Result<Ran, Failure> {
    let out = File::create(log)?;
    command.stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);
    let before = of_children()?;
    let started = Instant::now();
    let mut child =
        command.spawn().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    let pid = child.id();
    let (ended, watched) = mpsc::channel();
    let watcher = thread::spawn(move || watch_memory(pid, &watched));
    // The process is not reaped yet, otherwise its own time could not be read.
    let id = Pid::from_raw(i32::try_from(pid)?);
    waitid(Id::Pid(id), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)?;
    let wall = started.elapsed();
    let own = own_time(pid);
    let code = child.wait()?.code();
    let cpu = of_children()?.saturating_sub(before);
    drop(ended);
    let memory = watcher.join().unwrap_or_default();
    let said = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    Ok(Ran { usage: Usage { wall, cpu, own, memory }, code, said })
}

/// The same with a process that must end with this code.
pub fn run_to(command: &mut Command, log: &Path, code: i32) -> Result<Ran, Failure> {
    let ran = run(command, log)?;
    if ran.code == Some(code) {
        return Ok(ran);
    }
    Err(format!("{command:?} ended with {:?} instead of {code}:\n{}", ran.code, ran.said).into())
}

/// User and system time of all children that were waited for.
pub fn of_children() -> Result<Duration, Failure> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok(duration(usage.user_time()) + duration(usage.system_time()))
}

fn duration(time: TimeVal) -> Duration {
    let micros = time.tv_sec() * 1_000_000 + time.tv_usec();
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// User and system time of a process that is not reaped, the 14th and the 15th field. The second field may contain spaces and ends with the last
/// bracket.
pub fn own_time(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let times: Vec<u64> = fields.skip(11).take(2).map_while(|field| field.parse().ok()).collect();
    let [user, system] = times[..] else { return None };
    let ticks = sysconf(SysconfVar::CLK_TCK).ok()??;
    Some(Duration::from_secs_f64((user + system) as f64 / ticks as f64))
}

fn watch_memory(pid: u32, ended: &mpsc::Receiver<()>) -> Option<u64> {
    let mut largest = None;
    loop {
        largest = largest.max(largest_set(pid));
        match ended.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return largest,
        }
    }
}

/// The largest resident set of a running process, in bytes.
pub fn largest_set(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
