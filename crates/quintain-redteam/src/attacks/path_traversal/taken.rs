//! Files that one tool accepts and another returns: reads a file outside the allowed folder in two steps.

use std::path::Path;

use quintain_evidence::finding::Place;
use quintain_evidence::probe::Step;
use quintain_evidence::surface::Tool;
use quintain_evidence::tool_call::ToolCall;
use serde_json::Value;

use crate::attack::{Action, Aim, Attempt, Brief, CanaryFiles, Kind};
use crate::attacks::paths::{self, PLAIN};
use crate::attacks::{reach, tool_access, tool_actions};
use crate::knowledge::{Sense, words};

/// The maximum number of calls that may return the file afterwards.
const WATCHERS: usize = 4;

/// Whether an argument is the path of a file that the tool accepts and does not change.
pub(super) fn takes_in(tool: &Tool, aim: &Aim) -> bool {
    let name = words(tool.name().unwrap_or_default());
    Sense::TakesIn.is_in(&name)
        && !Sense::Alters.is_in(&name)
        && aim.is(Kind::Path)
        && !tool_actions::is_output(aim)
}

pub(super) fn attempts(aim: &Aim, brief: &Brief<'_>, canaries: &CanaryFiles) -> Vec<Attempt> {
    let (Some(view), Some(tool)) = (brief.view, aim.place.tool()) else { return Vec::new() };
    if canaries.bait_text.is_empty() {
        return Vec::new();
    }
    let innocent = reach::innocent(aim);
    let ending = innocent.as_deref().and_then(|text| Path::new(text).extension()?.to_str());
    let ending = ending.filter(|wanted| canaries.endings.iter().any(|known| known == wanted));
    let bait = canaries.bait.with_extension(ending.unwrap_or("txt"));
    let watchers = tool_access::watchers(view, aim.place.server(), tool, WATCHERS);
    let forms = paths::forms(&bait, brief.roots);
    let plain = forms.into_iter().filter(|form| PLAIN.contains(&form.fault));
    let made = plain.enumerate().filter_map(|(set, form)| {
        let mut made = reach::attempt(aim, (set, form.words), brief.nonce(), form.path)?;
        let Action::Steps { steps, .. } = &mut made.action else { return None };
        let shown = shown(aim, brief, made.nonce.as_str(), steps);
        steps.extend(shown);
        steps.extend(watchers.iter().cloned());
        made.role.clone_from(&canaries.bait_text);
        Some(made)
    });
    made.collect()
}

/// The call that reads the destination of the file, if the caller chooses it. The destination gets a new name, since
/// the file may exist there already.
fn shown(aim: &Aim, brief: &Brief<'_>, mark: &str, steps: &mut [Step]) -> Option<Step> {
    let (Some(Step::Call(taking)), Place::Argument { pointer, .. }) =
        (steps.last_mut(), &aim.place)
    else {
        return None;
    };
    let (_, to) = taking.args.iter_mut().find(|(key, value)| {
        **pointer != format!("/{key}") && value.is_string() && tool_actions::is_output_name(key)
    })?;
    let old = Path::new(to.as_str()?);
    let ending = old.extension().and_then(|ending| ending.to_str()).unwrap_or("txt");
    let fresh = paths::renamed(old, &format!("{mark}.{ending}"), brief.roots);
    let fresh = Value::from(fresh.display().to_string());
    *to = fresh.clone();
    let is_path = |key: &str| {
        let last = words(key).pop().unwrap_or_default();
        ["path", "file", "filename", "filepath"].contains(&last.as_str())
    };
    tool_access::readers(brief.view?, aim.place.server()).find_map(|known| {
        let Step::Call(call) = &known.step else { return None };
        let (key, _) = call.args.iter().find(|(key, value)| value.is_string() && is_path(key))?;
        let mut args = call.args.clone();
        args.insert(key.clone(), fresh.clone());
        Some(Step::Call(ToolCall { args, ..call.clone() }))
    })
}
