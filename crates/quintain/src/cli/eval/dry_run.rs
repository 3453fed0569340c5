//! `quintain eval --dry-run`: shows what a suite would do. It only reads the files: runs, starts and contacts nothing.

use quintain_engine::jobs::Choices;
use quintain_engine::read_model;
use quintain_suite::effects::{Models, of_suite};
use quintain_suite::plan::plan;
use quintain_suite::suite::{Needed, Purpose};
use quintain_wire::transport::stdio::INHERITED;
use serde_json::{Value, json};

use super::args::Args;
use super::run::{env_files, fresh};
use crate::cli::App;
use crate::cli::dry_run::DryRun;
use crate::cli::suite::{self, CliError, cli_error};
use crate::exit::Exit;

pub(super) fn run(args: &Args, app: &App) -> Exit {
    match read(args, app) {
        Ok(found) => {
            found.show(app);
            Exit::Passed
        }
        Err(wrong) => {
            let what = wrong.report(app);
            if args.show.json {
                app.console.json(&json!({"error": what}));
            }
            Exit::Usage
        }
    }
}

fn read<'a>(args: &'a Args, app: &App) -> Result<DryRun<'a>, CliError> {
    let usage = |what: String| cli_error(what, None);
    let given = env_files(args, app);
    let mut env = app.context.env.clone();
    env.extend(given.map_err(|(what, help)| cli_error(what, help.map(str::to_owned)))?);
    let files = fresh(args, app)?;
    let opened = suite::understand(files, &env, Purpose::Read(Needed::Nothing), app)?;
    let suite = &opened.suite;
    let choices = Choices::of_options(&args.choices()).or(&suite.tests.command_line);
    let selection = choices.selection().map_err(|error| usage(error.to_string()))?;
    let repeat = choices.repeat.or(suite.tests.options.repeat).unwrap_or(1);
    let plan = plan(suite, &selection, repeat).map_err(|error| usage(error.to_string()))?;
    let names: Vec<&str> = opened.files.iter().map(|file| file.name.as_str()).collect();
    let folder =
        opened.files.first().map_or_else(|| app.context.cwd.clone(), |file| file.base_dir.clone());
    let judge = args.models.settings(app)?.judge;
    let read = |model: &Value| read_model(model, folder.clone(), app.files.clone());
    Ok(DryRun {
        name: names.join(", "),
        effects: of_suite(suite, &plan, &Models { judge, read: &read }, INHERITED),
        outputs: &args.show.output,
        no_write: args.no_write,
        json: args.show.json,
        attack: None,
    })
}
