//! `quintain redteam plugins`: which attacks there are.

use quintain_core::attacks;
use serde_json::json;

use crate::cli::Desk;
use crate::exit::Exit;

/// List the attacks
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, desk: &Desk) -> Exit {
    if args.json {
        let all = attacks::all().iter().map(|attack| {
            let (meta, facts) = (attack.meta(), attack.facts());
            let needs: Vec<&str> = facts.needs.iter().map(|need| need.words()).collect();
            json!({
                "id": meta.id, "aliases": meta.aliases, "summary": meta.summary,
                "severity": facts.severity.word(), "cwe": facts.cwe,
                "frameworks": facts.frameworks, "needs": needs,
            })
        });
        desk.console.json(&all.collect());
        return Exit::Passed;
    }
    let width = attacks::all().iter().map(|attack| attack.meta().id.len()).max().unwrap_or(0);
    for attack in attacks::all() {
        let (meta, facts) = (attack.meta(), attack.facts());
        let severity = facts.severity.word();
        desk.console.out(&format!("{:width$}  {severity:8}  {}", meta.id, meta.summary));
    }
    Exit::Passed
}
