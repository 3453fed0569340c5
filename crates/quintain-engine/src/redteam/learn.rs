//! Finds calls that work, and keeps what the answers give away.

use std::collections::HashSet;
use std::path::PathBuf;

use quintain_core::evidence::{Exchange, Outcome};
use quintain_core::knowledge::{
    Baseline, Draft, Hints, Knowledge, Learned, Silent, Tries, harvest, is_destructive, paths_in,
    words,
};
use quintain_core::probe::Step;
use quintain_core::surface::{Surface, Tool};
use quintain_core::tool_call::ToolCall;
use serde_json::Value;

use super::budget::Budget;
use super::party::Party;
use super::roots;

/// Later rounds know what earlier ones learned.
const ROUNDS: usize = 3;

/// What learning begins with.
#[derive(Clone, Copy)]
pub(super) struct Lore<'a> {
    /// Calls that worked in an earlier sitting.
    pub(super) known: &'a [Baseline],
    /// Tools that destroy may be called.
    pub(super) destructive: bool,
}

/// Learns about every tool of a target.
pub(super) async fn learn(
    party: &Party,
    identity: usize,
    surfaces: &[(String, Surface)],
    hints: &mut Hints,
    lore: Lore<'_>,
    budget: &Budget,
    knowledge: &mut Knowledge,
) {
    let mut silent: Vec<Silent> = Vec::new();
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
            let known = lore.known.iter().find(|known| {
                known.server == *server
                    && matches!(&known.step, Step::Call(call) if call.tool == name)
            });
            let hunt = Hunt { party, identity, server, tool, name, known, hints, budget };
            match hunt.run(knowledge).await {
                Ok(Some(baseline)) if identity == 0 => knowledge.baselines.push(baseline),
                Ok(_) => {}
                Err(why) => silent.push(gone(&why)),
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
    }
}

pub(super) fn destroys(tool: &Tool) -> bool {
    let name = tool.name().unwrap_or_default();
    is_destructive(name, tool.hint("destructiveHint"), tool.hint("readOnlyHint"))
}

/// What gives away most comes first: tools that list, then those that need little.
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
    tools.sort_by_key(|(_, tool)| (tool.required_args().len(), !lists(tool)));
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
}

impl Hunt<'_> {
    async fn run(&self, knowledge: &mut Knowledge) -> Result<Option<Baseline>, String> {
        if let Some(known) = self.known
            && self.budget.take()
        {
            let exchange = self.party.step(&known.step).await;
            if matches!(exchange.outcome, Outcome::Reply(_)) {
                return Ok(Some(self.keep(known.step.clone(), exchange, knowledge)));
            }
        }
        let schema = self.tool.input_schema().cloned().unwrap_or(Value::Null);
        let mut hints = self.hints.clone();
        let known: Vec<Learned> =
            knowledge.values.iter().chain(&knowledge.given).cloned().collect();
        let mut tries = Tries::new(self.name, &schema, &known, &hints);
        let mut error: Option<String> = None;
        let mut seen = HashSet::new();
        let mut first = None;
        while let Some(args) = tries.next(error.as_deref()) {
            if !seen.insert(Value::Object(args.clone()).to_string()) {
                continue;
            }
            if !self.budget.take() {
                return Err("the budget was spent before a call of it worked".to_owned());
            }
            first.get_or_insert_with(|| args.clone());
            let server = Some(self.server.to_owned()).filter(|server| !server.is_empty());
            let step = Step::Call(ToolCall { tool: self.name.to_owned(), args, server });
            let exchange = self.party.step(&step).await;
            match &exchange.outcome {
                Outcome::Reply(_) => return Ok(Some(self.keep(step, exchange, knowledge))),
                Outcome::TimedOut { .. } => return Err("it did not answer in time".to_owned()),
                Outcome::Closed { .. } => {
                    // The server died of an innocent call; it has to be started again.
                    self.party.step(&ping()).await;
                    error = None;
                }
                other => {
                    let said = other.said();
                    // A tool that advertises nothing may name what it misses.
                    let missing = missing_names(&said);
                    if schema.get("properties").is_none()
                        && !missing.is_empty()
                        && hints.names.is_empty()
                    {
                        hints.names = missing;
                        tries = Tries::new(self.name, &schema, &known, &hints);
                    }
                    error = Some(said);
                }
            }
        }
        if let Some(args) = first {
            let (server, tool) = (self.server.to_owned(), self.name.to_owned());
            knowledge.drafts.retain(|draft| draft.server != server || draft.tool != tool);
            knowledge.drafts.push(Draft { server, tool, args });
        }
        let last = error.unwrap_or_else(|| "no call of it worked".to_owned());
        Err(format!("no call of it worked: {}", first_line(&last)))
    }
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

/// Names of arguments that an error asks for: `missing 'city'`, `"city" is required`.
fn missing_names(said: &str) -> Vec<String> {
    let asks = ["missing", "required", "expected", "undefined", "must provide"];
    let mut names = Vec::new();
    for line in said.lines().take(20) {
        let low = line.to_ascii_lowercase();
        if !asks.iter().any(|word| low.contains(word)) {
            continue;
        }
        for quote in ['\'', '"', '`'] {
            for name in line.split(quote).skip(1).step_by(2) {
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                if (1..40).contains(&name.len())
                    && name.chars().all(plain)
                    && !names.contains(&name.to_owned())
                {
                    names.push(name.to_owned());
                }
            }
        }
    }
    names.truncate(8);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_what_they_miss() {
        assert_eq!(missing_names("TypeError: missing 'city'"), ["city"]);
        assert_eq!(
            missing_names("\"from_date\" is required and \"to\" is required"),
            ["from_date", "to"]
        );
        assert!(missing_names("no such file 'x'").is_empty());
    }
}
