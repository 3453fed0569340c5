//! `quintain redteam plugins`: lists the attacks.

use std::path::PathBuf;

use quintain_redteam::attack::AnyAttack;
use quintain_redteam::attacks;
use quintain_redteam::orders::{Unavailable, all_unavailable, collection_names};
use quintain_redteam::suits::{Receiver, Suits};
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
    /// Also list plugins of promptfoo that need a judge, a data set or another kind of target
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
        let others = others.map(|one| {
            let oracle = oracle(one);
            json!({"id": one.name, "needs": [one.needs], "runs": one.is_judged, "oracle": oracle,
                "suits": Suits::MODELS.describe()})
        });
        app.console.json(&all.iter().map(as_json).chain(others).collect());
        return Exit::Passed;
    }
    let width = all.iter().map(|attack| attack.meta().id.len()).max().unwrap_or(0);
    for attack in &all {
        let (meta, facts) = (attack.meta(), attack.weakness());
        let severity = facts.severity.word();
        let suits = attack.suits().word();
        app.console.out(&format!("{:width$}  {suits:6}  {severity:8}  {}", meta.id, meta.summary));
    }
    let collections: Vec<&str> = collection_names().collect();
    app.console.out(&format!("\nCollections: {}", collections.join(", ")));
    if !args.all {
        let judged = needy.iter().filter(|one| one.is_judged).count();
        app.console.out(&format!(
            "\n{judged} more plugins of promptfoo need a judge, and {} a data set or another kind of target; --all \
             lists them",
            needy.len() - judged
        ));
        return Exit::Passed;
    }
    app.console.out("\nPlugins of promptfoo under other names, all decided by canaries:");
    for attack in attacks::suiting(Receiver::Model) {
        let (meta, rule) = (attack.meta(), attack.rule());
        let rule = Some(rule).filter(|rule| *rule != meta.id);
        let names: Vec<&str> = rule.into_iter().chain(meta.aliases.iter().copied()).collect();
        if !names.is_empty() {
            app.console.out(&format!("{} runs {}", names.join(", "), meta.id));
        }
    }
    app.console.out("\nPlugins of promptfoo without a canary:");
    let width = needy.iter().map(|one| one.name.len()).max().unwrap_or(0);
    for one in &needy {
        app.console.out(&format!("{:width$}  {:7}  needs {}", one.name, oracle(one), one.needs));
    }
    Exit::Passed
}

/// What decides whether a plugin of promptfoo worked.
fn oracle(one: &Unavailable) -> &'static str {
    match one {
        Unavailable { is_judged: true, .. } => "judge",
        Unavailable { needs, .. } if needs.contains("data set") => "dataset",
        Unavailable { .. } => "agent",
    }
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
        "frameworks": facts.frameworks, "needs": needs, "suits": attack.suits().describe(),
    });
    if attack.is_defined() {
        entry["defined"] = true.into();
    }
    entry
}
