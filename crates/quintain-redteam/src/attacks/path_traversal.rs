//! Paths that read files outside the allowed folder.

mod prefix;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quintain_content::registry::Meta;
use quintain_evidence::accepted::accepted;
use quintain_evidence::evidence::Exchange;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::weakness::Weakness;
use serde_json::Value;

use super::paths::{self, Free};
use super::{reach, tool_actions};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, Kind, TargetView, Trial, Tried};

#[cfg(test)]
mod tests;

mod payloads;
mod taken;

use payloads::{ABSENT, payloads, second_item};

pub(super) struct PathTraversal;

static META: Meta = Meta {
    id: "path-traversal",
    aliases: &["path-traversal-read", "directory-traversal", "lfi"],
    summary: "A path reads files outside the allowed folder",
    docs: "\
# What it does
Plants a file with random text outside every folder that the target declares, and requests it through everything that may be a path:
tool arguments, list items, variables of resource templates, free URIs, prompt arguments and completions. Forms that need different
fixes are separate findings: relative path, absolute path, `..` after the root path, a sibling folder with the name of the root as
prefix, a symbolic link inside the root, encoded dots, backslashes, dots that remain after filtering (`....//`), a null byte, and a
file URI. For tools that accept a file, the attack also calls the tools that return it afterwards. If no folder is declared,
nothing can be planted next to it; then the attack guesses the name of the folder from the tool's description and compares the
responses for folders with that name as prefix and as suffix.

# Why it matters
A server that may read one folder then exposes keys, tokens and the data of other users.

# What counts as proof
The response contains the random text of the planted file, or a folder listing contains its name. An error that quotes the path proves
nothing. If the server answers differently for a file that exists and for one that does not, the finding is suspected.

A server that declares no folder, with an argument that is a path and claims no limits, is unrestricted by design, and the severity is
low. It is medium if another argument names the folder of the path, and the full severity applies if the server is reached over HTTP.

# Example
```yaml
redteam:
  plugins: [path-traversal]
```

# References
- CWE-22, CWE-59, OWASP MCP05
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[22, 59],
    frameworks: &["MCP05", "MCP10", "ASI02", "LLM02"],
};

const KINDS: [Kind; 5] = [Kind::Path, Kind::Name, Kind::Url, Kind::Id, Kind::Other];

impl Attack for PathTraversal {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn needs(&self) -> &[crate::attack::Need] {
        &[crate::attack::Need::SameHost]
    }

    fn shrinks(&self) -> bool {
        false
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts_in_modes(&KINDS, false);
        aims.retain(|aim| is_worth_it(view, aim));
        aims.extend(other_places(view));
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(canaries) = brief.canaries else { return Vec::new() };
        // Files inside a root may be read.
        if paths::is_below(&canaries.canary, brief.roots) {
            return Vec::new();
        }
        let tool = brief.view.and_then(|view| tool_actions::tool_of(view, aim));
        if tool.is_some_and(tool_actions::writes) {
            return taken::attempts(aim, brief, canaries);
        }
        let mut set = 0;
        let mut attempts = Vec::new();
        for (at, payload) in payloads(aim, brief, canaries).into_iter().enumerate() {
            set += usize::from(at > 0 && !payload.joined);
            let later = payload.later.then(|| second_item(aim)).flatten();
            let aim = later.as_ref().unwrap_or(aim);
            let made = reach::attempt(aim, (set, &payload.form), brief.nonce(), payload.value);
            attempts.extend(made.map(|attempt| Attempt { role: payload.role, ..attempt }));
        }
        attempts.extend(prefix::attempts(aim, brief, set));
        attempts
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        let at = set.iter().position(|attempt| attempt.role != ABSENT)?;
        set[at].foretells().map(|sign| (at, sign))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let free = paths::free(trial.view, trial.aim, &trial.view.knowledge.roots);
        let mut hits: Vec<Hit> = Vec::new();
        for (_, set) in trial.sets() {
            let seen: Vec<(&Tried, String)> =
                set.iter().filter_map(|tried| Some((*tried, proof(trial, tried)?))).collect();
            let by_absolute =
                seen.iter().any(|(tried, _)| paths::fault(&tried.attempt.form) == "absolute");
            for (tried, what) in &seen {
                hits.push(hit(trial, tried, what.clone(), free.as_ref().filter(|_| by_absolute)));
            }
            if seen.is_empty() {
                hits.extend(existence(trial, &set));
            }
        }
        hits.extend(prefix::hits(trial));
        paths::without_spellings(hits)
    }
}

/// Whether an argument may be the path of a file that the tool reads. A tool that writes must not get the canary.
fn is_worth_it(view: &TargetView<'_>, aim: &Aim) -> bool {
    if matches!(aim.place, Place::Argument { .. }) {
        let Some(tool) = tool_actions::tool_of(view, aim) else { return false };
        if tool_actions::writes(tool) {
            return taken::takes_in(tool, aim);
        }
        if tool_actions::is_output(aim) {
            return false;
        }
    }
    let first = aim.kinds.first().copied().unwrap_or(Kind::Other);
    match first {
        Kind::Path | Kind::Name | Kind::Id | Kind::Other => true,
        Kind::Url => aim.is(Kind::Path) || takes_file_uris(aim),
        _ => aim.is(Kind::Path),
    }
}

fn takes_file_uris(aim: &Aim) -> bool {
    matches!(aim.place, Place::Uri { .. })
        || reach::innocent(aim).is_some_and(|text| text.starts_with("file:"))
        || aim.schema.to_string().contains("file:")
}

/// URIs that are not listed, and completions.
fn other_places(view: &TargetView<'_>) -> Vec<Aim> {
    let aim = |place: Place| Aim { kinds: vec![Kind::Path], ..Aim::at(place) };
    let mut aims = Vec::new();
    for (server, surface) in view.surfaces {
        let listed = !surface.resources.is_empty() || !surface.templates.is_empty();
        if listed || surface.declares("resources") {
            aims.push(aim(Place::Uri { server: server.clone() }));
        }
        if !surface.declares("completions") {
            continue;
        }
        for known in &view.knowledge.aims {
            let (of, argument) = match &known.place {
                Place::PromptArgument { server: of, prompt, argument } if of == server => {
                    (prompt, argument)
                }
                Place::Variable { server: of, template, variable } if of == server => {
                    (template, variable)
                }
                _ => continue,
            };
            if known.is(Kind::Path) {
                let (of, argument) = (of.clone(), argument.clone());
                aims.push(aim(Place::Completion { server: server.clone(), of, argument }));
            }
        }
    }
    aims
}

fn proof(trial: &Trial<'_>, tried: &Tried) -> Option<String> {
    let role = &tried.attempt.role;
    // If the server refused the first call, what later calls return has another source.
    let refused = |first: &Exchange| !accepted(&first.outcome);
    let shown_later = tried.evidence.exchanges.len() > 1;
    if role == ABSENT || (shown_later && tried.evidence.exchanges.first().is_some_and(refused)) {
        return None;
    }
    let said = tried.said();
    let encoded = bare(&said);
    let sent = tried.attempt.payload.as_ref().and_then(Value::as_str).unwrap_or_default();
    let normally = trial.baseline().map(|exchange| exchange.outcome.said()).unwrap_or_default();
    let proves = |mark: &&str| {
        !mark.is_empty()
            && (said.contains(*mark) || encoded.contains(&in_base64(mark)))
            && !sent.contains(*mark)
            && !normally.contains(*mark)
    };
    let mark = role.lines().find(proves)?;
    Some(if role.lines().next() == Some(mark) {
        format!(
            "the response contains {mark}, the random text of a file outside the allowed folder"
        )
    } else {
        format!("the response names {mark}, a file in a folder outside the allowed one")
    })
}

/// A text without whitespace, since encoders break long lines.
fn bare(said: &str) -> String {
    said.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The beginning of the base64 encoding of a file that begins with this text.
fn in_base64(text: &str) -> String {
    let whole = text.len() / 3 * 3;
    STANDARD.encode(&text.as_bytes()[..whole])
}

fn hit(trial: &Trial<'_>, tried: &Tried, what: String, free: Option<&Free>) -> Hit {
    let form = &tried.attempt.form;
    if let Some(free) = free {
        let canary = tried.attempt.role.lines().next().unwrap_or_default();
        return free.hit(&trial.aim.place, "reads", form, what).by(tried).said(tried, canary);
    }
    // In a URI variable, separators must be encoded.
    let is_variable = matches!(trial.aim.place, Place::Variable { .. });
    let fault = match paths::fault(form) {
        "encoded" if is_variable && form == "URL-encoded" => "relative",
        other => other,
    };
    let later = form.contains("second list item").then(|| second_item(trial.aim)).flatten();
    let place = later.map_or(trial.aim.place.clone(), |aim| aim.place);
    let title = format!("Path traversal in `{place}` ({form})");
    let canary = tried.attempt.role.lines().next().unwrap_or_default();
    Hit::confirmed(title, what).by(tried).fault(fault).at(place).said(tried, canary)
}

/// The server answers differently for a file that exists and for one that does not.
fn existence(trial: &Trial<'_>, set: &[&Tried]) -> Option<Hit> {
    let (absent, there): (Vec<&&Tried>, Vec<&&Tried>) =
        set.iter().partition(|tried| tried.attempt.role == ABSENT);
    // Attempts of two forms may share a set: compare those with the same form.
    there.into_iter().find_map(|tried| {
        let other = absent.iter().find(|absent| absent.attempt.form == tried.attempt.form)?;
        let (yes, no) = (tried.last()?, other.last()?);
        if !accepted(&yes.outcome) || accepted(&no.outcome) || !no.outcome.is_answer() {
            return None;
        }
        if paths::is_free(trial.view, trial.aim, &trial.view.knowledge.roots) {
            return None;
        }
        let form = &tried.attempt.form;
        let title = format!("Possible path traversal in `{}` ({form})", trial.aim.place);
        let what = "the server accepts a path to a planted file outside the allowed folder and refuses one to a missing file";
        let hit = Hit::suspected(title, what).by(tried).severity(Severity::Medium);
        Some(hit.fault(if paths::fault(&tried.attempt.form) == "absolute" {
            "absolute"
        } else {
            "relative"
        }))
    })
}
