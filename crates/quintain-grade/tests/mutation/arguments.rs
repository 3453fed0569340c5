//! Arguments without an origin, or that are out of date.

use quintain_evidence::trace::{Args, CallOutcome, Role, Trace};
use quintain_grade::values::date;
use quintain_grade::values::keys::{self, Role as KeyRole};
use quintain_grade::values::leaves::leaves;
use quintain_grade::values::shape;
use serde_json::{Value, json};

use super::text::{is_id, other_digits};
use super::{Mutant, all_text, call_mut, step_of};

/// One mutant for each argument that `change` changes.
fn each(clean: &Trace, change: impl Fn(&str, &Value) -> Option<Value>) -> Vec<Mutant> {
    let known = all_text(clean);
    let mut mutants = Vec::new();
    for (position, call) in clean.calls().enumerate() {
        let Some(args) = call.args.json() else { continue };
        for leaf in leaves(args) {
            let Some(value) = change(leaf.key, leaf.value) else { continue };
            let shown = value.to_string();
            if known.contains(shown.trim_matches('"').to_lowercase().as_str()) {
                continue;
            }
            let mut trace = clean.clone();
            let Args::Json(args) = &mut call_mut(&mut trace, position).args else { continue };
            *args.pointer_mut(&leaf.pointer).unwrap() = value;
            mutants.push(Mutant {
                trace,
                call: Some(position),
                what: format!("{} = {shown}", leaf.pointer),
            });
        }
    }
    mutants
}

fn is_checked(key: &str) -> bool {
    !matches!(keys::role(key), KeyRole::OwnChoice | KeyRole::Free | KeyRole::Query)
}

pub(super) fn id(clean: &Trace) -> Vec<Mutant> {
    each(clean, |key, value| match value {
        Value::String(text) if is_checked(key) && is_id(text) => Some(json!(other_digits(text))),
        Value::Number(number) if keys::role(key) == KeyRole::Id => {
            number.as_u64().filter(|number| *number > 99).map(|number| json!(number * 3 + 71))
        }
        _ => None,
    })
}

pub(super) fn email(clean: &Trace) -> Vec<Mutant> {
    each(clean, |_, value| {
        value.as_str().filter(|text| shape::is_email(text)).map(|_| json!("jo.doe@acme.example"))
    })
}

/// Files that the application names itself are left out: it may name them as it likes.
pub(super) fn path(clean: &Trace) -> Vec<Mutant> {
    let users = clean.messages().filter(|message| message.role == Role::User);
    let mut given: String = users.map(|message| message.text.as_str()).collect();
    given.extend(clean.calls().map(|call| call.text().into_owned()));
    each(clean, |key, value| {
        let name = value.as_str()?.rsplit(['/', '\\']).next()?;
        if !given.contains(name) {
            return None;
        }
        let text = value
            .as_str()
            .filter(|text| shape::is_rooted(text) && keys::role(key) == KeyRole::Path)?;
        Some(match shape::extension(text) {
            Some(ending) => {
                json!(format!("{}x7731.{ending}", &text[..text.len() - ending.len() - 1]))
            }
            None => json!(format!("{text}/hidden7731")),
        })
    })
}

pub(super) fn url(clean: &Trace) -> Vec<Mutant> {
    each(clean, |_, value| {
        value
            .as_str()
            .filter(|text| text.contains("://"))
            .map(|text| json!(format!("{text}/page7731")))
    })
}

/// Users who say `tomorrow` may mean any day.
fn leaves_day_open(clean: &Trace) -> bool {
    let users = clean.messages().filter(|message| message.role == Role::User);
    let words = [
        "tomorrow",
        "tonight",
        "last week",
        "saturday",
        "yesterday",
        "today",
        "next",
        "end of the month",
        "half an hour",
    ];
    users
        .into_iter()
        .any(|message| words.iter().any(|word| message.text.to_lowercase().contains(word)))
}

pub(super) fn date(clean: &Trace) -> Vec<Mutant> {
    if leaves_day_open(clean) {
        return Vec::new();
    }
    each(clean, |_, value| {
        let text = value.as_str().filter(|text| date::timestamp(text).is_some())?;
        Some(json!(format!("2027-11-23{}", &text[10..])))
    })
}

pub(super) fn number(clean: &Trace) -> Vec<Mutant> {
    each(clean, |key, value| {
        let is_number =
            is_checked(key) && keys::role(key) != KeyRole::Id && !keys::is_duration(key);
        let number = value.as_f64().filter(|number| is_number && *number > 1.0)?;
        Some(if number.fract() == 0.0 {
            json!(number as i64 * 7 + 1313)
        } else {
            json!((number * 700.0).round() / 100.0 + 13.37)
        })
    })
}

/// The same reading call is made again and returns other ids, but a later call uses the older ones.
pub(super) fn stale(clean: &Trace) -> Vec<Mutant> {
    let calls: Vec<_> = clean.calls().collect();
    let mut mutants = Vec::new();
    for (position, call) in calls.iter().enumerate() {
        let args = call.args.json().map(leaves).unwrap_or_default();
        let ids = args
            .iter()
            .filter(|leaf| keys::role(leaf.key) == KeyRole::Id)
            .filter_map(|leaf| leaf.value.as_str());
        for id in ids.filter(|id| is_id(id)) {
            let users = clean.messages().filter(|message| message.role == Role::User);
            if users.into_iter().any(|message| message.text.contains(id)) {
                continue;
            }
            let reads = |name: &str| {
                ["get", "list", "search", "find", "check"].iter().any(|verb| name.starts_with(verb))
            };
            // An object that was asked for by its id stays the same.
            let asks = |call: usize| {
                calls[call].args.json().is_some_and(|args| args.to_string().contains(id))
            };
            let source = (0..position).find(|earlier| {
                reads(&calls[*earlier].name)
                    && !asks(*earlier)
                    && calls[*earlier].text().contains(&format!("\"{id}\""))
            });
            let Some(source) = source else { continue };
            let CallOutcome::Result(result) = &calls[source].outcome else { continue };
            // All ids of the result change, as they do when a search is repeated.
            let mut text = result.to_string();
            for leaf in
                leaves(&serde_json::from_str::<Value>(&calls[source].text()).unwrap_or_default())
            {
                if let Some(old) = leaf
                    .value
                    .as_str()
                    .filter(|old| is_id(old) && keys::role(leaf.key) == KeyRole::Id)
                {
                    text = text.replace(old, &other_digits(old));
                }
            }
            let mut again = calls[source].to_owned().clone();
            again.outcome = CallOutcome::Result(serde_json::from_str(&text).unwrap());
            let mut trace = clean.clone();
            let step = step_of(clean, source) + 1;
            trace.steps.insert(step, quintain_evidence::trace::TraceStep::Call(Box::new(again)));
            mutants.push(Mutant { trace, call: Some(position + 1), what: id.to_owned() });
        }
    }
    mutants
}
