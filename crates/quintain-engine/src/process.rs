//! Child processes that run user programs: interpreters and commands. They are as untrusted as a target: each gets a
//! separate process group, which is killed as a whole.

mod argument;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

pub(crate) use argument::Argument;

/// How long to read output after a program exits.
const TRAIL: Duration = Duration::from_millis(200);
/// How long a program may take to exit after its stdin is closed.
const LEAVE: Duration = Duration::from_millis(500);

/// A program to start.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) command: OsString,
    pub(crate) args: Vec<Argument>,
    /// Its entire environment.
    pub(crate) env: BTreeMap<String, String>,
    /// Its working directory. Default: that of this process.
    pub(crate) cwd: Option<PathBuf>,
}

/// A started program. Dropping it kills its whole process group.
pub(crate) struct RunningProcess(Box<dyn ChildWrapper>);

impl Drop for RunningProcess {
    fn drop(&mut self) {
        // Also after the leader exits, since its children may still run in the group.
        let _ = self.0.start_kill();
    }
}

/// Our ends of the pipes to a program.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// The result of a finished program.
pub(crate) struct FinishedProcess {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("cannot start `{command}`: {why}")]
    Start { command: String, why: io::Error },
    #[error("it did not finish within {} ms", limit.as_millis())]
    TimedOut { limit: Duration },
    #[error("it wrote more than {limit} bytes")]
    TooMuch { limit: usize },
    #[error("{0}")]
    Broken(#[from] io::Error),
}

impl RunningProcess {
    /// # Errors
    /// When the program cannot be started.
    pub(crate) fn start(program: &Program) -> io::Result<(Self, Pipes)> {
        let mut command = CommandWrap::with_new(&program.command, |command| {
            command
                .args(&program.args)
                .env_clear()
                .envs(&program.env)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            if let Some(cwd) = &program.cwd {
                command.current_dir(cwd);
            }
        });
        command.wrap(ProcessGroup::leader());
        let mut running = Self(command.spawn()?);
        let child = &mut running.0;
        let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("its pipes are missing"));
        };
        Ok((running, Pipes { stdin, stdout, stderr }))
    }

    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.0.wait().await
    }

    /// Whether the group leader still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// Waits briefly for a program whose stdin is closed, then kills it.
    pub(crate) async fn leave(mut self) {
        if timeout(LEAVE, self.wait()).await.is_err() {
            let _ = self.0.start_kill();
            let _ = timeout(LEAVE, self.wait()).await;
        }
    }
}

/// Runs a program to completion without input. It may write `limit` bytes and take `time`.
///
/// # Errors
/// When it cannot be started, takes too long or writes too much.
pub(crate) async fn run(
    program: &Program,
    limit: usize,
    time: Duration,
) -> Result<FinishedProcess, ProcessError> {
    let (mut running, pipes) = RunningProcess::start(program).map_err(|why| {
        ProcessError::Start { command: program.command.to_string_lossy().into_owned(), why }
    })?;
    let Pipes { stdin, stdout, stderr } = pipes;
    drop(stdin);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let work = async {
        let reading = async {
            tokio::try_join!(fill(stdout, limit, &mut out), fill(stderr, limit, &mut err))
        };
        let mut reading = std::pin::pin!(reading);
        tokio::select! {
            read = &mut reading => {
                read?;
                Ok(running.wait().await?)
            }
            status = running.wait() => {
                let status = status?;
                // A grandchild may keep the pipes open.
                if let Ok(read) = timeout(TRAIL, &mut reading).await {
                    read?;
                }
                Ok(status)
            }
        }
    };
    let ended = timeout(time, work).await;
    let status = ended.unwrap_or(Err(ProcessError::TimedOut { limit: time }))?;
    Ok(FinishedProcess { status, stdout: out, stderr: err })
}

async fn fill(
    mut pipe: impl AsyncRead + Unpin,
    limit: usize,
    into: &mut Vec<u8>,
) -> Result<(), ProcessError> {
    loop {
        if pipe.read_buf(into).await? == 0 {
            return Ok(());
        }
        if into.len() > limit {
            return Err(ProcessError::TooMuch { limit });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn shell(script: &str) -> Program {
        Program {
            command: "/bin/sh".into(),
            args: vec![Argument::written("-c"), Argument::written(script)],
            env: BTreeMap::from([("WORD".to_owned(), "seen".to_owned())]),
            cwd: None,
        }
    }

    async fn finished(script: &str) -> Result<FinishedProcess, ProcessError> {
        run(&shell(script), 1 << 16, Duration::from_secs(5)).await
    }

    #[tokio::test]
    async fn output_and_exit_code_are_reported() {
        let done = finished("echo $WORD; echo no >&2; exit 3").await.unwrap();
        assert_eq!(done.status.code(), Some(3));
        assert_eq!(
            (done.stdout.as_slice(), done.stderr.as_slice()),
            (&b"seen\n"[..], &b"no\n"[..])
        );
    }

    #[tokio::test]
    async fn a_flood_and_a_sleeper_are_ended() {
        let flood = finished("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaa; done").await;
        assert!(matches!(flood, Err(ProcessError::TooMuch { .. })));
        let started = Instant::now();
        let sleeper = run(&shell("sleep 60 & sleep 60"), 10, Duration::from_millis(200)).await;
        assert!(matches!(sleeper, Err(ProcessError::TimedOut { .. })));
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[tokio::test]
    async fn a_grandchild_that_holds_the_pipe_keeps_nobody_waiting() {
        let started = Instant::now();
        let done = finished("echo said; sleep 60 &").await.unwrap();
        assert_eq!(done.stdout, b"said\n");
        assert!(started.elapsed() < Duration::from_secs(4));
    }

    #[tokio::test]
    async fn what_is_missing_cannot_be_started() {
        let program = Program { command: "/nowhere/at/all".into(), ..shell("") };
        let missing = run(&program, 10, Duration::from_secs(1)).await;
        assert!(matches!(missing, Err(ProcessError::Start { .. })));
    }
}
