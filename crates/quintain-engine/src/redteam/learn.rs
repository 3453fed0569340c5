//! Finds a valid call of every tool, and collects values from the answers.

mod call_search;
mod modes;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use call_search::{CallSearch, Failure};
use quintain_content::internals::paths_in;
use quintain_evidence::probe::Step;
use quintain_evidence::redteam_report::Silent;
use quintain_evidence::surface::{Surface, Tool};
use quintain_redteam::knowledge::{Baseline, Hints, Knowledge, destroys, words};
use serde_json::Value;

use super::budget::Budget;
use super::gate::{Gate, NOT_CALLED};
use super::identity_sessions::{CALL_TIME, IdentitySessions, LEAST_TIME};
use super::observer::Observer;
use super::roots;

/// Number of tools without an answer after which further tools get less and less time.
const MAX_UNANSWERED_TOOLS: usize = 2;
const LITTLE_TIME: Duration = Duration::from_secs(4);
/// Why a tool that does not answer has no valid call.
pub(super) const NO_ANSWER: &str = "it did not answer in time";
/// Why a tool whose calls end the server has no valid call.
pub(super) const DEADLY: &str = "every call ended the server, a harmless one, too";
/// Number of rounds. Each uses values from the earlier ones.
const ROUNDS: usize = 3;
/// Learning gets at most a third of the time limit. Without a limit, no further round starts after `ENOUGH`.
pub(super) const SHARE: u32 = 3;
const ENOUGH: Duration = Duration::from_secs(30);
/// Why a tool was not tried, or not tried again.
const NO_TIME: &str = "no time was left to find a valid call";

/// What learning uses.
#[derive(Clone, Copy)]
pub(super) struct LearnContext<'a> {
    /// Valid calls from the interrupted run.
    pub(super) known: &'a [Baseline],
    pub(super) gate: &'a Gate,
    pub(super) budget: &'a Budget,
    pub(super) observer: &'a Observer,
}

/// Learns about every tool of a target.
pub(super) async fn learn(
    identity_sessions: &IdentitySessions,
    identity: usize,
    surfaces: &[(String, Surface)],
    hints: &mut Hints,
    learn_context: LearnContext<'_>,
    knowledge: &mut Knowledge,
) {
    let LearnContext { gate, budget, observer, .. } = learn_context;
    let mut silent: Vec<Silent> = Vec::new();
    let mut silent_tools: Vec<Silent> = Vec::new();
    // Schemas with additions from refusals, by server and tool.
    let mut schemas: HashMap<(String, String), Value> = HashMap::new();
    let started = Instant::now();
    for round in 0..ROUNDS {
        silent.clear();
        let before = (knowledge.baselines.len(), knowledge.values.len());
        for (server, tool) in in_order(surfaces) {
            let Some(name) = tool.name() else { continue };
            if identity == 0 && knowledge.baseline(server, name).is_some() {
                continue;
            }
            let gone = |why: &str| Silent {
                server: server.to_owned(),
                tool: name.to_owned(),
                why: why.to_owned(),
            };
            if gate.never_calls(tool) {
                silent.push(gone(NOT_CALLED));
                continue;
            }
            if silent_tools.iter().any(|one| one.server == *server && one.tool == name) {
                continue;
            }
            if budget.is_part_spent(SHARE) {
                silent.push(gone(NO_TIME));
                continue;
            }
            let known = learn_context.known.iter().find(|known| {
                known.server == *server
                    && matches!(&known.step, Step::Call(call) if call.tool == name)
            });
            let time_limit = time_limit(silent_tools.len());
            let call_search = CallSearch {
                identity_sessions,
                identity,
                server,
                tool,
                name,
                known,
                hints,
                gate,
                budget,
                observer,
                time_limit,
            };
            let advertised = || tool.input_schema().cloned().unwrap_or(Value::Null);
            let schema =
                schemas.entry((server.to_owned(), name.to_owned())).or_insert_with(advertised);
            match call_search.run(schema, knowledge).await {
                Ok(Some(baseline)) if identity == 0 => knowledge.baselines.push(baseline),
                Ok(_) => {}
                Err(Failure::SilentTools) => silent_tools.push(gone(NO_ANSWER)),
                Err(Failure::Other(why)) => silent.push(gone(&why)),
            }
            if budget.is_spent() {
                break;
            }
        }
        if identity == 0 {
            let found = roots_of(knowledge);
            knowledge.roots.extend(
                found
                    .into_iter()
                    .filter(|root| !knowledge.roots.contains(root))
                    .collect::<Vec<_>>(),
            );
            hints.folders.extend(
                knowledge
                    .roots
                    .iter()
                    .filter(|root| !hints.folders.contains(root))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
        }
        let after = (knowledge.baselines.len(), knowledge.values.len());
        let late = started.elapsed() > ENOUGH || budget.is_part_spent(SHARE);
        if silent.is_empty() || before == after || round + 1 == ROUNDS || late {
            break;
        }
    }
    if identity == 0 {
        knowledge.silent = silent;
        knowledge.silent.extend(silent_tools);
        let mode_search = modes::ModeSearch { identity_sessions, hints, learn_context, started };
        mode_search.search(surfaces, &schemas, knowledge).await;
    }
}

/// Adds the tools that learning did not reach before it was aborted.
pub(super) fn broken_off(surfaces: &[(String, Surface)], gate: &Gate, knowledge: &mut Knowledge) {
    for (server, tool) in in_order(surfaces) {
        let Some(name) = tool.name() else { continue };
        let told = knowledge.silent.iter().any(|one| one.server == server && one.tool == name);
        if !told && knowledge.baseline(server, name).is_none() {
            let why = if gate.never_calls(tool) { NOT_CALLED } else { NO_TIME }.to_owned();
            let (server, tool) = (server.to_owned(), name.to_owned());
            knowledge.silent.push(Silent { server, tool, why });
        }
    }
}

/// Time limit of a call, given the number of tools that did not answer.
fn time_limit(silent_tools: usize) -> Duration {
    match silent_tools.checked_sub(MAX_UNANSWERED_TOOLS) {
        None => CALL_TIME,
        Some(more) => (LITTLE_TIME / (1 << more.min(8))).max(LEAST_TIME),
    }
}

/// Sorts tools: first those that need few arguments, among them those that list things, since their answers contain
/// the most values. Destructive tools come last, since others may need what they destroy.
fn in_order(surfaces: &[(String, Surface)]) -> Vec<(&str, &Tool)> {
    let mut tools: Vec<(&str, &Tool)> = surfaces
        .iter()
        .flat_map(|(server, surface)| surface.tools.iter().map(move |tool| (server.as_str(), tool)))
        .collect();
    let lists = |tool: &Tool| {
        let words = words(tool.name().unwrap_or_default());
        words.first().is_some_and(|verb| {
            ["list", "ls", "search", "find", "get", "show", "read", "create", "add"]
                .contains(&verb.as_str())
        })
    };
    tools.sort_by_key(|(_, tool)| (destroys(tool), tool.required_args().len(), !lists(tool)));
    tools
}

/// Folders in the answers of tools that list allowed directories.
fn roots_of(knowledge: &Knowledge) -> Vec<PathBuf> {
    let about_roots = |tool: &str| {
        let words = words(tool);
        words.iter().any(|word| {
            ["allowed", "root", "roots", "workspace", "directories"].contains(&word.as_str())
        })
    };
    let mut found = Vec::new();
    for baseline in &knowledge.baselines {
        if let Step::Call(call) = &baseline.step
            && about_roots(&call.tool)
        {
            found.extend(roots::named(&paths_in(&baseline.exchange.outcome.said())));
        }
    }
    found
}

pub(super) fn ping() -> Step {
    Step::Request { method: "ping".into(), params: serde_json::Map::new(), server: None }
}
