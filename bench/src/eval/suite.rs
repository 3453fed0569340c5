//! The suites: N calls, each with one `contains` and one `is-json`; the last test must fail.
//!
//! The last test detects a tool that skips its checks.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Failure;

/// The target of a suite.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// `mcp-server-everything`, found on the path.
    Everything,
    /// The raw server of these benchmarks.
    Raw(&'a Path),
    /// No server: the response is the prompt.
    Echo,
}

impl Target<'_> {
    pub fn name(self) -> &'static str {
        match self {
            Self::Everything => "mcp-server-everything",
            Self::Raw(_) => "raw server",
            Self::Echo => "echo",
        }
    }

    fn provider(self) -> String {
        let (command, arguments) = match self {
            Self::Everything => ("mcp-server-everything".to_owned(), "['stdio']"),
            Self::Raw(program) => (program.display().to_string(), "[]"),
            Self::Echo => return "  - echo\n".to_owned(),
        };
        format!(
            "  - id: mcp\n    config:\n      enabled: true\n      server:\n        command: '{command}'\n        \
             args: {arguments}\n        name: measured\n"
        )
    }
}

/// One call, counted from 0, and the text that its response must contain.
pub struct Call {
    pub tool: &'static str,
    pub arguments: Value,
    pub wanted: String,
}

impl Call {
    pub fn new(target: Target<'_>, at: usize) -> Self {
        let echo = |wanted: String| Self {
            tool: "echo",
            arguments: json!({"message": format!("ping {at}")}),
            wanted,
        };
        match target {
            Target::Everything if at % 2 == 1 => Self {
                tool: "get-sum",
                arguments: json!({"a": at, "b": at + 1}),
                wanted: format!("The sum of {at} and {} is {}.", at + 1, 2 * at + 1),
            },
            Target::Everything => echo(format!("Echo: ping {at}")),
            Target::Raw(_) | Target::Echo => echo(format!("ping {at}")),
        }
    }
}

/// The number of failing tests of a suite.
pub fn failing(tests: usize) -> usize {
    usize::from(tests > 1)
}

/// Writes a suite into a folder.
pub fn write(folder: &Path, target: Target<'_>, tests: usize) -> Result<PathBuf, Failure> {
    let mut text = format!(
        "description: {tests} calls of {}\nproviders:\n{}prompts:\n  - '{{{{prompt}}}}'\ntests:\n",
        target.name(),
        target.provider()
    );
    for at in 0..tests {
        let Call { tool, arguments, wanted } = Call::new(target, at);
        let wanted = if at + failing(tests) == tests { "never answered" } else { &wanted };
        writeln!(text, "  - description: call {at}")?;
        writeln!(
            text,
            "    vars:\n      prompt: '{{\"tool\": \"{tool}\", \"args\": {arguments}}}'"
        )?;
        writeln!(text, "    assert:\n      - type: contains\n        value: '{wanted}'")?;
        writeln!(text, "      - type: is-json")?;
    }
    let file = folder.join(format!("{}-{tests}.yaml", target.name().replace(' ', "-")));
    std::fs::write(&file, text)?;
    Ok(file)
}
