//! Objects of one identity that another identity can read or change (broken object level authorization).

mod judge;
mod marks;
mod seen_values;

use std::collections::BTreeSet;

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::probe::Step;
use quintain_evidence::weakness::Weakness;
use serde_json::Value;

use self::seen_values::{seen_only_by, text_of};
use super::{reach, tool_access};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, Kind, Nonce, TargetView, Trial};
use crate::knowledge::{Learned, put, words};

pub(super) struct Bola;

static META: Meta = Meta {
    id: "bola",
    aliases: &["idor", "broken-object-level-authorization"],
    summary: "An identity can read or change objects that belong to another identity",
    docs: "\
# What it does
Collects ids that only one identity has seen and requests them as another identity: in arguments, in a list after one of its own ids, and
in variables of resource templates. Where the owner can store a random word in an object, the other identity looks for that word. After a
call of a tool that changes data, the owner checks what it sees. Two identities call in turn the tools and resources that return the
caller's own data. With a single identity, the attack requests ids adjacent to known ones.

# Why it matters
Anyone who can guess or learn an id can read and change the data of other users.

# What counts as proof
The other identity gets data that only the owner had seen, that the owner stored, or that names the owner; or the owner sees a change that
the other identity made. An id that the other identity finds in its own list is not secret. The same data for an id that does not exist,
or a text that repeats the id, proves nothing. Findings for adjacent ids are never more than suspected.

# Example
```yaml
redteam:
  plugins: [bola]
  identities:
    - {name: alice, headers: {Authorization: Bearer token-of-alice}}
    - {name: bob, headers: {Authorization: Bearer token-of-bob}}
```

# References
- CWE-639, OWASP API1, OWASP MCP07
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[639],
    frameworks: &["API1", "MCP07", "MCP02", "ASI03", "LLM02"],
};

/// The maximum number of places, and of ids to try at each.
const MAX_AIMS: usize = 40;
const MAX_IDS: usize = 2;
/// The maximum number of other tools that the owner calls before asking for its own data.
const MAX_USED: usize = 6;
/// The maximum number of calls with which the owner looks for changes.
const MAX_LOOKS: usize = 5;
/// Words of arguments that name a recipient. Naming another user there is their purpose.
const RECIPIENTS: [&str; 12] = [
    "recipient",
    "recipients",
    "receiver",
    "receives",
    "receive",
    "payee",
    "beneficiary",
    "assignee",
    "addressee",
    "invitee",
    "mention",
    "mentions",
];
/// Owner and other identity, by position.
const PAIRS: [(usize, usize); 2] = [(0, 1), (1, 2)];

impl Attack for Bola {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn falls_back(&self, view: &TargetView<'_>) -> Option<&'static str> {
        (view.capabilities.identities.len() < 2).then_some(
            "needs two identities (`redteam.identities`); with one, only ids adjacent to known ones are \
             tried, and findings are never more than suspected",
        )
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims: Vec<Aim> = view
            .knowledge
            .aims
            .iter()
            .filter(|aim| is_of_objects(view, aim))
            .take(MAX_AIMS)
            .cloned()
            .collect();
        if view.capabilities.identities.len() > 1 {
            aims.extend(personal(view));
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(view) = brief.view else { return Vec::new() };
        if matches!(aim.place, Place::Tool { .. } | Place::Resource { .. }) {
            return ask_in_turn(view, aim, brief);
        }
        if brief.identities < 2 {
            return ask_neighbours(view, aim, brief);
        }
        let mut attempts = Vec::new();
        for (owner, other) in PAIRS.into_iter().filter(|(_, other)| *other < brief.identities) {
            for id in secret_ids(view, aim, owner, other).into_iter().take(MAX_IDS) {
                let set = attempts.last().map_or(0, |last: &Attempt| last.set + 1);
                attempts.extend(ask_as(view, aim, brief, set, (owner, other), id));
            }
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial.sets().filter_map(|(_, tried)| judge::judge(trial, &tried)).collect()
    }
}

/// Whether a place takes ids of objects that may have an owner.
fn is_of_objects(view: &TargetView<'_>, aim: &Aim) -> bool {
    let known = aim.is(Kind::Id)
        || aim.is(Kind::Name)
        // Only texts: that a number occurs elsewhere does not make it an id.
        || value_at(aim).filter(Value::is_string).is_some_and(|value| {
            view.knowledge.values.iter().any(|learned| learned.value == value)
        });
    let open = match &aim.place {
        Place::Argument { server, tool, .. } => view.tool(server, tool).is_some_and(|tool| {
            tool_access::may_be_called(view, tool) && !tool_access::is_public(tool)
        }),
        Place::Variable { .. } => true,
        _ => false,
    };
    known && open && !is_choice(&aim.schema) && !is_recipient(aim)
}

/// Whether the schema lists the values: such values have no owner.
fn is_choice(schema: &Value) -> bool {
    ["enum", "const"].into_iter().any(|key| schema.get(key).is_some())
}

fn is_recipient(aim: &Aim) -> bool {
    let description = aim.schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let told = words(&aim.place.argument().unwrap_or_default()).into_iter();
    told.chain(words(description)).any(|word| RECIPIENTS.contains(&word.as_str()))
}

/// The value at a place in the call that works.
fn value_at(aim: &Aim) -> Option<Value> {
    let Place::Argument { pointer, .. } = &aim.place else { return None };
    let args = Value::Object(tool_access::arguments(aim.baseline.as_ref()?));
    args.pointer(pointer).cloned()
}

/// Tools and resources that return the data of the caller.
fn personal(view: &TargetView<'_>) -> Vec<Aim> {
    let mut aims = Vec::new();
    for (server, _) in view.surfaces {
        for baseline in tool_access::readers(view, server) {
            let tool = tool_access::tool_of(view, baseline);
            let Some(tool) = tool.filter(|tool| tool_access::is_personal_tool(tool)) else {
                continue;
            };
            let tool = tool.name().unwrap_or_default().to_owned();
            aims.push(tool_access::aim(
                Place::Tool { server: server.clone(), tool },
                Some(baseline),
            ));
        }
    }
    for (server, surface) in view.surfaces {
        for resource in &surface.resources {
            let description = resource.description().unwrap_or_default();
            if let Some(uri) =
                resource.uri().filter(|uri| tool_access::is_personal(uri, description))
            {
                let place = Place::Resource { server: server.clone(), uri: uri.to_owned() };
                aims.push(Aim::at(place));
            }
        }
    }
    aims.truncate(MAX_AIMS);
    aims
}

/// The owner uses the server and asks, then the other identity asks.
fn ask_in_turn(view: &TargetView<'_>, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
    let Some(step) = super::leaks::step(aim) else { return Vec::new() };
    let tool = aim.place.tool().unwrap_or_default();
    let mut used = tool_access::watchers(view, aim.place.server(), tool, MAX_USED);
    used.push(step.clone());
    let mut attempts = Vec::new();
    let pairs = PAIRS.into_iter().filter(|(_, other)| *other < brief.identities);
    for (set, (owner, other)) in pairs.enumerate() {
        for (who, role, steps) in
            [(owner, "owner", used.clone()), (other, "other", vec![step.clone()])]
        {
            let form = (set, "called after the owner", role);
            attempts.push(reach::plain(steps, who, form, brief.nonce()));
        }
    }
    attempts
}

/// Ids of the owner that fit a place, the most likely first.
fn secret_ids<'k>(
    view: &'k TargetView<'_>,
    aim: &Aim,
    owner: usize,
    other: usize,
) -> Vec<&'k Learned> {
    // A value that a call returned without naming its id certainly belongs to the caller.
    let broadly = seen_only_by(view, owner, other, true);
    let told = broadly.into_iter().chain(seen_only_by(view, owner, other, false));
    let current = value_at(aim);
    // Keys under which responses contained the value that works here.
    let keys: Vec<&str> = view
        .knowledge
        .values
        .iter()
        .filter(|learned| current.as_ref() == Some(&learned.value))
        .map(|learned| learned.name.as_str())
        .collect();
    let wanted = aim.place.argument().map(|name| words(&name)).unwrap_or_default();
    // `notes://{name}`: the scheme of a template says as much as the name of its variable.
    let about = match &aim.place {
        Place::Variable { template, .. } => {
            words(template.split('{').next().unwrap_or_default()).into_iter().next_back()
        }
        _ => None,
    };
    let last = wanted.iter().rev().find(|word| word.parse::<u32>().is_err());
    let rank = |learned: &Learned| -> Option<u8> {
        let same_type = current.as_ref().is_none_or(|value| {
            std::mem::discriminant(value) == std::mem::discriminant(&learned.value)
        });
        let name = words(&learned.name);
        let fits = last.into_iter().chain(&about).any(|wanted| {
            let bare = wanted.trim_end_matches('s');
            name.last().is_some_and(|word| word.trim_end_matches('s') == bare)
        });
        match () {
            () if !same_type || !is_telling(&learned.value) => None,
            () if Some(&learned.value) == current.as_ref() => Some(2),
            () if keys.contains(&learned.name.as_str()) => Some(0),
            () if name == wanted => Some(0),
            () if fits => Some(1),
            () => None,
        }
    };
    // An id with the format of the one that works here is the most likely.
    let shape = current.as_ref().map(shape);
    let unlike =
        |learned: &Learned| shape.as_ref().is_some_and(|one| *one != self::shape(&learned.value));
    let mut ids: Vec<((bool, u8), &Learned)> =
        told.filter_map(|learned| Some(((unlike(learned), rank(learned)?), learned))).collect();
    ids.sort_by_key(|(rank, _)| *rank);
    let mut seen = BTreeSet::new();
    ids.retain(|(_, learned)| seen.insert(text_of(&learned.value)));
    ids.into_iter().map(|(_, learned)| learned).collect()
}

/// The format of an id: every digit becomes `0`.
fn shape(id: &Value) -> String {
    text_of(id).chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect()
}

/// Excludes short words such as currencies, which are not ids.
fn is_telling(id: &Value) -> bool {
    id.as_str().is_none_or(|text| text.len() >= 4 || text.contains(|c: char| c.is_ascii_digit()))
}

/// An id of the same format that does not exist.
fn nobodys(id: &Value, number: u64) -> Value {
    match id {
        Value::String(text) => {
            let digits: Vec<char> = number.to_string().chars().rev().collect();
            let mut at = 0;
            let mut next = || {
                at += 1;
                digits[at % digits.len()]
            };
            let changed: String =
                text.chars().map(|c| if c.is_ascii_digit() { next() } else { c }).collect();
            // With few digits, a changed id may exist.
            let few = text.chars().filter(char::is_ascii_digit).count() < 3;
            Value::from(if few || changed == *text { format!("{text}{number}") } else { changed })
        }
        _ => Value::from(number * 1_000 + 7),
    }
}

fn ask_as(
    view: &TargetView<'_>,
    aim: &Aim,
    brief: &Brief<'_>,
    set: usize,
    (owner, other): (usize, usize),
    id: &Learned,
) -> Vec<Attempt> {
    let server = aim.place.server();
    let lister = view.knowledge.baseline(server, &id.tool).map(|known| known.step.clone());
    let tool = aim.place.tool().and_then(|tool| view.tool(server, tool));
    let changes = tool.is_some_and(tool_access::is_writer);
    let word = brief.nonce();
    let form = if changes { "changed by id" } else { "read by id" };
    let mut attempts = Vec::new();
    let mut add = |steps: Vec<Step>, who: usize, role: &str, value: Option<&Value>, form: &str| {
        if !steps.is_empty() {
            let attempt = reach::plain(steps, who, (set, form, role), word.clone());
            attempts.push(Attempt { payload: value.cloned(), ..attempt });
        }
    };
    let ask = |value: &Value| {
        let step = reach::step(aim, value.clone())?;
        Some(if changes { worded(view, step, server, &word) } else { step })
    };
    // The other identity may get the same list.
    add(lister.clone().into_iter().collect(), other, "list", None, form);
    let looks = || {
        let by_id = by_id(view, aim, &id.value, tool_access::is_reader);
        let watchers = tool_access::watchers(view, server, aim.place.tool().unwrap_or_default(), 3);
        let looks = by_id.into_iter().chain(lister.clone()).chain(watchers);
        looks.take(MAX_LOOKS).collect::<Vec<_>>()
    };
    if changes {
        // Twice, since data that changes by itself proves nothing.
        add(looks(), owner, "before", None, form);
        add(looks(), owner, "before", None, form);
    } else {
        let left = by_id(view, aim, &id.value, tool_access::is_writer).into_iter();
        let left = left.map(|step| worded(view, step, server, &word));
        let left: Vec<Step> = left.filter(|step| is_worded(step, &word)).take(1).collect();
        add(left, owner, "left", None, form);
        add(ask(&id.value).into_iter().collect(), owner, "owner", Some(&id.value), form);
    }
    let nobody = nobodys(&id.value, brief.number());
    add(ask(&nobody).into_iter().collect(), other, "nobody", Some(&nobody), form);
    add(ask(&id.value).into_iter().collect(), other, "other", Some(&id.value), form);
    // A server that checks only the first item of a list accepts the second.
    if let Some(step) = behind_own(view, aim, other, id) {
        add(
            vec![step],
            other,
            "other",
            Some(&id.value),
            &format!("{form}, after an id of the caller"),
        );
    }
    if changes {
        add(looks(), owner, "after", None, form);
    }
    attempts
}

/// Calls of other tools that take the same kind of id.
fn by_id(
    view: &TargetView<'_>,
    aim: &Aim,
    id: &Value,
    suits: impl Fn(&quintain_evidence::surface::Tool) -> bool,
) -> Vec<Step> {
    let wanted = aim.place.argument();
    let same = view.knowledge.aims.iter().filter(|known| {
        let tool = known.place.tool().and_then(|tool| view.tool(known.place.server(), tool));
        known.place.argument() == wanted
            && known.place.tool() != aim.place.tool()
            && known.place.server() == aim.place.server()
            && known.baseline.is_some()
            && tool.is_some_and(|tool| suits(tool) && tool_access::may_be_called(view, tool))
    });
    same.filter_map(|known| reach::step(known, id.clone())).collect()
}

/// A call with the random word in its text argument, if it has one.
fn worded(view: &TargetView<'_>, step: Step, server: &str, word: &Nonce) -> Step {
    let Step::Call(mut call) = step else { return step };
    let text = view.knowledge.aims.iter().find(|known| {
        known.kinds.first() == Some(&Kind::Text)
            && known.place.tool() == Some(call.tool.as_str())
            && known.place.server() == server
    });
    if let Some(Place::Argument { pointer, .. }) = text.map(|known| &known.place) {
        put(&mut call.args, pointer, Value::from(word.as_str()));
    }
    Step::Call(call)
}

fn is_worded(step: &Step, word: &Nonce) -> bool {
    serde_json::to_string(step).is_ok_and(|text| text.contains(word.as_str()))
}

/// A call with a list that contains an id of the caller, followed by the id of the owner.
fn behind_own(view: &TargetView<'_>, aim: &Aim, other: usize, id: &Learned) -> Option<Step> {
    let Place::Argument { pointer, .. } = &aim.place else { return None };
    let list = pointer.strip_suffix("/0")?;
    let own = view.knowledge.values.iter().find(|learned| {
        learned.identity == other && learned.name == id.name && learned.value != id.value
    })?;
    let Some(Step::Call(mut call)) = reach::step(aim, own.value.clone()) else { return None };
    put(&mut call.args, &format!("{list}/1"), id.value.clone());
    Some(Step::Call(call))
}

/// Tries ids adjacent to known ones that no response contained.
fn ask_neighbours(view: &TargetView<'_>, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
    let known: BTreeSet<String> =
        view.knowledge.values.iter().map(|learned| text_of(&learned.value)).collect();
    let Some(current) = value_at(aim).filter(|value| known.contains(&text_of(value))) else {
        return Vec::new();
    };
    let reads = aim.place.tool().and_then(|tool| view.tool(aim.place.server(), tool));
    if !reads.is_some_and(tool_access::is_reader) {
        return Vec::new();
    }
    let near = neighbours(&current).into_iter().filter(|id| !known.contains(&text_of(id)));
    let mut attempts = Vec::new();
    for (set, id) in near.take(MAX_IDS).enumerate() {
        let nobody = nobodys(&current, brief.number());
        for (role, value) in [("owner", &current), ("nobody", &nobody), ("neighbour", &id)] {
            let Some(step) = reach::step(aim, value.clone()) else { continue };
            let form = (set, "adjacent to a known id", role);
            let attempt = reach::plain(vec![step], 0, form, brief.nonce());
            attempts.push(Attempt { payload: Some(value.clone()), ..attempt });
        }
    }
    attempts
}

fn neighbours(id: &Value) -> Vec<Value> {
    match id {
        Value::Number(number) => {
            let Some(number) = number.as_i64() else { return Vec::new() };
            [number.saturating_add(1), number.saturating_sub(1)].map(Value::from).to_vec()
        }
        Value::String(text) => {
            let head = text.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = &text[head.len()..];
            // Long numbers are random, not sequential.
            let Some(number) = digits.parse::<i64>().ok().filter(|_| digits.len() <= 9) else {
                return Vec::new();
            };
            let made =
                |number: i64| Value::from(format!("{head}{number:0width$}", width = digits.len()));
            [number + 1, number - 1].into_iter().filter(|n| *n >= 0).map(made).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
