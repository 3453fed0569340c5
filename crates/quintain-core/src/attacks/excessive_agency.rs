//! Annotations that promise less than a tool does.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::nature;
use crate::attack::{Action, Aim, Attack, Attempt, Bout, Brief, Facts, Field, Hit, Tried};
use crate::evidence::{Exchange, Observation};
use crate::finding::{Place, Severity};
use crate::knowledge::harvest;
use crate::registry::Meta;
use crate::surface::Tool;

pub(super) struct ExcessiveAgency;

static META: Meta = Meta {
    id: "excessive-agency",
    aliases: &["annotation-lie", "mcp:excessive-agency"],
    summary: "A tool does more than its annotations say",
    docs: "\
# What it does
Looks at the state of a server through its reading tools, calls a tool that claims to be harmless, and looks again: `readOnlyHint: true`
and something changed, `destructiveHint: false` and something is gone, `idempotentHint: true` and a second call changed something again.
All of it happens in a session of its own.

# Why it matters
Clients ask their user before a call that destroys, and not before one that only reads. They know it from these claims.

# What counts as proof
What a reading tool shows was the same twice before the call, another one after it, and the same twice again; or a file of the canary
ground changed with the mark of the call. What changes by itself is not looked at, times do not count.

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

static FACTS: Facts = Facts {
    severity: Severity::Medium,
    cwe: &[451],
    frameworks: &["LLM06", "ASI02", "ASI09", "MCP02"],
    needs: &[],
};

const MAX_AIMS: usize = 16;
const WATCHERS: usize = 3;

impl Attack for ExcessiveAgency {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn aims(&self, field: &Field<'_>) -> Vec<Aim> {
        let mut aims = Vec::new();
        for baseline in &field.knowledge.baselines {
            let Some(tool) = nature::tool_of(field, baseline) else { continue };
            if nature::may_be_called(field, tool) && Promise::of(tool).is_some() {
                let name = tool.name().unwrap_or_default().to_owned();
                let place = Place::Tool { server: baseline.server.clone(), tool: name };
                aims.push(nature::aim(place, Some(baseline)));
            }
        }
        aims.truncate(MAX_AIMS);
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let (Some(field), Some(baseline)) = (brief.field, &aim.baseline) else {
            return Vec::new();
        };
        let tool = aim.place.tool().unwrap_or_default();
        let watchers = nature::watchers(field, aim.place.server(), tool, WATCHERS);
        if watchers.is_empty() {
            return Vec::new();
        }
        // Look twice, call, look twice, call, look.
        let mut steps = Vec::new();
        for looks in [2, 2, 1] {
            (0..looks).for_each(|_| steps.extend(watchers.iter().cloned()));
            if looks == 2 {
                steps.push(baseline.step.clone());
            }
        }
        vec![Attempt {
            form: "state before and after".to_owned(),
            set: 0,
            role: watchers.len().to_string(),
            action: Action::Alone { steps, identity: 0 },
            nonce: brief.nonce(),
            payload: None,
        }]
    }

    fn detect(&self, bout: &Bout<'_>) -> Vec<Hit> {
        bout.tried.iter().filter_map(|tried| judge(bout, tried)).collect()
    }
}

/// What a tool claims; the strongest claim.
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

/// What one watcher showed: twice before, twice after the first call, once after the second.
struct Seen<'t>([&'t Exchange; 5]);

impl Seen<'_> {
    fn text(&self, at: usize) -> String {
        timeless(&self.0[at].outcome.said())
    }

    /// Whether it was steady, and another one after the first call.
    fn changed(&self) -> bool {
        self.steady() && self.text(1) != self.text(2)
    }

    fn steady(&self) -> bool {
        self.text(0) == self.text(1) && self.text(2) == self.text(3)
    }

    /// What was there before the first call and is gone for good.
    fn gone(&self) -> Option<String> {
        let (before, after) = (entries(self.0[1]), entries(self.0[2]));
        let lost = before.difference(&after).next()?;
        (self.steady() && after.len() < before.len() && after.is_subset(&before))
            .then(|| lost.clone())
    }

    fn changed_again(&self) -> bool {
        self.steady() && self.text(3) != self.text(4)
    }
}

fn seen(tried: &Tried) -> Vec<Seen<'_>> {
    let exchanges = &tried.evidence.exchanges;
    let Ok(count) = tried.attempt.role.parse::<usize>() else { return Vec::new() };
    if exchanges.len() != count * 5 + 2 {
        return Vec::new();
    }
    let at = |look: usize, watcher: usize| {
        // A call stands behind the second look and behind the fourth.
        &exchanges[look * count + watcher + usize::from(look >= 2) + usize::from(look >= 4)]
    };
    let all = (0..count).map(|watcher| Seen([0, 1, 2, 3, 4].map(|look| at(look, watcher))));
    all.filter(|seen| seen.0.iter().all(|exchange| nature::succeeds(&exchange.outcome))).collect()
}

/// Lines and values of an answer, for telling what is gone.
fn entries(exchange: &Exchange) -> BTreeSet<String> {
    let values = harvest(exchange, "", 0);
    if values.is_empty() {
        return exchange.outcome.said().lines().map(|line| timeless(line.trim())).collect();
    }
    values
        .into_iter()
        .map(|learned| timeless(&format!("{}={}", learned.name, learned.value)))
        .collect()
}

/// A text without its times, which change by themselves.
fn timeless(text: &str) -> String {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d\b|\b1[6-9]\d{8}(?:\.\d+|\d{3})?\b").ok()
    });
    match &*TIME {
        Some(time) => time.replace_all(text, "·").into_owned(),
        None => text.to_owned(),
    }
}

fn judge(bout: &Bout<'_>, tried: &Tried) -> Option<Hit> {
    let place = &bout.aim.place;
    let tool = bout.field.tool(place.server(), place.tool()?)?;
    let promise = Promise::of(tool)?;
    let nonce = tried.attempt.nonce.as_str();
    let written = tried.evidence.observations.iter().find_map(|observation| match observation {
        Observation::File { path, content } if content.contains(nonce) => Some(path.display()),
        _ => None,
    });
    let seen = seen(tried);
    let tell = |at: usize| {
        let name = |exchange: &Exchange| {
            exchange
                .sent
                .get("name")
                .and_then(serde_json::Value::as_str)
                .unwrap_or("a reading tool")
                .to_owned()
        };
        seen.get(at).map(|one| name(one.0[0])).unwrap_or_default()
    };
    let hit = match promise {
        Promise::ReadOnly => {
            let title = format!("{place} says readOnlyHint and changes something");
            if let Some(path) = written {
                Hit::confirmed(title, format!("the file {path} changed"))
            } else {
                let at = seen.iter().position(Seen::changed)?;
                let what = format!(
                    "{} showed the same twice before the call, and something else after it",
                    tell(at)
                );
                Hit::confirmed(title, what)
            }
            .severity(Severity::High)
            .fault("read-only")
        }
        Promise::NotDestructive => {
            let (at, lost) =
                seen.iter().enumerate().find_map(|(at, one)| Some((at, one.gone()?)))?;
            let title = format!("{place} says that it does not destroy, and something is gone");
            let lost: String = lost.chars().take(120).collect();
            let what =
                format!("{} showed “{lost}” before the call, and no longer after it", tell(at));
            Hit::confirmed(title, what).severity(Severity::High).fault("destructive")
        }
        Promise::Idempotent => {
            let at = seen.iter().position(|one| one.changed() && one.changed_again())?;
            let title =
                format!("{place} says idempotentHint and does more when it is called again");
            let what = format!("{} showed another change after the second call", tell(at));
            Hit::confirmed(title, what).severity(Severity::Low).fault("idempotent")
        }
    };
    Some(hit.by(tried))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::testing::{Room, answers};
    use crate::evidence::Evidence;
    use serde_json::{Map, Value, json};

    fn room(hints: Value) -> Room {
        let mut room = Room::of_tools(&[
            json!({"name": "list_cache"}),
            json!({"name": "tidy_cache", "annotations": hints}),
        ]);
        room.works("list_cache", Map::new(), &answers("a\nb\nc"));
        room.works("tidy_cache", Map::new(), &answers("ok"));
        room
    }

    /// What the list shows at each of five looks, with the call between them.
    fn looks(shown: [&str; 5]) -> impl Fn(&Attempt) -> Evidence {
        move |_| {
            let mut all = Evidence::default();
            for (at, text) in shown.iter().enumerate() {
                if at == 2 || at == 4 {
                    all.exchanges.extend(answers("ok").exchanges);
                }
                all.exchanges.extend(answers(text).exchanges);
            }
            all
        }
    }

    fn faults(hints: Value, shown: [&str; 5]) -> Vec<&'static str> {
        room(hints).fight(&ExcessiveAgency, looks(shown)).iter().map(|hit| hit.fault).collect()
    }

    #[test]
    fn a_change_by_a_reading_tool_is_proof() {
        let hints = json!({"readOnlyHint": true});
        assert_eq!(faults(hints.clone(), ["a b", "a b", "a", "a", "a"]), ["read-only"]);
        assert!(faults(hints.clone(), ["a b"; 5]).is_empty());
        assert!(faults(hints.clone(), ["1", "2", "3", "4", "5"]).is_empty(), "counts by itself");
        let times = [
            "at 2025-01-01T10:00:00Z",
            "at 2025-01-01T10:00:01Z",
            "at 2025-01-01T10:00:02Z",
            "at 2025-01-01T10:00:03Z",
            "at 2025-01-01T10:00:04Z",
        ];
        assert!(faults(hints, times).is_empty());
    }

    #[test]
    fn something_gone_is_destruction() {
        let hints = json!({"destructiveHint": false});
        assert_eq!(
            faults(hints.clone(), ["a\nb\nc", "a\nb\nc", "a\nb", "a\nb", "a\nb"]),
            ["destructive"]
        );
        assert!(
            faults(hints.clone(), ["a\nb", "a\nb", "a\nb\nc", "a\nb\nc", "a\nb\nc"]).is_empty()
        );
        assert!(faults(hints, ["n: 1", "n: 1", "n: 2", "n: 2", "n: 2"]).is_empty());
    }

    #[test]
    fn another_change_by_the_same_call_is_not_idempotent() {
        let hints = json!({"idempotentHint": true, "destructiveHint": true, "readOnlyHint": false});
        let mut room = room(hints);
        room.powers.destructive = true;
        let fight = |shown| room.fight(&ExcessiveAgency, looks(shown)).len();
        assert_eq!(fight(["9", "9", "8", "8", "7"]), 1);
        assert_eq!(fight(["9", "9", "8", "8", "8"]), 0);
    }

    #[test]
    fn without_claims_or_watchers_there_is_nothing_to_prove() {
        assert!(ExcessiveAgency.aims(&room(json!({})).field()).is_empty());
        let mut alone =
            Room::of_tools(&[json!({"name": "x", "annotations": {"readOnlyHint": true}})]);
        alone.works("x", Map::new(), &answers("ok"));
        assert!(alone.fight(&ExcessiveAgency, |_| answers("x")).is_empty());
    }
}
