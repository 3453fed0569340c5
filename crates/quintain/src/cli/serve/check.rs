//! `quintain serve check`: prints the effective settings, where each comes from, and what is unsafe.

use quintain_serve::settings::{Effective, SETTINGS, warnings};
use serde_json::{Value, json};

use super::{Options, settings};
use crate::cli::App;
use crate::exit::Exit;

/// Print the settings of `quintain serve`, where each comes from, and which are unsafe
///
/// Example:
///   MCP_REQUIRE_AUTH=false quintain serve check --http
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    options: Options,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    let effective = match settings::read(&args.options, app) {
        Ok(effective) => effective,
        Err(exit) => return exit,
    };
    let unsafe_choices = warnings(&effective.settings);
    if args.json {
        app.console.json(&as_json(&effective, &unsafe_choices));
    } else {
        print(&effective, &unsafe_choices, app);
    }
    Exit::Passed
}

fn as_json(effective: &Effective, unsafe_choices: &[String]) -> Value {
    let row = |setting: &quintain_serve::settings::Setting| {
        json!({
            "key": setting.key,
            "variable": setting.variable,
            "value": (setting.show)(&effective.settings),
            "source": effective.origin(setting).to_string(),
            "description": setting.what,
        })
    };
    json!({"settings": SETTINGS.iter().map(row).collect::<Vec<_>>(), "unsafe": unsafe_choices})
}

fn print(effective: &Effective, unsafe_choices: &[String], app: &App) {
    let rows: Vec<[String; 4]> = SETTINGS
        .iter()
        .map(|setting| {
            let value = match (setting.show)(&effective.settings) {
                Value::String(text) => text,
                Value::Null => "-".to_owned(),
                value => value.to_string(),
            };
            [
                setting.key.to_owned(),
                value,
                effective.origin(setting).to_string(),
                setting.variable.to_owned(),
            ]
        })
        .collect();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (key, value, source) = (width(0), width(1).min(50), width(2));
    for [name, shown, origin, variable] in &rows {
        app.console.out(&format!("{name:<key$}  {shown:<value$}  {origin:<source$}  {variable}"));
    }
    for what in unsafe_choices {
        app.console.out(&format!("unsafe: {what}"));
    }
    if unsafe_choices.is_empty() {
        app.console.out("no unsafe setting");
    }
}
