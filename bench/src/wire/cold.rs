//! The cost of one cold `quintain call`: time beyond that of the target itself, and memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

use super::bare;
use crate::Failure;
use crate::fresh::Programs;
use crate::sample::Sample;

/// The hidden command that measures the memory of another program.
pub const MEMORY_OF: &str = "--memory-of";

pub struct Cold {
    /// `quintain call` from start to exit.
    pub call: Sample,
    /// The target alone: start, handshake, call, end.
    pub target: Sample,
    /// The largest resident set of `quintain call`, in bytes.
    pub memory: u64,
}

pub fn measure(programs: &Programs, repeats: usize) -> Result<Cold, Failure> {
    let quintain = programs.quintain.as_ref().ok_or("quintain was not built")?;
    let server = &programs.echo_stdio;
    let (mut call, mut target) = (Sample::default(), Sample::default());
    for _ in 0..repeats {
        target.add(bare::cold(server)?);
        let started = Instant::now();
        let output = Command::new(quintain).args(arguments(server)).output()?;
        call.add(started.elapsed());
        if !output.status.success() || !output.stdout.starts_with(b"hi") {
            return Err(format!("quintain call failed: {output:?}").into());
        }
    }
    Ok(Cold { call, target, memory: memory_of(quintain, server)? })
}

fn arguments(server: &Path) -> [PathBuf; 5] {
    ["call".into(), "echo".into(), r#"{"message": "hi"}"#.into(), "--".into(), server.into()]
}

/// The system reports only the largest child, and a child starts with the size of its parent, so a small
/// separate process measures.
fn memory_of(quintain: &Path, server: &Path) -> Result<u64, Failure> {
    let output = Command::new(std::env::current_exe()?)
        .arg(MEMORY_OF)
        .arg(quintain)
        .args(arguments(server))
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
}

pub fn print_memory_of(program: &str, arguments: &[&str]) -> Result<(), Failure> {
    Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
    let largest = u64::try_from(getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss())?;
    // Linux counts kilobytes, macOS bytes.
    println!("{}", if cfg!(target_os = "macos") { largest } else { largest * 1024 });
    Ok(())
}
