//! `exec:`: a command that gets the prompt as an argument and prints its answer. Secrets are masked in the arguments;
//! the unmasked values are in environment variables, which other users cannot read.

use quintain_evidence::evidence::Outcome;
use quintain_evidence::response::Response;
use quintain_suite::suite::{ExecKind, ExecTarget};
use serde_json::{Value, json};

use super::{Ask, Asked, Sender, Told};
use crate::external_services::ExternalServices;
use crate::process::{Argument, ProcessError, Program, run};

const METHOD: &str = "exec";
/// Environment variables with the unmasked prompt, options and context.
const VARIABLES: [&str; 3] = ["QUINTAIN_PROMPT", "QUINTAIN_OPTIONS", "QUINTAIN_CONTEXT"];

impl Sender for ExecKind {
    type Settings = ExecTarget;

    async fn ask(
        &self,
        asked: &Asked<'_, ExecTarget>,
        ask: &Ask<'_>,
        outside: &ExternalServices,
    ) -> Told {
        let exec = asked.settings;
        let mut config = exec.config.clone();
        let folder = exec.base_dir.to_string_lossy().into_owned();
        config.entry("basePath").or_insert_with(|| folder.into());
        let (options, context) = (asked.options(&config), ask.context());
        let shown = [
            Argument::text(ask.prompt, &outside.redactor),
            Argument::json(&options, &outside.redactor),
            Argument::json(&context, &outside.redactor),
        ];
        let mut env = outside.env().clone();
        let whole = [ask.prompt.to_owned(), options.to_string(), context.to_string()];
        for (name, text) in VARIABLES.into_iter().zip(whole) {
            // An environment variable cannot contain NUL.
            env.insert(name.to_owned(), text.replace('\0', ""));
        }
        let sent = json!({"command": exec.command, "args": exec.args, "prompt": ask.prompt});
        let cwd = Some(exec.base_dir.clone()).filter(|folder| !folder.as_os_str().is_empty());
        let variables = outside.env().keys();
        let command = match outside.commands.program(&exec.command, cwd.as_deref(), variables) {
            Ok(command) => command,
            Err(denied) => return Told::refused(METHOD, sent, denied.to_string()),
        };
        let args = exec.args.iter().map(Argument::written).chain(shown).collect();
        let program = Program { command, args, env, cwd };
        let finished = match run(&program, outside.limit, outside.time).await {
            Ok(finished) => finished,
            Err(error) => {
                let response = Response::failed(format!("`{}`: {error}", exec.command));
                let outcome = match error {
                    ProcessError::Start { .. } => {
                        return Told::refused(METHOD, sent, error.to_string());
                    }
                    ProcessError::TimedOut { limit } => Outcome::TimedOut { after: limit },
                    ProcessError::TooMuch { .. } | ProcessError::Broken(_) => {
                        Outcome::Garbled { why: error.to_string(), bytes: Vec::new() }
                    }
                };
                return Told { method: METHOD, sent, outcome, response };
            }
        };
        let said = plain(&finished.stdout);
        let complained = plain(&finished.stderr);
        let record = json!({
            "exit": finished.status.code(),
            "stdout": said,
            "stderr": complained,
        });
        let response = if !finished.status.success() {
            let words = if complained.is_empty() { &said } else { &complained };
            Response::failed(format!(
                "Command failed: {}: {}\n{words}",
                exec.command, finished.status
            ))
        } else if said.is_empty() && !complained.is_empty() {
            Response::failed(complained)
        } else {
            Response { raw: Some(Value::String(said.clone())), ..Response::text(said) }
        };
        Told { method: METHOD, sent, outcome: Outcome::Reply(record), response }
    }
}

/// Trims white space and removes terminal escape sequences.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = match after.strip_prefix('[') {
            Some(sequence) => {
                let end = sequence.find(|c: char| ('@'..='~').contains(&c));
                end.map_or("", |end| &sequence[end + 1..])
            }
            None if after.starts_with(|c: char| ('@'..='_').contains(&c)) => &after[1..],
            None => after,
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_only_a_terminal_understands_is_left_out() {
        assert_eq!(plain(b" \x1b[1;31mred\x1b[0m text\x1bM \n"), "red text");
        assert_eq!(plain(b"\x1b"), "");
        assert_eq!(plain("é\u{1b}[".as_bytes()), "é");
    }
}
