//! `quintain audit`: the audit log of `quintain serve`.

use std::path::PathBuf;

use clap::Subcommand;
use quintain_serve::audit::{path_in, verify};

use super::App;
use crate::exit::Exit;

/// Verify the audit log of `quintain serve`
///
/// The server records who changed or started what. Each record contains the code of the one before, made with a key in the
/// state directory, and the server keeps the number of records apart.
///
/// Example:
///   quintain audit verify
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check that no record was changed, removed, inserted or cut off
    ///
    /// Example:
    ///   quintain audit verify audit.jsonl
    #[command(verbatim_doc_comment)]
    Verify {
        /// The log [default: audit.jsonl in the state directory]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    let Command::Verify { file } = &args.command;
    let named = file.as_ref().map(|file| app.context.cwd.join(file));
    let Some(path) = named.or_else(|| app.context.state_dir().map(|folder| path_in(&folder)))
    else {
        app.console.error("no directory with an audit log", Some("set QUINTAIN_HOME"));
        return Exit::Usage;
    };
    let folder = app.context.state_dir().or_else(|| Some(path.parent()?.to_owned()));
    match verify(&path, &folder.unwrap_or_default()) {
        Ok(count) => {
            app.console
                .out(&format!("{count} {} intact", if count == 1 { "record" } else { "records" }));
            Exit::Passed
        }
        Err(
            error @ (quintain_serve::audit::AuditError::Read { .. }
            | quintain_serve::audit::AuditError::Key { .. }),
        ) => {
            app.console.error(&error.to_string(), None);
            Exit::Usage
        }
        Err(error) => {
            app.console.error(&format!("the audit log is not intact: {error}"), None);
            Exit::Failed
        }
    }
}
