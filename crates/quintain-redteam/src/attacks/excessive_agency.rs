//! Tools that do more than their annotations declare.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use quintain_content::registry::Meta;
use quintain_evidence::evidence::{Exchange, Observation};
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::probe::Step;
use quintain_evidence::surface::Tool;
use quintain_evidence::weakness::Weakness;
use regex::Regex;
use serde_json::Map;

use super::tool_access;
use crate::attack::{Action, Aim, Attack, Attempt, Brief, Hit, TargetView, Trial, Tried};
use crate::knowledge::{Learned, harvest};

pub(super) struct ExcessiveAgency;

static META: Meta = Meta {
    id: "excessive-agency",
    aliases: &["annotation-lie", "mcp:excessive-agency"],
    summary: "A tool does more than its annotations declare",
    docs: "\
# What it does
Reads the state of a server through its reading tools, calls a tool that declares itself harmless, and reads the state again. It looks for
changes despite `readOnlyHint: true`, deletions despite `destructiveHint: false`, and a further change by a second call despite
`idempotentHint: true`. If the target runs on this machine, the attack also compares the files in the folders of the target after every
call, four levels deep, up to 2000 files. All calls run in a separate session while nothing else is sent.

# Why it matters
Clients ask the user before a call that destroys data, but not before one that only reads. They rely on these annotations.

# What counts as proof
- A reading tool returns the same twice before the call, and something else twice after it. Data that changes by itself, and timestamps,
  do not count. A tool is never used to watch itself.
- A file changes or is deleted during the calls of this tool, and during no other call of the session. Hidden files, lock files and
  database journals do not count.

# Example
```yaml
redteam:
  plugins: [excessive-agency]
```

# References
- CWE-451, OWASP LLM06, OWASP ASI02
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::Medium,
    cwe: &[451],
    frameworks: &["LLM06", "ASI02", "ASI09", "MCP02"],
};

/// The maximum number of tools per session.
const MAX_TOOLS: usize = 8;
const WATCHERS: usize = 2;

impl Attack for ExcessiveAgency {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn wants_quiet(&self) -> bool {
        true
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let servers = view.surfaces.iter().map(|(server, _)| server);
        servers
            .filter(|server| !promising(view, server).is_empty())
            .map(|server| Aim::at(Place::Server { server: server.clone() }))
            .collect()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(view) = brief.view else { return Vec::new() };
        let server = aim.place.server();
        let tools = promising(view, server);
        let mut attempts = Vec::new();
        // One watcher per session, so that a watcher that changes data itself spoils only that session. The
        // sessions run in sequence, since they may share state.
        let mut watchers = tool_access::watchers(view, server, "", WATCHERS);
        if watchers.is_empty() && !brief.roots.is_empty() {
            // No tool shows the state, but files can be watched.
            watchers.push(ping(server));
        }
        for watcher in watchers {
            // A tool does not watch itself.
            let others: Vec<&(Promise, Step)> =
                tools.iter().filter(|(_, step)| *step != watcher).collect();
            for tools in others.chunks(MAX_TOOLS) {
                let mut steps = vec![watcher.clone(), watcher.clone()];
                for (promise, step) in tools {
                    let calls = if *promise == Promise::Idempotent { 2 } else { 1 };
                    for _ in 0..calls {
                        steps.extend([step.clone(), watcher.clone(), watcher.clone()]);
                    }
                }
                attempts.push(Attempt {
                    form: "state before and after".to_owned(),
                    set: 0,
                    role: String::new(),
                    action: Action::Watched { steps, identity: 0 },
                    nonce: brief.nonce(),
                    payload: None,
                });
            }
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial.tried.iter().flat_map(|tried| judge(trial, tried)).collect()
    }
}

/// The strongest claim of a tool's annotations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Promise {
    ReadOnly,
    NotDestructive,
    Idempotent,
}

impl Promise {
    fn of(tool: &Tool) -> Option<Self> {
        let says = |hint: &str, wanted: bool| tool.hint(hint) == Some(wanted);
        match () {
            () if says("readOnlyHint", true) => Some(Self::ReadOnly),
            () if says("destructiveHint", false) => Some(Self::NotDestructive),
            () if says("idempotentHint", true) => Some(Self::Idempotent),
            () => None,
        }
    }
}

/// Calls of tools with such annotations, the strongest claims first.
fn promising(view: &TargetView<'_>, server: &str) -> Vec<(Promise, Step)> {
    let baselines = view.knowledge.baselines.iter().filter(|known| known.server == server);
    let mut found: Vec<(Promise, Step)> = baselines
        .filter_map(|baseline| {
            let tool = tool_access::tool_of(view, baseline)?;
            let promise = Promise::of(tool).filter(|_| tool_access::may_be_called(view, tool))?;
            Some((promise, baseline.step.clone()))
        })
        .collect();
    found.sort_by_key(|(promise, _)| *promise as u8);
    found.truncate(2 * MAX_TOOLS);
    found
}

/// A call, and what the watcher returned twice before it and twice after it.
struct Seen<'t> {
    /// The index of its step.
    at: usize,
    tool: &'t str,
    watcher: &'t str,
    made: &'t Exchange,
    before: [&'t Exchange; 2],
    after: [&'t Exchange; 2],
}

impl Seen<'_> {
    /// Whether the watcher answered every time and returned the same both times before, and both times after.
    fn is_steady(&self) -> bool {
        let works = |exchange: &&&Exchange| tool_access::succeeds(&exchange.outcome);
        let same = |[one, two]: [&Exchange; 2]| {
            timeless(&one.outcome.said()) == timeless(&two.outcome.said())
        };
        self.before.iter().chain(&self.after).filter(works).count() == 4
            && same(self.before)
            && same(self.after)
    }

    fn changed(&self) -> bool {
        let text = |exchange: &Exchange| timeless(&exchange.outcome.said());
        self.is_steady() && text(self.before[1]) != text(self.after[0])
    }

    /// A value that is gone after the call; none if new values appeared instead.
    fn gone(&self) -> Option<String> {
        let [before, after] = match [self.before[1], self.after[0]].map(values) {
            [before, _] if before.is_empty() => [self.before[1], self.after[0]].map(lines),
            both => both,
        };
        let lost = before.difference(&after).next()?;
        (self.is_steady() && after.is_subset(&before)).then(|| lost.clone())
    }
}

/// The completed calls of an attempt, in order.
fn calls(tried: &Tried) -> Vec<Seen<'_>> {
    let steps = tried.attempt.action.steps();
    let tool = |at: usize| match steps.get(at) {
        Some(Step::Call(call)) => call.tool.as_str(),
        _ => "",
    };
    let exchanges = &tried.evidence.exchanges;
    let of_call = |at: usize| {
        let look = |from: usize| [&exchanges[from], &exchanges[from + 1]];
        let (before, after) = (look(at - 2), look(at + 1));
        Seen { at, tool: tool(at), watcher: tool(0), made: &exchanges[at], before, after }
    };
    (2..exchanges.len().saturating_sub(2)).step_by(3).map(of_call).collect()
}

/// A file that changed during this call, and whether it was deleted. A file that also changes during calls of
/// other tools does not count.
fn file<'t>(tried: &'t Tried, calls: &[Seen<'_>], call: &Seen<'_>) -> Option<(&'t Path, bool)> {
    let changes = || {
        tried.evidence.observations.iter().filter_map(|one| match one {
            Observation::Changed { path, step, gone } => Some((path.as_path(), *step, *gone)),
            _ => None,
        })
    };
    let own = |step: usize| calls.iter().any(|one| one.at == step && one.tool == call.tool);
    let alone = |path: &Path| changes().all(|(other, step, _)| other != path || own(step));
    let mut mine = changes().filter(|(path, step, _)| *step == call.at && alone(path));
    mine.next().map(|(path, _, gone)| (path, gone))
}

fn ping(server: &str) -> Step {
    let server = Some(server.to_owned()).filter(|server| !server.is_empty());
    Step::Request { method: "ping".to_owned(), params: Map::new(), server }
}

/// The values of a response, to find out which are gone.
fn values(exchange: &Exchange) -> BTreeSet<String> {
    let text = |learned: Learned| timeless(&format!("{}={}", learned.name, learned.value));
    harvest(exchange, "", 0).into_iter().map(text).collect()
}

fn lines(exchange: &Exchange) -> BTreeSet<String> {
    exchange.outcome.said().lines().map(|line| timeless(line.trim())).collect()
}

/// A text without timestamps, which change by themselves.
fn timeless(text: &str) -> String {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d\b|\b1[6-9]\d{8}(?:\.\d+|\d{3})?\b").ok()
    });
    match &*TIME {
        Some(time) => time.replace_all(text, "·").into_owned(),
        None => text.to_owned(),
    }
}

fn judge(trial: &Trial<'_>, tried: &Tried) -> Vec<Hit> {
    let server = trial.aim.place.server();
    let calls = calls(tried);
    let mut hits = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let Some(promise) = trial.view.tool(server, call.tool).and_then(Promise::of) else {
            continue;
        };
        let again = calls.get(at + 1).filter(|next| next.tool == call.tool);
        let file = file(tried, &calls, call);
        let gone = file.filter(|(_, gone)| *gone);
        let hit = match promise {
            Promise::ReadOnly => read_only(call).or_else(|| writes(call, file?.0)),
            Promise::NotDestructive => not_destructive(call).or_else(|| removes(call, gone?.0)),
            Promise::Idempotent => again.and_then(|again| idempotent(call, again)),
        };
        let place = Place::Tool { server: server.to_owned(), tool: call.tool.to_owned() };
        hits.extend(hit.map(|hit| hit.by(tried).at(place)));
    }
    hits
}

fn read_only(call: &Seen<'_>) -> Option<Hit> {
    let title = format!("`{}` changes data despite `readOnlyHint: true`", call.tool);
    let what = format!(
        "`{}` returned the same twice before the call, and something else twice after it",
        call.watcher
    );
    let hit = Hit::confirmed(title, what).severity(Severity::High).fault("read-only");
    call.changed().then_some(hit)
}

fn writes(call: &Seen<'_>, file: &Path) -> Option<Hit> {
    let title = format!("`{}` changes files despite `readOnlyHint: true`", call.tool);
    let what = format!("{} changed during the call, and during no other call", file.display());
    let hit = Hit::confirmed(title, what).fault("read-only");
    tool_access::succeeds(&call.made.outcome).then_some(hit)
}

fn removes(call: &Seen<'_>, file: &Path) -> Option<Hit> {
    let title = format!("`{}` deletes a file despite `destructiveHint: false`", call.tool);
    let what = format!("{} was deleted during the call", file.display());
    let hit = Hit::confirmed(title, what).severity(Severity::High).fault("destructive");
    tool_access::succeeds(&call.made.outcome).then_some(hit)
}

fn not_destructive(call: &Seen<'_>) -> Option<Hit> {
    let title = format!("`{}` deletes data despite `destructiveHint: false`", call.tool);
    let lost: String = call.gone()?.chars().take(120).collect();
    let what = format!("`{}` returned “{lost}” before the call, but not after it", call.watcher);
    Some(Hit::confirmed(title, what).severity(Severity::High).fault("destructive"))
}

fn idempotent(call: &Seen<'_>, again: &Seen<'_>) -> Option<Hit> {
    let title = format!(
        "`{}` changes data again on a second call despite `idempotentHint: true`",
        call.tool
    );
    let what = format!("`{}` returned another change after the second call", call.watcher);
    let hit = Hit::confirmed(title, what).severity(Severity::Low).fault("idempotent");
    (call.changed() && again.changed()).then_some(hit)
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use serde_json::{Value, json};

    use super::*;
    use crate::attacks::testing::{TestTarget, answers};

    fn room(hints: Value) -> TestTarget {
        let mut room = TestTarget::of_tools(&[
            json!({"name": "list_cache"}),
            json!({"name": "tidy_cache", "annotations": hints}),
        ]);
        room.works("list_cache", Map::new(), &answers("a\nb\nc"));
        room.works("tidy_cache", Map::new(), &answers("ok"));
        room
    }

    /// What the list returns before and after each call, each twice.
    fn looks(shown: &'static [&'static str]) -> impl Fn(&Attempt) -> Evidence {
        move |_| {
            let mut all = Evidence::default();
            for (at, text) in shown.iter().enumerate() {
                if at > 0 && at % 2 == 0 {
                    all.exchanges.extend(answers("ok").exchanges);
                }
                all.exchanges.extend(answers(text).exchanges);
            }
            all
        }
    }

    fn faults(hints: Value, shown: &'static [&'static str]) -> Vec<&'static str> {
        let hits = room(hints).run_attack(&ExcessiveAgency, looks(shown));
        hits.iter().map(|hit| hit.fault).collect()
    }

    #[test]
    fn a_change_by_a_reading_tool_is_proof() {
        let hints = json!({"readOnlyHint": true});
        assert_eq!(faults(hints.clone(), &["a b", "a b", "a", "a"]), ["read-only"]);
        assert!(faults(hints.clone(), &["a b"; 4]).is_empty());
        assert!(faults(hints.clone(), &["1", "2", "3", "4"]).is_empty(), "counts by itself");
        assert!(faults(hints.clone(), &["a b", "a b", "a"]).is_empty(), "cut short");
        let times = &[
            "at 2025-01-01T10:00:00Z",
            "at 2025-01-01T10:00:00Z",
            "at 2025-01-01T10:00:02Z",
            "at 2025-01-01T10:00:02Z",
        ];
        assert!(faults(hints, times).is_empty());
    }

    #[test]
    fn something_gone_is_destruction() {
        let hints = json!({"destructiveHint": false});
        let hits = faults(hints.clone(), &["a\nb\nc", "a\nb\nc", "a\nb", "a\nb"]);
        assert_eq!(hits, ["destructive"]);
        assert!(faults(hints.clone(), &["a\nb", "a\nb", "a\nb\nc", "a\nb\nc"]).is_empty());
        assert!(faults(hints, &["n: 1", "n: 1", "n: 2", "n: 2"]).is_empty());
    }

    #[test]
    fn an_emptied_list_is_destruction() {
        let hints = json!({"destructiveHint": false});
        let (full, empty) = (r#"{"files": ["a.tmp", "b.tmp"]}"#, r#"{"files": []}"#);
        let shown = vec![full, full, empty, empty].leak();
        assert_eq!(faults(hints, shown), ["destructive"]);
    }

    #[test]
    fn another_change_by_the_same_call_is_not_idempotent() {
        let hints = json!({"idempotentHint": true, "destructiveHint": true, "readOnlyHint": false});
        let mut room = room(hints);
        room.capabilities.destructive = true;
        let run_attack = |shown| room.run_attack(&ExcessiveAgency, looks(shown)).len();
        assert_eq!(run_attack(&["9", "9", "8", "8", "7", "7"]), 1);
        assert_eq!(run_attack(&["9", "9", "8", "8", "8", "8"]), 0);
    }

    #[test]
    fn a_file_that_changes_with_one_tool_only_is_its_work() {
        let room = room(json!({"readOnlyHint": true}));
        let faults = |changes: &[(&str, usize, bool)]| {
            let hits = room.run_attack(&ExcessiveAgency, |attempt| {
                let mut evidence = looks(&["a"; 4])(attempt);
                evidence.observations = changes
                    .iter()
                    .map(|(path, step, gone)| {
                        let (path, step, gone) = (path.into(), *step, *gone);
                        Observation::Changed { path, step, gone }
                    })
                    .collect();
                evidence
            });
            hits.len()
        };
        assert_eq!(faults(&[("/r/usage", 2, false)]), 1);
        assert_eq!(faults(&[("/r/usage", 2, true)]), 1);
        assert_eq!(faults(&[("/r/usage", 3, false)]), 0, "the watcher's");
        let log = [("/r/log", 0, false), ("/r/log", 2, false)];
        assert_eq!(faults(&log), 0, "every call is logged");
    }

    #[test]
    fn without_claims_or_watchers_there_is_nothing_to_prove() {
        assert!(ExcessiveAgency.aims(&room(json!({})).view()).is_empty());
        let mut alone =
            TestTarget::of_tools(&[json!({"name": "x", "annotations": {"readOnlyHint": true}})]);
        alone.works("x", Map::new(), &answers("ok"));
        assert!(alone.run_attack(&ExcessiveAgency, |_| answers("x")).is_empty());
    }
}
