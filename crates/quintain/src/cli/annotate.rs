//! Asks a person whether applications did what their users wanted, and keeps the answers as labels. Findings and scores are
//! not shown, so that labels can be compared with them.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use quintain_evidence::result::CaseResult;
use quintain_evidence::trace::{Args, Call, CallOutcome, Role, Trace, TraceStep};
use quintain_grade::meta_eval::{Label, read_labels};
use quintain_source::visible;

use super::App;
use super::ask_user::ask_user;
use crate::console::{Console, counted};

/// Characters of one message, of arguments and of a result.
const MAX_TEXT: usize = 600;
/// Steps that are shown from the start and from the end of a conversation.
const SHOWN: usize = 20;

/// A file of labels that grows.
pub(super) struct Annotation {
    path: PathBuf,
    file: File,
    labelled: HashSet<String>,
    added: usize,
    is_over: bool,
    failed: Option<io::Error>,
}

impl Annotation {
    /// Opens the file and reads its labels: these traces are not asked about again.
    pub(super) fn open(path: &Path, app: &App) -> Result<Self, String> {
        let shown = path.display();
        if !app.context.answers {
            return Err("`--annotate` asks at the terminal, and there is none".to_owned());
        }
        let options = OpenOptions::new().read(true).append(true).create(true).clone();
        let opened = options.open(app.context.cwd.join(path));
        let mut file = opened.map_err(|error| format!("cannot open `{shown}`: {error}"))?;
        let (labels, errors) = read_labels(BufReader::new(&file));
        if let Some(error) = errors.first() {
            return Err(format!("{shown}:{}: {}", error.line, error.message));
        }
        end_last_line(&mut file).map_err(|error| format!("cannot write `{shown}`: {error}"))?;
        let labelled = labels.into_iter().map(|label| label.id).collect();
        let path = path.to_owned();
        Ok(Self { path, file, labelled, added: 0, is_over: false, failed: None })
    }

    /// Shows a conversation and asks about it.
    pub(super) async fn ask(&mut self, case: &CaseResult, app: &App) {
        let (Some(graded), Some(trace)) = (&case.graded, &case.evidence.trace) else { return };
        let id = graded.label_id();
        if self.is_over || self.failed.is_some() || self.labelled.contains(id) {
            return;
        }
        app.console.err(&conversation(id, trace));
        let text = "did the application do what the user wanted? [y]es, [n]o, [s]kip, [q]uit";
        let mut stop = app.stop.clone();
        let success = loop {
            let answer = tokio::select! {
                answer = ask_user(text, app) => answer,
                _ = stop.wait_for(|stopped| *stopped) => "q".to_owned(),
            };
            match answer.to_ascii_lowercase().as_str() {
                "y" | "yes" => break true,
                "n" | "no" => break false,
                "s" | "skip" => return,
                // The end of the input reads as an empty line.
                "" | "q" | "quit" => {
                    self.is_over = true;
                    return;
                }
                _ => {}
            }
        };
        self.add(Label { id: id.to_owned(), success });
    }

    /// Every label is on disk before the next question.
    fn add(&mut self, label: Label) {
        let written = serde_json::to_string(&label).map_err(io::Error::from);
        let written = written.and_then(|line| self.file.write_all(format!("{line}\n").as_bytes()));
        match written {
            Ok(()) => {
                self.added += 1;
                self.labelled.insert(label.id);
            }
            Err(error) => self.failed = Some(error),
        }
    }

    /// Whether everything was written.
    pub(super) fn finish(self, console: &Console) -> bool {
        let shown = self.path.display();
        if let Some(error) = self.failed {
            console.error(&format!("cannot write `{shown}`: {error}"), None);
            return false;
        }
        let (added, all) = (counted(self.added, "label"), self.labelled.len());
        console.note(&format!("added {added} to {shown}, which has {all} now"));
        true
    }
}

/// A last line that a person wrote may lack its end.
fn end_last_line(file: &mut File) -> io::Result<()> {
    if file.metadata()?.len() == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

fn conversation(id: &str, trace: &Trace) -> String {
    let mut lines = vec![String::new(), visible(id).into_owned()];
    let steps = trace.steps.len();
    for (index, step) in trace.steps.iter().enumerate() {
        if steps > 2 * SHOWN && index == SHOWN {
            lines.push(format!("  ... {} more steps", steps - 2 * SHOWN));
        }
        if steps <= 2 * SHOWN || index < SHOWN || index >= steps - SHOWN {
            lines.push(match step {
                TraceStep::Message(message) => {
                    format!("{}: {}", speaker(message.role), cut(&message.text))
                }
                TraceStep::Call(call) => describe(call),
            });
        }
    }
    lines.join("\n")
}

fn speaker(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn describe(call: &Call) -> String {
    let args = match &call.args {
        Args::Json(value) => value.to_string(),
        Args::Invalid(text) => text.clone(),
        Args::Unknown => "(arguments not recorded)".to_owned(),
    };
    let outcome = match &call.outcome {
        CallOutcome::Result(result) => result.to_string(),
        CallOutcome::Error { message, .. } => format!("error: {message}"),
        CallOutcome::Unknown => "(result not recorded)".to_owned(),
    };
    let server = call.server.as_ref().map(|server| format!("{server}/")).unwrap_or_default();
    let name = cut(&format!("{server}{}", call.name));
    format!("  {} {name} {}\n    -> {}", call.kind.word(), cut(&args), cut(&outcome))
}

/// The start of a text, safe to print.
fn cut(text: &str) -> String {
    let start: String = text.chars().take(MAX_TEXT).collect();
    let rest = text.len() - start.len();
    let start = visible(&start).into_owned();
    if rest == 0 { start } else { format!("{start} ... ({rest} more bytes)") }
}
