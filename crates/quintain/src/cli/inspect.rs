//! `quintain inspect`: shows what a target offers, or what a capture recorded of it.

mod capture;

use std::path::PathBuf;
use std::sync::Arc;

use quintain_evidence::surface::Surface;
use quintain_wire::frame::MemoryRecorder;
use serde_json::json;

use super::target::{self, TargetArgs};
use super::{App, render};
use crate::console::Tone;
use crate::exit::Exit;

/// Maximum size of the raw exchange that `--frames` keeps.
const TAPE: usize = 16 << 20;

/// Show what a target offers: server, protocol, capabilities, tools, resources, prompts
///
/// Examples:
///   quintain inspect -- npx -y @modelcontextprotocol/server-everything
///   quintain inspect --url http://127.0.0.1:3000/mcp --json
///   quintain inspect --capture session.jsonl
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Print JSON, every item as the target sent it
    #[arg(long)]
    json: bool,
    /// Print the raw exchange, too
    #[arg(long, conflicts_with = "capture")]
    frames: bool,
    /// Capture of `quintain record` to show instead of a running target
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "target", "url", "command"])]
    capture: Option<PathBuf>,
    // Last, because its heading would also cover the options that follow it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    if let Some(file) = &args.capture {
        return match capture::surfaces(&app.context.cwd.join(file), &file.display().to_string()) {
            Ok(surveyed) => {
                show(&surveyed, args.json, None, app);
                surveyed
                    .iter()
                    .flat_map(|(_, _, missing)| missing)
                    .for_each(|missing| app.console.warn(missing));
                Exit::Passed
            }
            Err(wrong) => {
                app.console.error(&wrong, None);
                Exit::Usage
            }
        };
    }
    let (target, mut world) = match args.target.resolve(app, args.json) {
        Ok(resolved) => resolved,
        Err(exit) => return exit,
    };
    let tape = Arc::new(MemoryRecorder::new(TAPE));
    if args.frames {
        world.recorder = Some(tape.clone());
    }
    let console = &app.console;
    let sessions = match target::open(&target, &world, app).await {
        Ok(sessions) => sessions,
        Err(error) => {
            if args.json {
                let mut report = json!({"error": error.to_string()});
                if args.frames {
                    report["exchange"] = render::frames_json(&tape);
                }
                console.json(&report);
            } else if args.frames {
                console.out(&render::frames(&tape, console));
            }
            let help = target::advice(&error, &target);
            console.error(&error.to_string(), help.as_deref());
            return target::exit_of(&error);
        }
    };
    let surveyed = sessions.survey().await;
    sessions.close().await;

    show(&surveyed, args.json, args.frames.then_some(&*tape), app);
    let problems: Vec<&String> = surveyed.iter().flat_map(|(_, _, problems)| problems).collect();
    for problem in &problems {
        console.warn(&quintain_source::visible(problem));
    }
    if problems.is_empty() { Exit::Passed } else { Exit::Unreachable }
}

/// Prints surfaces with the names of their servers, and the raw exchange if there is one.
fn show(
    surveyed: &[(String, Surface, Vec<String>)],
    json: bool,
    tape: Option<&MemoryRecorder>,
    app: &App,
) {
    let console = &app.console;
    if json {
        let servers: Vec<_> = surveyed
            .iter()
            .map(|(name, surface, problems)| render::surface_json(name, surface, problems))
            .collect();
        let mut report = json!({
            "servers": servers,
            "quintain": {"version": env!("CARGO_PKG_VERSION"), "format_version": 1},
        });
        if let Some(tape) = tape {
            report["exchange"] = render::frames_json(tape);
        }
        console.json(&report);
    } else {
        for (at, (name, surface, _)) in surveyed.iter().enumerate() {
            if at > 0 {
                console.out("");
            }
            if surveyed.len() > 1 {
                // Servers may report the same name; the names in the suite are unique.
                let name = quintain_source::visible(name);
                console.out(&console.paint(Tone::Bold, &format!("server {name}")));
            }
            console.out(&render::surface(name, surface, console));
        }
        if let Some(tape) = tape {
            console.out("");
            console.out(&render::frames(tape, console));
        }
    }
}
