//! Runs a program with limits on its time and output.

use std::{process::Stdio, time::Duration};

use tokio::{io::AsyncReadExt, process::Command};

use super::ToolError;

const LONGEST_RUN: Duration = Duration::from_secs(5);
const LONGEST_OUTPUT: u64 = 64 * 1024;

/// The standard output of the program, then its standard error.
pub(super) async fn output(
    program: &'static str,
    command: &mut Command,
) -> Result<String, ToolError> {
    let failed = |detail: String| ToolError::Program { program, detail };
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let run = async {
        let (mut text, mut errors) = (Vec::new(), Vec::new());
        if let (Some(stdout), Some(stderr)) = (stdout, stderr) {
            let mut stdout = stdout.take(LONGEST_OUTPUT);
            let mut stderr = stderr.take(LONGEST_OUTPUT);
            tokio::try_join!(stdout.read_to_end(&mut text), stderr.read_to_end(&mut errors))?;
        }
        text.append(&mut errors);
        child.wait().await?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&text).into_owned())
    };
    match tokio::time::timeout(LONGEST_RUN, run).await {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed("took too long".into())),
    }
}
