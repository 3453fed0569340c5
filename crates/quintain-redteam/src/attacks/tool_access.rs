//! The purpose of tools, by their words and annotations, and whether a response is a success or a refusal.

use std::sync::LazyLock;

use quintain_evidence::evidence::Outcome;
use quintain_evidence::finding::Place;
use quintain_evidence::probe::Step;
use quintain_evidence::surface::Tool;
use regex::Regex;
use serde_json::{Map, Value};

use crate::attack::{Aim, TargetView};
use crate::knowledge::{Baseline, Sense, claims_to_destroy, words};

/// Words for data of the caller.
const PERSONAL: &str = "\
    my me mine own whoami profile account current last recent history session self";

/// Words for public data.
const PUBLIC: &str = "public shared published everyone everybody anyone anybody community global";

/// Read-only roles.
const READERS: &str = "\
    viewer reader guest readonly observer auditor visitor watcher anonymous spectator";

const ADMINS: &str = "admin administrator root owner superuser superadmin operator";

fn named(tool: &Tool) -> &str {
    tool.name().unwrap_or_default()
}

/// Whether the first verb of a name acts (`true`) or reads (`false`).
fn does(name: &str) -> Option<bool> {
    words(name).iter().find_map(|word| {
        let word = word.as_str();
        if Sense::Acts.is(word) {
            Some(true)
        } else if Sense::Reads.is(word) {
            Some(false)
        } else {
            None
        }
    })
}

pub(super) fn is_reader(tool: &Tool) -> bool {
    match tool.hint("readOnlyHint") {
        Some(claim) => claim,
        None => does(named(tool)) == Some(false),
    }
}

pub(super) fn is_writer(tool: &Tool) -> bool {
    match tool.hint("readOnlyHint") {
        Some(claim) => !claim && does(named(tool)) != Some(false),
        None => does(named(tool)) == Some(true),
    }
}

/// Whether the first word may be a noun instead of a verb: `order_buyer` returns the buyer of an order.
pub(super) fn may_be_a_noun(tool: &Tool) -> bool {
    const BOTH: &str = "order book log record post share schedule store archive register mark";
    let found = words(named(tool));
    tool.hint("readOnlyHint").is_none()
        && found.len() > 1
        && found.first().is_some_and(|word| has(BOTH, word))
}

/// Whether a tool may be called in this run.
pub(super) fn may_be_called(view: &TargetView<'_>, tool: &Tool) -> bool {
    view.capabilities.destructive || !claims_to_destroy(tool)
}

/// Whether a word is in a list that is separated by spaces.
pub(super) fn has(known: &str, word: &str) -> bool {
    known.split(' ').any(|one| one == word)
}

/// Whether a text contains one of these words.
fn has_word(text: &str, known: &str) -> bool {
    words(text).iter().any(|word| has(known, word))
}

/// Whether a name or description is about data of the caller.
pub(super) fn is_personal(name: &str, description: &str) -> bool {
    static YOURS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let text = r"(?i)\b(?:your|own|themselves|of the caller|logged[ -]in user|current user|authenticated user|whose token)\b";
        Regex::new(text).ok()
    });
    has_word(name, PERSONAL) || YOURS.as_ref().is_some_and(|regex| regex.is_match(description))
}

pub(super) fn is_personal_tool(tool: &Tool) -> bool {
    is_personal(named(tool), tool.description().unwrap_or_default())
}

pub(super) fn is_personal_call(view: &TargetView<'_>, baseline: &Baseline) -> bool {
    tool_of(view, baseline).is_some_and(is_personal_tool)
}

pub(super) fn is_public(tool: &Tool) -> bool {
    has_word(named(tool), PUBLIC) || has_word(tool.description().unwrap_or_default(), PUBLIC)
}

/// Whether the name of a tool suggests that it is for administrators.
pub(super) fn is_for_admins(tool: &Tool) -> bool {
    Sense::Administers.names(tool)
}

/// Whether the description of a tool restricts it to administrators or a role.
pub(super) fn says_for_admins(tool: &Tool) -> bool {
    static SAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let text = r"(?i)\b(?:for|only|needs?|requires?|restricted to|limited to|available to)\b[^.\n]{0,20}\b(?:admins?|administrators?|administrator|superusers?|owners?|operators?)\b|\badmin(?:istrator)?s?[ -]only\b|\badmin(?:istrator)? (?:role|rights|privileges?|permissions?|access)\b";
        Regex::new(text).ok()
    });
    let description = tool.description().unwrap_or_default();
    SAYS.as_ref().is_some_and(|regex| regex.is_match(description))
}

/// The role of an identity: from the suite, else from a response of the server, else its name.
pub(super) fn role_of<'f>(view: &'f TargetView<'_>, identity: usize) -> &'f str {
    let known = view.capabilities.identities.get(identity);
    if let Some(role) = known.and_then(|known| known.role.as_deref()) {
        return role;
    }
    let own = |tool: &str| has_word(tool, PERSONAL);
    let told = view.knowledge.values.iter().find(|learned| {
        learned.identity == identity
            && learned.name.eq_ignore_ascii_case("role")
            && own(&learned.tool)
    });
    let told = told.and_then(|learned| learned.value.as_str());
    told.or(known.map(|known| known.name.as_str())).unwrap_or_default()
}

/// Whether a role, or the name of an identity, is read-only.
pub(super) fn is_reader_role(role: &str) -> bool {
    let joined: String = words(role).concat();
    has_word(role, READERS) || has(READERS, &joined)
}

pub(super) fn is_admin_role(role: &str) -> bool {
    has_word(role, ADMINS)
}

/// The tool of a call that works.
pub(super) fn tool_of<'f>(view: &'f TargetView<'_>, baseline: &Baseline) -> Option<&'f Tool> {
    match &baseline.step {
        Step::Call(call) => view.tool(&baseline.server, &call.tool),
        Step::Request { .. } => None,
    }
}

/// Calls that work and only read.
pub(super) fn readers<'f>(
    view: &'f TargetView<'_>,
    server: &'f str,
) -> impl Iterator<Item = &'f Baseline> {
    let baselines = view.knowledge.baselines.iter().filter(move |known| known.server == server);
    baselines.filter(|known| {
        let looks = |tool: &Tool| is_reader(tool) && may_be_called(view, tool);
        tool_of(view, known).is_some_and(looks)
    })
}

/// Up to `count` calls that return the state of a server, the broadest first, without calls of `except`.
pub(super) fn watchers(
    view: &TargetView<'_>,
    server: &str,
    except: &str,
    count: usize,
) -> Vec<Step> {
    let mut calls: Vec<((bool, usize), &Step)> = readers(view, server)
        .filter_map(|baseline| match &baseline.step {
            Step::Call(call) if call.tool != except => {
                // A `readOnlyHint` is weaker evidence than a name that begins with a reading verb.
                let claims_only = does(&call.tool) != Some(false);
                Some(((claims_only, call.args.len()), &baseline.step))
            }
            _ => None,
        })
        .collect();
    calls.sort_by_key(|(rank, _)| *rank);
    calls.into_iter().take(count).map(|(_, step)| step.clone()).collect()
}

/// An aim at a whole tool or resource.
pub(super) fn aim(place: Place, baseline: Option<&Baseline>) -> Aim {
    Aim { baseline: baseline.cloned(), ..Aim::at(place) }
}

pub(super) fn arguments(baseline: &Baseline) -> Map<String, Value> {
    match &baseline.step {
        Step::Call(call) => call.args.clone(),
        Step::Request { params, .. } => params.clone(),
    }
}

/// Whether a response refuses the call for missing rights. Servers refuse in errors and in plain results.
pub(super) fn refuses(outcome: &Outcome) -> bool {
    static NO: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let text = r"(?i)\bforbidden\b|\b(?:not|un)[ -]?authori[sz]ed\b|\bpermission(?:s)? (?:denied|required)|\b(?:access|permission|request)\b[^.\n]{0,20}\bdenied\b|\bnot (?:allowed|permitted)\b|\b(?:no|insufficient|lacks?|missing|without)\b[^.\n]{0,16}\b(?:permissions?|privileges?|rights|scope)\b|\b(?:admins?|administrators?) only\b|\bonly (?:admins?|administrators?|owners?)\b|\b(?:requires?|needs?)\b[^.\n]{0,16}\b(?:role|admin|administrator|privileges?|scope)\b|\b(?:log|sign) in\b|\bauthentication required\b";
        Regex::new(text).ok()
    });
    if let Outcome::Refused { .. } = outcome {
        return true;
    }
    let said = outcome.said();
    // A long result that contains such words is about something else.
    let plain = matches!(outcome, Outcome::Reply(_));
    if !outcome.is_answer() || (plain && said.len() > 400) {
        return false;
    }
    NO.as_ref().is_some_and(|regex| regex.is_match(&said))
}

/// Whether a call succeeded, judged by its response.
pub(super) fn succeeds(outcome: &Outcome) -> bool {
    let Outcome::Reply(_) = outcome else { return false };
    let said = outcome.said();
    let start =
        said.trim_start().get(..80.min(said.trim_start().len())).unwrap_or(said.trim_start());
    let start = start.to_lowercase();
    let complains =
        ["error", "failed", "unknown", "not found", "no such", "invalid", "unable", "cannot"];
    let short = said.len() <= 400;
    !(refuses(outcome) || (short && complains.iter().any(|word| has_start(&start, word))))
}

/// Whether a text contains a word near its beginning, such as `error` after the name of an object.
fn has_start(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let whole = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
        at < 48 && whole(before) && (whole(after) || word == "error")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> Tool {
        Tool(json!({"name": name, "description": description}))
    }

    fn text(text: &str) -> Outcome {
        Outcome::Reply(json!({"content": [{"type": "text", "text": text}]}))
    }

    #[test]
    fn verbs_tell_reading_from_writing() {
        assert!(is_reader(&tool("github_list_issues", "")));
        assert!(is_writer(&tool("github_create_issue", "")));
        assert!(is_writer(&tool("reassignTicket", "")));
        assert!(!is_reader(&tool("frobnicate", "")) && !is_writer(&tool("frobnicate", "")));
        let lies = Tool(json!({"name": "create_x", "annotations": {"readOnlyHint": true}}));
        assert!(is_reader(&lies) && !is_writer(&lies));
    }

    #[test]
    fn descriptions_tell_whom_a_tool_is_for() {
        for says in ["Exports users. For administrators.", "Admin only.", "Requires the admin role"]
        {
            assert!(says_for_admins(&tool("x", says)), "{says}");
        }
        for not in ["List the administrators of a group.", "Shows who owns a file"] {
            assert!(!says_for_admins(&tool("x", not)), "{not}");
        }
        assert!(is_personal_tool(&tool("get_profile", "")));
        assert!(is_personal_tool(&tool("x", "Shows your notes")));
        assert!(!is_personal_tool(&tool("list_tickets", "List the tickets.")));
        assert!(
            is_reader_role("viewer") && is_reader_role("read-only") && !is_reader_role("agent")
        );
    }

    #[test]
    fn refusals_are_known_in_errors_and_in_plain_answers() {
        for no in [
            "Forbidden: this needs the role admin",
            "Access to n-1 is denied",
            "You are not authorized to do this",
            "403 Forbidden",
            "Insufficient permissions",
        ] {
            assert!(refuses(&text(no)), "{no}");
            assert!(!succeeds(&text(no)), "{no}");
        }
        for yes in [
            "Ticket T-100 was given to eva",
            "{\"role\": \"viewer\"}",
            "3 errors were fixed in March of last year, and the rest of them later",
        ] {
            assert!(!refuses(&text(yes)), "{yes}");
        }
        assert!(succeeds(&text("Ticket T-100 was given to eva")));
        assert!(!succeeds(&text("Unknown tool: x")));
        assert!(!succeeds(&text("Error: no such note")));
        assert!(!succeeds(&Outcome::ToolError(json!({"isError": true}))));
    }
}
