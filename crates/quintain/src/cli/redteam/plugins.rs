//! `quintain redteam plugins`: lists the attacks.

use std::path::PathBuf;

use quintain_redteam::attack::AnyAttack;
use quintain_redteam::attacks;
use quintain_redteam::orders::{Unavailable, all_unavailable, collection_names};
use quintain_suite::suite::{Needed, Purpose};
use serde_json::{Value, json};

use super::orders::of_suite;
use crate::cli::{App, suite};
use crate::exit::Exit;

/// List the attacks
///
/// Examples:
///   quintain redteam plugins
///   quintain redteam plugins --all
///   quintain redteam plugins -c quintain.yaml --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Also list the attacks that this suite defines
    #[arg(short, long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Also list plugins of promptfoo that Quintain cannot run, and what they need
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    let mut all: Vec<AnyAttack> =
        attacks::all().iter().map(|attack| AnyAttack::Builtin(*attack)).collect();
    match defined(args, app) {
        Ok(defined) => all.extend(defined),
        Err(exit) => return exit,
    }
    let needy: Vec<Unavailable> = all_unavailable().collect();
    if args.json {
        let others = needy.iter().filter(|_| args.all);
        let others = others.map(|one| json!({"id": one.name, "needs": [one.needs], "runs": false}));
        app.console.json(&all.iter().map(as_json).chain(others).collect());
        return Exit::Passed;
    }
    let width = all.iter().map(|attack| attack.meta().id.len()).max().unwrap_or(0);
    for attack in &all {
        let (meta, facts) = (attack.meta(), attack.weakness());
        let severity = facts.severity.word();
        app.console.out(&format!("{:width$}  {severity:8}  {}", meta.id, meta.summary));
    }
    let collections: Vec<&str> = collection_names().collect();
    app.console.out(&format!("\nCollections: {}", collections.join(", ")));
    if !args.all {
        let count = needy.len();
        let told = format!(
            "{count} plugins of promptfoo need a model or agent as target; --all lists them"
        );
        app.console.out(&format!("\n{told}"));
        return Exit::Passed;
    }
    app.console.out("\nKnown, but not supported:");
    let width = needy.iter().map(|one| one.name.len()).max().unwrap_or(0);
    for one in &needy {
        app.console.out(&format!("{:width$}  needs {}", one.name, one.needs));
    }
    Exit::Passed
}

/// The attacks that the suite defines, if one is named.
fn defined(args: &Args, app: &App) -> Result<Vec<AnyAttack>, Exit> {
    if args.config.is_empty() {
        return Ok(Vec::new());
    }
    let opened = suite::open(
        &args.config,
        Vec::new(),
        &app.context.env,
        Purpose::Read(Needed::Nothing),
        app,
    );
    let opened = opened.map_err(|wrong| {
        wrong.report(app);
        Exit::Usage
    })?;
    let orders = of_suite(Some(&opened), app)?;
    Ok(orders.defined.into_iter().map(|attack| AnyAttack::Defined(attack)).collect())
}

fn as_json(attack: &AnyAttack) -> Value {
    let (meta, facts) = (attack.meta(), attack.weakness());
    let needs: Vec<&str> = attack.needs().iter().map(|need| need.words()).collect();
    let mut entry = json!({
        "id": meta.id, "aliases": meta.aliases, "summary": meta.summary,
        "severity": facts.severity.word(), "cwe": facts.cwe,
        "frameworks": facts.frameworks, "needs": needs,
    });
    if attack.is_defined() {
        entry["defined"] = true.into();
    }
    entry
}
