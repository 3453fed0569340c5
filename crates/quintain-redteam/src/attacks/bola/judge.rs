//! Decides what the evidence of a set of attempts proves.

use std::collections::BTreeSet;

use quintain_evidence::evidence::Outcome;
use quintain_evidence::finding::Severity;
use quintain_evidence::indicator::Indicator;

use super::marks::{ID, about, marks, names};
use super::seen_values::{seen_by, seen_only_by, text_of};
use crate::attack::{Action, Hit, TargetView, Trial, Tried};
use crate::attacks::http::of_role;
use crate::attacks::tool_access;

fn outcome(tried: &Tried) -> Option<&Outcome> {
    tried.last().map(|exchange| &exchange.outcome)
}

pub(super) fn judge(trial: &Trial<'_>, tried: &[&Tried]) -> Option<Hit> {
    if let Some(neighbour) = of_role(tried, "neighbour") {
        return judge_neighbour(trial, tried, neighbour);
    }
    // If several requests worked, use the last one.
    let mut others = tried.iter().copied().filter(|one| one.attempt.role == "other").rev();
    let other = others.find(|one| outcome(one).is_some_and(tool_access::succeeds))?;
    if let Some(list) = of_role(tried, "list") {
        let id = text_of(other.attempt.payload.as_ref()?);
        if list.said().contains(&id) {
            return None;
        }
    }
    let before = tried.iter().copied().rfind(|one| one.attempt.role == "before");
    match (before, of_role(tried, "after")) {
        (Some(before), Some(after)) => judge_change(trial, tried, (before, other, after)),
        _ if other.attempt.payload.is_none() => judge_in_turn(trial, tried, other),
        _ => judge_read(trial, tried, other),
    }
}

fn identity_of(tried: &Tried) -> usize {
    match &tried.attempt.action {
        Action::Steps { identity, .. } => *identity,
        _ => 0,
    }
}

fn name_of<'f>(view: &'f TargetView<'_>, identity: usize) -> &'f str {
    view.capabilities.identities.get(identity).map_or("", |known| known.name.as_str())
}

fn judge_read(trial: &Trial<'_>, tried: &[&Tried], other: &Tried) -> Option<Hit> {
    let owner = of_role(tried, "owner")?;
    let (id, own) = (text_of(other.attempt.payload.as_ref()?), outcome(owner)?);
    if !tool_access::succeeds(own) {
        return None;
    }
    let mut shared = marks(outcome(other)?, &id);
    let owned = marks(own, &id);
    shared.retain(|mark| owned.contains(mark));
    let nobody = of_role(tried, "nobody")?;
    let nobodys_id = nobody.attempt.payload.as_ref().map(text_of).unwrap_or_default();
    let of_nobody = outcome(nobody).map(|outcome| marks(outcome, &nobodys_id)).unwrap_or_default();
    // An empty response counts as a refusal.
    let refused = outcome(nobody)
        .is_some_and(|outcome| !tool_access::succeeds(outcome) || of_nobody.is_empty());
    let listed = of_role(tried, "list").map(Tried::said).unwrap_or_default();
    let (view, of, to) = (trial.view, identity_of(owner), identity_of(other));
    let own_for_certain =
        seen_only_by(view, of, to, true).iter().any(|learned| text_of(&learned.value) == id);
    let told = seen_by(view, to, own_for_certain);
    shared.retain(|mark| {
        !of_nobody.contains(mark) && !told.contains(mark) && !listed.contains(mark.as_str())
    });
    if shared.is_empty() {
        return None;
    }
    let here = trial.aim.place.tool();
    let mut elsewhere: BTreeSet<String> = view
        .knowledge
        .values
        .iter()
        .filter(|learned| learned.identity == of && Some(learned.tool.as_str()) != here)
        .map(|learned| text_of(&learned.value))
        .collect();
    elsewhere.retain(|value| !told.contains(value) && value.len() >= 4 && *value != id);
    let left = of_role(tried, "left").is_some().then(|| other.attempt.nonce.as_str());
    let proof = shared.iter().find_map(|mark| {
        let whole = elsewhere.contains(mark) || names(mark, name_of(view, of));
        let left = left.is_some_and(|word| mark.contains(word));
        if whole || left {
            return Some(mark.clone());
        }
        // A value that is only part of a line must be an id.
        let is_id = |value: &&String| value.contains(|c: char| c.is_ascii_digit());
        elsewhere.iter().filter(is_id).find(|value| names(mark, value)).cloned()
    });
    // An indicator must work in a later run: the random word of this run will be missing then, and a line
    // with the id cut out matches nothing.
    let lasts = |mark: &String| !mark.contains(ID) && !left.is_some_and(|word| mark.contains(word));
    let sign = proof.iter().chain(&shared).find(|mark| lasts(mark)).map(Indicator::says);
    let (from, to) = (name_of(view, of), name_of(view, to));
    let title = format!(
        "`{}` returns another user's object (BOLA: {})",
        trial.aim.place, other.attempt.form
    );
    let hit = if let Some(mark) = proof {
        let what = format!(
            "`{to}` requested {id} of `{from}` and got “{mark}”, which only `{from}` had seen"
        );
        Hit::confirmed(title, what)
    } else if refused {
        let what =
            format!("`{to}` requested {id}, which only `{from}` had seen, and got the same data");
        Hit::suspected(title, what)
    } else {
        return None;
    };
    Some(Hit { sign, ..hit.by(other).fault("read") })
}

fn judge_change(
    trial: &Trial<'_>,
    tried: &[&Tried],
    (before, other, after): (&Tried, &Tried, &Tried),
) -> Option<Hit> {
    let id = text_of(other.attempt.payload.as_ref()?);
    let complete = |tried: &Tried| {
        let exchanges = &tried.evidence.exchanges;
        !exchanges.is_empty()
            && exchanges.iter().all(|exchange| tool_access::succeeds(&exchange.outcome))
    };
    let first = tried.iter().copied().find(|one| one.attempt.role == "before")?;
    // The object changed or is gone, and it did not change by itself before.
    let seen = |tried: &Tried| about(tried, &id);
    let (was, is) = (seen(before), seen(after));
    let changed = !was.is_empty() && seen(first) == was && was != is;
    let word = other.attempt.nonce.as_str();
    let left = after.said().contains(word) && !before.said().contains(word);
    let refused = of_role(tried, "nobody")
        .and_then(outcome)
        .is_some_and(|outcome| !tool_access::succeeds(outcome));
    let (from, to) =
        (name_of(trial.view, identity_of(before)), name_of(trial.view, identity_of(other)));
    let title = format!(
        "`{}` changes another user's object (BOLA: {})",
        trial.aim.place, other.attempt.form
    );
    let hit = if left {
        let what = format!("`{from}` sees the random word {word}, which `{to}` stored in {id}");
        Hit::confirmed(title, what)
    } else if changed && complete(before) && complete(after) {
        let what = format!("`{to}` changed {id} of `{from}`, and `{from}` sees the change");
        // Trials that run in parallel change data as well.
        Hit::confirmed(title, what).must_repeat()
    } else if refused {
        let what = format!("`{to}` was allowed to change {id}, which only `{from}` had seen");
        Hit::suspected(title, what)
    } else {
        return None;
    };
    Some(hit.by(other).fault("change").sign(Indicator::Succeeds))
}

fn judge_in_turn(trial: &Trial<'_>, tried: &[&Tried], other: &Tried) -> Option<Hit> {
    let owner = of_role(tried, "owner")?;
    let (from, to) =
        (name_of(trial.view, identity_of(owner)), name_of(trial.view, identity_of(other)));
    let (owners, others) = (outcome(owner)?.said(), outcome(other)?.said());
    if !names(&owners, from) || !names(&others, from) || names(&others, to) {
        return None;
    }
    let title = format!("`{}` returns another user's data (BOLA)", trial.aim.place);
    let what = format!("the response to `{to}`, who called after `{from}`, names `{from}`");
    Some(Hit::confirmed(title, what).by(other).fault("identity"))
}

fn judge_neighbour(trial: &Trial<'_>, tried: &[&Tried], neighbour: &Tried) -> Option<Hit> {
    let (owner, nobody) = (of_role(tried, "owner")?, of_role(tried, "nobody")?);
    let (got, refused) = (outcome(neighbour)?, outcome(nobody)?);
    if !tool_access::succeeds(got)
        || tool_access::succeeds(refused)
        || !outcome(owner).is_some_and(tool_access::succeeds)
    {
        return None;
    }
    let id = text_of(neighbour.attempt.payload.as_ref()?);
    let own = text_of(owner.attempt.payload.as_ref()?);
    let of_own = marks(outcome(owner)?, &own);
    let fresh = marks(got, &id).into_iter().find(|mark| !of_own.contains(mark))?;
    let title = format!(
        "`{}` returns objects that were never listed (possible BOLA: adjacent to a known id)",
        trial.aim.place
    );
    let what = format!(
        "{id}, which no response had contained, returned “{fresh}”; a second identity would show who owns it"
    );
    Some(Hit::suspected(title, what).by(neighbour).severity(Severity::Low).fault("neighbour"))
}
