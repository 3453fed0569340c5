//! Finds calls that work, and keeps what the answers give away.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use quintain_core::evidence::{Exchange, Outcome};
use quintain_core::knowledge::{
    Baseline, Draft, Hints, Knowledge, Learned, Silent, Tries, accepted, amend, complaints,
    destroys, harvest, paths_in, words,
};
use quintain_core::probe::Step;
use quintain_core::surface::{Surface, Tool};
use quintain_core::tool_call::ToolCall;
use serde_json::Value;

use super::budget::Budget;
use super::party::{CALL_TIME, LEAST_TIME, Party};
use super::roots;
use super::witness::Witness;

/// So many calls are tried for one tool in one round.
const MAX_CALLS: usize = 32;
/// After so many tools that do not answer, further ones get less and less time.
const MAX_MUTE: usize = 2;
const LITTLE_TIME: Duration = Duration::from_secs(4);
/// Why a tool has no call that works, if it does not answer.
pub(super) const MUTE: &str = "it did not answer in time";
/// Later rounds know what earlier ones learned.
const ROUNDS: usize = 3;

/// What learning begins with.
#[derive(Clone, Copy)]
pub(super) struct Lore<'a> {
    /// Calls that worked in an earlier sitting.
    pub(super) known: &'a [Baseline],
    /// Tools that destroy may be called.
    pub(super) destructive: bool,
    pub(super) budget: &'a Budget,
    pub(super) witness: &'a Witness,
}

/// Learns about every tool of a target.
pub(super) async fn learn(
    party: &Party,
    identity: usize,
    surfaces: &[(String, Surface)],
    hints: &mut Hints,
    lore: Lore<'_>,
    knowledge: &mut Knowledge,
) {
    let Lore { budget, witness, .. } = lore;
    let mut silent: Vec<Silent> = Vec::new();
    let mut mute: Vec<Silent> = Vec::new();
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
            if !lore.destructive && destroys(tool) {
                silent.push(gone("it may destroy something; --include-destructive calls it"));
                continue;
            }
            if mute.iter().any(|one| one.server == *server && one.tool == name) {
                continue;
            }
            let known = lore.known.iter().find(|known| {
                known.server == *server
                    && matches!(&known.step, Step::Call(call) if call.tool == name)
            });
            let patience = patience(mute.len());
            let hunt = Hunt {
                party,
                identity,
                server,
                tool,
                name,
                known,
                hints,
                budget,
                witness,
                patience,
            };
            match hunt.run(knowledge).await {
                Ok(Some(baseline)) if identity == 0 => knowledge.baselines.push(baseline),
                Ok(_) => {}
                Err(Failure::Mute) => mute.push(gone(MUTE)),
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
        if silent.is_empty() || before == after || round + 1 == ROUNDS || budget.is_spent() {
            break;
        }
    }
    if identity == 0 {
        knowledge.silent = silent;
        knowledge.silent.extend(mute);
    }
}

/// How long a tool is waited for, after so many that did not answer.
fn patience(mute: usize) -> Duration {
    match mute.checked_sub(MAX_MUTE) {
        None => CALL_TIME,
        Some(more) => (LITTLE_TIME / (1 << more.min(8))).max(LEAST_TIME),
    }
}

/// What gives away most comes first: tools that list, then those that need little. What destroys comes last,
/// as others may need what it destroys.
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

/// Folders that answers of tools about allowed places name.
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

/// The hunt for one call that works.
struct Hunt<'a> {
    party: &'a Party,
    identity: usize,
    server: &'a str,
    tool: &'a Tool,
    name: &'a str,
    /// A call that worked in an earlier sitting.
    known: Option<&'a Baseline>,
    hints: &'a Hints,
    budget: &'a Budget,
    witness: &'a Witness,
    patience: Duration,
}

/// Why there is no call that works.
enum Failure {
    /// It does not answer; asking again would only cost time.
    Mute,
    Other(String),
}

impl Hunt<'_> {
    async fn run(&self, knowledge: &mut Knowledge) -> Result<Option<Baseline>, Failure> {
        if let Some(known) = self.known
            && self.budget.take()
        {
            let exchange = self.party.step(&known.step).await;
            if matches!(exchange.outcome, Outcome::Reply(_)) {
                return Ok(Some(self.keep(known.step.clone(), exchange, knowledge)));
            }
        }
        let mut schema = self.tool.input_schema().cloned().unwrap_or(Value::Null);
        let known: Vec<Learned> =
            knowledge.values.iter().chain(&knowledge.given).cloned().collect();
        let mut tries = Tries::new(self.tool, &schema, &known, self.hints);
        let mut error: Option<String> = None;
        let mut told_first = None;
        let mut seen = HashSet::new();
        let mut last = None;
        // An answer that is no error by its form, but by its words.
        let mut doubtful: Option<Baseline> = None;
        while let Some(args) = tries.next(error.as_deref()) {
            if !seen.insert(Value::Object(args.clone()).to_string()) {
                continue;
            }
            if seen.len() > MAX_CALLS {
                break;
            }
            if !self.budget.take() {
                let why = "the budget was spent before a call of it worked";
                return Err(Failure::Other(why.to_owned()));
            }
            let server = Some(self.server.to_owned()).filter(|server| !server.is_empty());
            last = Some(args.clone());
            let step = Step::Call(ToolCall { tool: self.name.to_owned(), args, server });
            let sent = serde_json::to_value(&step).unwrap_or_default();
            self.witness.with_ground(|planted| planted.sent(&sent));
            let exchange = self.party.step_within(&step, self.patience).await;
            match &exchange.outcome {
                Outcome::Reply(_) if accepted(&exchange.outcome) => {
                    return Ok(Some(self.keep(step, exchange, knowledge)));
                }
                Outcome::TimedOut { .. } => return Err(Failure::Mute),
                Outcome::Closed { .. } => {
                    // The server died of an innocent call; it has to be started again.
                    self.party.step(&ping()).await;
                    error = None;
                }
                other => {
                    let said = told(other);
                    // What the schema does not say, a refusal may.
                    if amend(&mut schema, &complaints(&said)) {
                        tries = Tries::new(self.tool, &schema, &known, self.hints);
                    }
                    told_first.get_or_insert_with(|| said.clone());
                    error = Some(said);
                    if matches!(other, Outcome::Reply(_)) && doubtful.is_none() {
                        let server = self.server.to_owned();
                        doubtful = Some(Baseline { server, step, exchange });
                    }
                }
            }
        }
        if let Some(Baseline { step, exchange, .. }) = doubtful {
            return Ok(Some(self.keep(step, exchange, knowledge)));
        }
        if let Some(args) = last {
            let (server, tool) = (self.server.to_owned(), self.name.to_owned());
            knowledge.drafts.retain(|draft| draft.server != server || draft.tool != tool);
            knowledge.drafts.push(Draft { server, tool, args });
        }
        // The first call was the likeliest: what is said of it is worth most.
        let said = told_first.unwrap_or_default();
        Err(Failure::Other(format!("no call of it worked: {}", first_line(&said))))
    }
}

/// The words of a refusal, without the names of kinds of content.
fn told(outcome: &Outcome) -> String {
    let texts = outcome.texts();
    if texts.is_empty() { outcome.said() } else { texts.join("\n") }
}

impl Hunt<'_> {
    /// A call that works, and what it gives away.
    fn keep(&self, step: Step, exchange: Exchange, knowledge: &mut Knowledge) -> Baseline {
        knowledge.values.extend(harvest(&exchange, self.name, self.identity));
        // What one tool takes under a name, another may take too.
        knowledge.given.extend(self.given(&step));
        Baseline { server: self.server.to_owned(), step, exchange }
    }

    /// The arguments of a call that works.
    fn given(&self, step: &Step) -> Vec<Learned> {
        let Step::Call(call) = step else { return Vec::new() };
        let plain = |value: &Value| value.is_string() || value.is_number();
        let given =
            call.args.iter().filter(|(_, value)| plain(value)).map(|(name, value)| Learned {
                name: name.clone(),
                value: value.clone(),
                tool: self.name.to_owned(),
                identity: self.identity,
            });
        given.collect()
    }
}

pub(super) fn ping() -> Step {
    Step::Request { method: "ping".into(), params: serde_json::Map::new(), server: None }
}

fn first_line(text: &str) -> String {
    // `text` is the type of the block that holds the message.
    let says = |line: &&str| !matches!(line.trim(), "" | "text");
    let line = text.lines().find(says).unwrap_or_default();
    line.chars().take(200).collect()
}
