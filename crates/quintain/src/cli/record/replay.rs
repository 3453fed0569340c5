//! Serves a capture as a mock server.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use quintain_source::visible;
use quintain_wire::recording::replay::{Recorded, http, stdio};

use super::App;
use super::http::{announce, listen};
use crate::cli::interrupted;
use crate::console::counted;
use crate::exit::Exit;

pub(super) async fn run(file: &Path, listen_on: Option<&str>, app: &App) -> Exit {
    let console = &app.console;
    let opened = File::open(app.context.cwd.join(file)).map_err(|error| error.to_string());
    let loaded = opened.and_then(|opened| {
        Recorded::load(BufReader::new(opened)).map_err(|error| error.to_string())
    });
    let (recorded, problems) = match loaded {
        Ok(loaded) => loaded,
        Err(why) => {
            let help = "expected a capture of `quintain record`";
            console.error(&format!("cannot replay `{}`: {why}", file.display()), Some(help));
            return Exit::Usage;
        }
    };
    for problem in problems {
        console.warn(&format!("`{}`: {}", file.display(), visible(&problem)));
    }
    let calls = counted(recorded.calls(), "recorded call");
    let served = match listen_on {
        None => {
            console.note(&format!("replaying {calls} of {}", file.display()));
            tokio::select! {
                served = stdio::serve(&recorded) => served,
                () = interrupted() => return Exit::Interrupted,
            }
        }
        Some(text) => {
            let (listener, address) = match listen(text, app).await {
                Ok(bound) => bound,
                Err(exit) => return exit,
            };
            announce(address, recorded.path().unwrap_or("/mcp"), app);
            console.note(&format!("replaying {calls} of {}", file.display()));
            tokio::select! {
                served = http::serve(listener, &recorded) => served,
                () = interrupted() => Ok(()),
            }
        }
    };
    match served {
        Ok(()) => Exit::Passed,
        Err(error) => {
            console.error(&format!("cannot replay `{}`: {error}", file.display()), None);
            Exit::Unreachable
        }
    }
}
