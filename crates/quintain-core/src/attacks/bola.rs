//! Objects of one identity in the hands of another one.

mod marks;

use std::collections::BTreeSet;

use serde_json::Value;

use self::marks::{marks, names};
use super::http::of_role;
use super::{nature, reach};
use crate::attack::{Aim, Attack, Attempt, Bout, Brief, Facts, Field, Hit, Kind, Tried};
use crate::evidence::Outcome;
use crate::finding::{Place, Severity};
use crate::knowledge::{Learned, put, words};
use crate::probe::Step;
use crate::registry::Meta;

pub(super) struct Bola;

static META: Meta = Meta {
    id: "bola",
    aliases: &["idor", "broken-object-level-authorization"],
    summary: "An object of one identity is given to another one, or changed by it",
    docs: "\
# What it does
Takes ids that only one identity was told, and asks for them as another identity: in arguments, behind an own id in a list, and in
variables of resource templates. Tools that change something are followed by a look at what the owner sees. Tools and resources that
show what belongs to the caller are asked by two identities in turn. With a single identity it asks for neighbours of known ids.

# Why it matters
Whoever can guess or learn an id reads and changes what belongs to others.

# What counts as proof
The other identity gets data that only the owner was shown before, or that names the owner; or the owner sees what the other one
changed. An id that the other one finds in a list of its own is no secret. The same data for an id that does not exist, or a text that
repeats the id, proves nothing. Neighbours of known ids are never more than suspected.

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

static FACTS: Facts = Facts {
    severity: Severity::High,
    cwe: &[639],
    frameworks: &["API1", "MCP07", "MCP02", "ASI03", "LLM02"],
    needs: &[],
};

/// So many places and so many ids at each.
const MAX_AIMS: usize = 16;
const MAX_IDS: usize = 2;
/// So many other tools are used before somebody asks for what is theirs.
const MAX_USED: usize = 6;
/// Owner and other, by position.
const PAIRS: [(usize, usize); 2] = [(0, 1), (1, 2)];

impl Attack for Bola {
    fn meta(&self) -> Meta {
        META
    }

    fn facts(&self) -> Facts<'static> {
        FACTS
    }

    fn aims(&self, field: &Field<'_>) -> Vec<Aim> {
        let mut aims: Vec<Aim> = field
            .knowledge
            .aims
            .iter()
            .filter(|aim| is_of_objects(field, aim))
            .take(MAX_AIMS)
            .cloned()
            .collect();
        if field.powers.identities.len() > 1 {
            aims.extend(personal(field));
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(field) = brief.field else { return Vec::new() };
        if matches!(aim.place, Place::Tool { .. } | Place::Resource { .. }) {
            return ask_in_turn(field, aim, brief);
        }
        if brief.identities < 2 {
            return ask_neighbours(field, aim, brief);
        }
        let mut attempts = Vec::new();
        for (owner, other) in PAIRS.into_iter().filter(|(_, other)| *other < brief.identities) {
            for id in secret_ids(field, aim, owner, other).into_iter().take(MAX_IDS) {
                let set = attempts.last().map_or(0, |last: &Attempt| last.set + 1);
                attempts.extend(ask_as(field, aim, brief, set, (owner, other), id));
            }
        }
        attempts
    }

    fn detect(&self, bout: &Bout<'_>) -> Vec<Hit> {
        bout.sets().filter_map(|(_, tried)| judge(bout, &tried)).collect()
    }
}

/// Whether a place takes ids of objects that may belong to somebody.
fn is_of_objects(field: &Field<'_>, aim: &Aim) -> bool {
    let known = aim.is(Kind::Id)
        || aim.is(Kind::Name)
        || value_at(aim).is_some_and(|value| {
            field.knowledge.values.iter().any(|learned| learned.value == value)
        });
    let open = match &aim.place {
        Place::Argument { server, tool, .. } => field
            .tool(server, tool)
            .is_some_and(|tool| nature::may_be_called(field, tool) && !nature::is_public(tool)),
        Place::Variable { .. } => true,
        _ => false,
    };
    known && open
}

/// What stands at a place in the call that works.
fn value_at(aim: &Aim) -> Option<Value> {
    let Place::Argument { pointer, .. } = &aim.place else { return None };
    let args = Value::Object(nature::arguments(aim.baseline.as_ref()?));
    args.pointer(pointer).cloned()
}

/// Tools and resources that show what belongs to whoever asks.
fn personal(field: &Field<'_>) -> Vec<Aim> {
    let mut aims = Vec::new();
    for (server, _) in field.surfaces {
        for baseline in nature::readers(field, server) {
            let tool = nature::tool_of(field, baseline);
            let Some(tool) = tool.filter(|tool| nature::is_personal_tool(tool)) else { continue };
            let tool = tool.name().unwrap_or_default().to_owned();
            aims.push(nature::aim(Place::Tool { server: server.clone(), tool }, Some(baseline)));
        }
    }
    for (server, surface) in field.surfaces {
        for resource in &surface.resources {
            let description = resource.description().unwrap_or_default();
            if let Some(uri) = resource.uri().filter(|uri| nature::is_personal(uri, description)) {
                let place = Place::Resource { server: server.clone(), uri: uri.to_owned() };
                aims.push(nature::aim(place, None));
            }
        }
    }
    aims.truncate(MAX_AIMS);
    aims
}

/// One uses the server and asks, then the other asks.
fn ask_in_turn(field: &Field<'_>, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
    let Some(step) = super::leaks::step(aim) else { return Vec::new() };
    let tool = aim.place.tool().unwrap_or_default();
    let mut used = nature::watchers(field, aim.place.server(), tool, MAX_USED);
    used.push(step.clone());
    let mut attempts = Vec::new();
    let pairs = PAIRS.into_iter().filter(|(_, other)| *other < brief.identities);
    for (set, (owner, other)) in pairs.enumerate() {
        for (who, role, steps) in
            [(owner, "owner", used.clone()), (other, "other", vec![step.clone()])]
        {
            let form = (set, "asked after the owner", role);
            attempts.push(reach::plain(steps, who, form, brief.nonce()));
        }
    }
    attempts
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Values that one identity was told and the other was not.
fn only_told<'k>(field: &'k Field<'_>, owner: usize, other: usize) -> Vec<&'k Learned> {
    let values = &field.knowledge.values;
    let of_other: BTreeSet<String> = values
        .iter()
        .filter(|learned| learned.identity == other)
        .map(|learned| text_of(&learned.value))
        .collect();
    let only = |learned: &&Learned| {
        learned.identity == owner && !of_other.contains(&text_of(&learned.value))
    };
    values.iter().filter(only).collect()
}

/// Ids of the owner that fit a place, the likeliest first.
fn secret_ids<'k>(field: &'k Field<'_>, aim: &Aim, owner: usize, other: usize) -> Vec<&'k Learned> {
    let told = only_told(field, owner, other);
    let current = value_at(aim);
    // Values that stood under the same key as the one that works here.
    let keys: Vec<&str> = field
        .knowledge
        .values
        .iter()
        .filter(|learned| current.as_ref() == Some(&learned.value))
        .map(|learned| learned.name.as_str())
        .collect();
    let wanted = aim.place.argument().map(|name| words(&name)).unwrap_or_default();
    let last = wanted.iter().rev().find(|word| word.parse::<u32>().is_err());
    let rank = |learned: &Learned| -> Option<u8> {
        let same_type = current.as_ref().is_none_or(|value| {
            std::mem::discriminant(value) == std::mem::discriminant(&learned.value)
        });
        let name = words(&learned.name);
        let fits = last.is_some_and(|last| {
            name.last().is_some_and(|word| word.trim_end_matches('s') == last.trim_end_matches('s'))
        });
        match () {
            () if !same_type => None,
            () if Some(&learned.value) == current.as_ref() => Some(2),
            () if keys.contains(&learned.name.as_str()) => Some(0),
            () if name == wanted => Some(0),
            () if fits => Some(1),
            () => None,
        }
    };
    let mut ids: Vec<(u8, &Learned)> =
        told.into_iter().filter_map(|learned| Some((rank(learned)?, learned))).collect();
    ids.sort_by_key(|(rank, _)| *rank);
    let mut seen = BTreeSet::new();
    ids.retain(|(_, learned)| seen.insert(text_of(&learned.value)));
    ids.into_iter().map(|(_, learned)| learned).collect()
}

/// An id of the same shape that belongs to nobody.
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
            // Few digits may hit somebody's by chance.
            let few = text.chars().filter(char::is_ascii_digit).count() < 3;
            Value::from(if few || changed == *text { format!("{text}{number}") } else { changed })
        }
        _ => Value::from(number * 1_000 + 7),
    }
}

fn ask_as(
    field: &Field<'_>,
    aim: &Aim,
    brief: &Brief<'_>,
    set: usize,
    (owner, other): (usize, usize),
    id: &Learned,
) -> Vec<Attempt> {
    let server = aim.place.server();
    let lister = field.knowledge.baseline(server, &id.tool).map(|known| known.step.clone());
    let tool = aim.place.tool().and_then(|tool| field.tool(server, tool));
    let changes = tool.is_some_and(nature::is_writer);
    let mut attempts = Vec::new();
    let mut add = |steps: Vec<Step>, who: usize, role: &str, value: Option<&Value>, form: &str| {
        if !steps.is_empty() {
            let attempt = reach::plain(steps, who, (set, form, role), brief.nonce());
            attempts.push(Attempt { payload: value.cloned(), ..attempt });
        }
    };
    let form = if changes { "changed by id" } else { "read by id" };
    // The other one may see the same list.
    add(lister.clone().into_iter().collect(), other, "list", None, form);
    let look = || {
        let watchers = nature::watchers(field, server, aim.place.tool().unwrap_or_default(), 3);
        lister.clone().into_iter().chain(watchers).take(3).collect::<Vec<_>>()
    };
    if changes {
        add(look(), owner, "before", None, form);
    } else {
        add(
            reach::step(aim, id.value.clone()).into_iter().collect(),
            owner,
            "owner",
            Some(&id.value),
            form,
        );
    }
    let nobody = nobodys(&id.value, brief.number());
    add(
        reach::step(aim, nobody.clone()).into_iter().collect(),
        other,
        "nobody",
        Some(&nobody),
        form,
    );
    let step = reach::step(aim, id.value.clone());
    add(step.into_iter().collect(), other, "other", Some(&id.value), form);
    // A check that looks at the first of a list lets the second pass.
    if let Some(step) = behind_own(field, aim, other, id) {
        add(vec![step], other, "other", Some(&id.value), &format!("{form}, behind an own id"));
    }
    if changes {
        add(look(), owner, "after", None, form);
    }
    attempts
}

/// A call whose list has an id of the caller before that of the owner.
fn behind_own(field: &Field<'_>, aim: &Aim, other: usize, id: &Learned) -> Option<Step> {
    let Place::Argument { pointer, .. } = &aim.place else { return None };
    let list = pointer.strip_suffix("/0")?;
    let own = field.knowledge.values.iter().find(|learned| {
        learned.identity == other && learned.name == id.name && learned.value != id.value
    })?;
    let Some(Step::Call(mut call)) = reach::step(aim, own.value.clone()) else { return None };
    put(&mut call.args, &format!("{list}/1"), id.value.clone());
    Some(Step::Call(call))
}

/// Ids next to known ones, which no answer has shown.
fn ask_neighbours(field: &Field<'_>, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
    let known: BTreeSet<String> =
        field.knowledge.values.iter().map(|learned| text_of(&learned.value)).collect();
    let Some(current) = value_at(aim).filter(|value| known.contains(&text_of(value))) else {
        return Vec::new();
    };
    let reads = aim.place.tool().and_then(|tool| field.tool(aim.place.server(), tool));
    if !reads.is_some_and(nature::is_reader) {
        return Vec::new();
    }
    let near = neighbours(&current).into_iter().filter(|id| !known.contains(&text_of(id)));
    let mut attempts = Vec::new();
    for (set, id) in near.take(MAX_IDS).enumerate() {
        let nobody = nobodys(&current, brief.number());
        for (role, value) in [("owner", &current), ("nobody", &nobody), ("neighbour", &id)] {
            let Some(step) = reach::step(aim, value.clone()) else { continue };
            let form = (set, "neighbour of a known id", role);
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
            // Long ones are random.
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

fn outcome(tried: &Tried) -> Option<&Outcome> {
    tried.last().map(|exchange| &exchange.outcome)
}

fn judge(bout: &Bout<'_>, tried: &[&Tried]) -> Option<Hit> {
    if let Some(neighbour) = of_role(tried, "neighbour") {
        return judge_neighbour(bout, tried, neighbour);
    }
    // Of several ways to ask, the last one that worked.
    let mut others = tried.iter().copied().filter(|one| one.attempt.role == "other").rev();
    let other = others.find(|one| outcome(one).is_some_and(nature::succeeds))?;
    if let Some(list) = of_role(tried, "list") {
        let id = text_of(other.attempt.payload.as_ref()?);
        if list.said().contains(&id) {
            return None;
        }
    }
    match (of_role(tried, "before"), of_role(tried, "after")) {
        (Some(before), Some(after)) => judge_change(bout, tried, (before, other, after)),
        _ if other.attempt.payload.is_none() => judge_in_turn(bout, tried, other),
        _ => judge_read(bout, tried, other),
    }
}

fn identity_of(tried: &Tried) -> usize {
    match &tried.attempt.action {
        crate::attack::Action::Steps { identity, .. } => *identity,
        _ => 0,
    }
}

fn name_of<'f>(field: &'f Field<'_>, identity: usize) -> &'f str {
    field.powers.identities.get(identity).map_or("", |known| known.name.as_str())
}

fn judge_read(bout: &Bout<'_>, tried: &[&Tried], other: &Tried) -> Option<Hit> {
    let owner = of_role(tried, "owner")?;
    let (id, own) = (text_of(other.attempt.payload.as_ref()?), outcome(owner)?);
    if !nature::succeeds(own) {
        return None;
    }
    let mut shared = marks(outcome(other)?, &id);
    let owned = marks(own, &id);
    shared.retain(|mark| owned.contains(mark));
    let nobody = of_role(tried, "nobody")?;
    let refused = outcome(nobody).is_some_and(|outcome| !nature::succeeds(outcome));
    let nobodys_id = nobody.attempt.payload.as_ref().map(text_of).unwrap_or_default();
    let of_nobody = outcome(nobody).map(|outcome| marks(outcome, &nobodys_id)).unwrap_or_default();
    let listed = of_role(tried, "list").map(Tried::said).unwrap_or_default();
    let (field, of) = (bout.field, identity_of(owner));
    let told: BTreeSet<String> = field
        .knowledge
        .values
        .iter()
        .filter(|learned| learned.identity == identity_of(other))
        .map(|learned| text_of(&learned.value))
        .collect();
    shared.retain(|mark| {
        !of_nobody.contains(mark) && !told.contains(mark) && !listed.contains(mark.as_str())
    });
    if shared.is_empty() {
        return None;
    }
    let here = bout.aim.place.tool();
    let proof = shared.iter().find(|mark| {
        let seen_elsewhere = only_told(field, of, identity_of(other)).into_iter().any(|learned| {
            Some(learned.tool.as_str()) != here && text_of(&learned.value) == **mark
        });
        seen_elsewhere || names(mark, name_of(field, of))
    });
    let (from, to) = (name_of(field, of), name_of(field, identity_of(other)));
    let title = format!(
        "{} gives objects of others to whoever knows their id ({})",
        bout.aim.place, other.attempt.form
    );
    let hit = if let Some(mark) = proof {
        let what =
            format!("{to} asked for {id} of {from} and got “{mark}”, which only {from} was shown");
        Hit::confirmed(title, what)
    } else if refused {
        let what =
            format!("{to} asked for {id}, which only {from} was told, and got the same as {from}");
        Hit::suspected(title, what)
    } else {
        return None;
    };
    Some(hit.by(other).fault("read"))
}

fn judge_change(
    bout: &Bout<'_>,
    tried: &[&Tried],
    (before, other, after): (&Tried, &Tried, &Tried),
) -> Option<Hit> {
    let id = text_of(other.attempt.payload.as_ref()?);
    let seen = |tried: &Tried| -> Vec<String> {
        tried.evidence.exchanges.iter().map(|exchange| exchange.outcome.said()).collect()
    };
    let (was, is) = (seen(before), seen(after));
    let complete = |tried: &Tried| {
        let exchanges = &tried.evidence.exchanges;
        !exchanges.is_empty()
            && exchanges.iter().all(|exchange| nature::succeeds(&exchange.outcome))
    };
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    // Something about the object is another, or the object is gone.
    let changed = was.len() == is.len()
        && was.iter().zip(&is).any(|(was, is)| was.contains(&id) && lines(was) != lines(is));
    let refused = of_role(tried, "nobody")
        .and_then(outcome)
        .is_some_and(|outcome| !nature::succeeds(outcome));
    let (from, to) =
        (name_of(bout.field, identity_of(before)), name_of(bout.field, identity_of(other)));
    let title = format!("{} changes objects of others ({})", bout.aim.place, other.attempt.form);
    let hit = if changed && complete(before) && complete(after) {
        let what = format!("{to} changed {id} of {from}, and {from} sees the change");
        Hit::confirmed(title, what)
    } else if refused {
        let what = format!("{to} was allowed to change {id}, which only {from} was told");
        Hit::suspected(title, what)
    } else {
        return None;
    };
    Some(hit.by(other).fault("change"))
}

fn judge_in_turn(bout: &Bout<'_>, tried: &[&Tried], other: &Tried) -> Option<Hit> {
    let owner = of_role(tried, "owner")?;
    let (from, to) =
        (name_of(bout.field, identity_of(owner)), name_of(bout.field, identity_of(other)));
    let (owners, others) = (outcome(owner)?.said(), outcome(other)?.said());
    if !names(&owners, from) || !names(&others, from) || names(&others, to) {
        return None;
    }
    let title = format!("{} shows the data of another identity", bout.aim.place);
    let what = format!("{to} asked after {from} did, and the answer names {from}");
    Some(Hit::confirmed(title, what).by(other).fault("identity"))
}

fn judge_neighbour(bout: &Bout<'_>, tried: &[&Tried], neighbour: &Tried) -> Option<Hit> {
    let (owner, nobody) = (of_role(tried, "owner")?, of_role(tried, "nobody")?);
    let (got, refused) = (outcome(neighbour)?, outcome(nobody)?);
    if !nature::succeeds(got)
        || nature::succeeds(refused)
        || !outcome(owner).is_some_and(nature::succeeds)
    {
        return None;
    }
    let id = text_of(neighbour.attempt.payload.as_ref()?);
    let own = text_of(owner.attempt.payload.as_ref()?);
    let of_own = marks(outcome(owner)?, &own);
    let fresh = marks(got, &id).into_iter().find(|mark| !of_own.contains(mark))?;
    let title = format!(
        "{} gives objects that were never listed (neighbour of a known id)",
        bout.aim.place
    );
    let what = format!(
        "{id}, which no answer had shown, gave “{fresh}”; with a second identity it could be told whose it is"
    );
    Some(Hit::suspected(title, what).by(neighbour).severity(Severity::Low).fault("neighbour"))
}

#[cfg(test)]
mod tests;
