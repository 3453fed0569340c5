//! Paths that write files outside the allowed folder.

use std::path::{Path, PathBuf};

use quintain_content::json_value;
use quintain_content::registry::Meta;
use quintain_evidence::evidence::Observation;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::probe::Step;
use quintain_evidence::weakness::Weakness;
use serde_json::{Map, Value};

use super::paths::{self, Free, PLAIN};
use super::{reach, tool_actions};
use crate::attack::{
    Action, Aim, Attack, Attempt, Brief, CanaryFiles, Hit, Kind, Need, Nonce, TargetView, Trial,
    Tried,
};
use crate::knowledge::words;

pub(super) struct PathWrite;

static META: Meta = Meta {
    id: "path-traversal-write",
    aliases: &["path-write", "arbitrary-file-write"],
    summary: "A path writes files outside the allowed folder",
    docs: "\
# What it does
Calls tools that write with paths to a temporary folder outside every folder the target declares: a relative path, an absolute path, a
sibling folder with the name of the root as prefix, symbolic links inside the root, and other spellings. The attack only writes to files
and folders that Quintain created.

# Why it matters
An attacker who can write anywhere can write a startup script, a key file or a configuration, and so run programs.

# What counts as proof
A file appears outside the root with the random mark of the attempt in its name or content. What the response says proves nothing.

A server that declares no folder is unrestricted by design, and the severity is low. It is medium if another argument names the folder of
the path, and the full severity applies if the server is reached over HTTP.

# Example
```yaml
redteam:
  plugins: [path-traversal-write]
```

# References
- CWE-22, CWE-59, CWE-73
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[22, 59, 73],
    frameworks: &["MCP05", "ASI02", "ASI05"],
};

const KINDS: [Kind; 4] = [Kind::Path, Kind::Name, Kind::Id, Kind::Other];
/// Names of arguments with the content to write.
const CONTENTS: [&str; 12] = [
    "content", "contents", "text", "body", "data", "line", "lines", "note", "message", "value",
    "markdown", "html",
];
/// Names of arguments with the source of a move or copy.
const SOURCES: [&str; 5] = ["source", "src", "from", "old", "input"];

impl Attack for PathWrite {
    fn meta(&self) -> Meta {
        META
    }

    fn rule(&self) -> &'static str {
        "path-traversal"
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn needs(&self) -> &[Need] {
        &[Need::SameHost]
    }

    fn shrinks(&self) -> bool {
        false
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts_in_modes(&KINDS, false);
        aims.retain(|aim| {
            let Some(tool) = tool_actions::tool_of(view, aim) else { return false };
            let name = words(&tool_actions::last_name(aim));
            let is_content = name.last().is_some_and(|word| CONTENTS.contains(&word.as_str()));
            let is_source = name.iter().any(|word| SOURCES.contains(&word.as_str()));
            let may = tool_actions::may_write(tool) || tool_actions::is_output(aim);
            let likely = aim.kinds.first().is_some_and(|kind| KINDS.contains(kind));
            may && !is_source && !is_content && (aim.is(Kind::Path) || likely)
        });
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(canaries) = brief.canaries else { return Vec::new() };
        if paths::is_below(&canaries.drop, brief.roots) {
            return Vec::new();
        }
        let mut attempts = Vec::new();
        let wide = aim.is(Kind::Path);
        let free = brief.view.is_some_and(|view| paths::is_free(view, aim, brief.roots));
        let mut set = 0;
        for at in 0.. {
            let nonce = brief.nonce();
            let Some((form, path)) =
                shots(aim, brief.roots, canaries, &nonce, wide).into_iter().nth(at)
            else {
                break;
            };
            set += usize::from(at > 0 && !(free && form == "absolute path"));
            attempts.extend(attempt(aim, brief, (set, form), nonce, path));
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let free = paths::free(trial.view, trial.aim, &trial.view.knowledge.roots);
        let mut hits: Vec<Hit> = Vec::new();
        for (_, set) in trial.sets() {
            let seen: Vec<(&Tried, &Path)> =
                set.iter().filter_map(|tried| Some((*tried, written(tried)?))).collect();
            let by_absolute =
                seen.iter().any(|(tried, _)| paths::fault(&tried.attempt.form) == "absolute");
            for (tried, path) in seen {
                hits.push(hit(trial, tried, path, free.as_ref().filter(|_| by_absolute)));
            }
        }
        paths::without_spellings(hits)
    }
}

/// All paths for one mark, in the same order for each mark.
fn shots(
    aim: &Aim,
    roots: &[PathBuf],
    canaries: &CanaryFiles,
    nonce: &Nonce,
    wide: bool,
) -> Vec<(&'static str, String)> {
    let innocent = reach::innocent(aim);
    let ending = innocent.as_deref().and_then(|text| Path::new(text).extension()?.to_str());
    let file = format!("{nonce}.{}", ending.unwrap_or("txt"));
    let forms = paths::forms(&canaries.drop.join(&file), roots);
    let mut shots: Vec<(&'static str, String)> = forms
        .into_iter()
        .filter(|form| wide || PLAIN.contains(&form.fault))
        // A server that treats these as plain names would create unexpected folders.
        .filter(|form| !matches!(form.fault, "backslash" | "uri"))
        .map(|form| (form.words, form.path))
        .collect();
    if !wide {
        return shots;
    }
    let local = |root: &Path, path: &Path| match &innocent {
        Some(text) if !text.starts_with('/') => paths::relative(root, path),
        _ => path.display().to_string(),
    };
    if let Some((root, sibling)) = canaries.siblings.iter().next() {
        let path = sibling.with_file_name(&file);
        shots.push(("sibling folder with the root name as prefix", local(root, &path)));
    }
    if let Some((root, folder_link)) = canaries.folder_links.iter().next() {
        shots.push(("symbolic link to a folder", local(root, &folder_link.join(&file))));
    }
    if let Some((root, file_link)) = canaries.file_links.iter().next() {
        shots.push(("symbolic link to a file", local(root, file_link)));
    }
    shots
}

/// The call that writes. Its content contains the mark, and the source of a move exists.
fn attempt(
    aim: &Aim,
    brief: &Brief<'_>,
    of: (usize, &'static str),
    nonce: Nonce,
    path: String,
) -> Option<Attempt> {
    let mark = nonce.to_string();
    let mut attempt = reach::attempt(aim, of, nonce, path)?;
    let Action::Steps { steps, .. } = &mut attempt.action else { return None };
    let Some(Step::Call(call)) = steps.last_mut() else { return None };
    let own = match &aim.place {
        Place::Argument { pointer, .. } => pointer.clone(),
        _ => return None,
    };
    let mut args = Value::Object(std::mem::take(&mut call.args));
    fill(&mut args, "", &own, &mark);
    if let Value::Object(args) = args {
        call.args = args;
    }
    let source = source(&call.args, &own);
    let fresh = source.and_then(|key| {
        let view = brief.view?;
        let (step, name) = create(view, aim.place.server(), &mark)?;
        call.args.insert(key, Value::String(name));
        Some(step)
    });
    if let Some(step) = fresh {
        steps.insert(0, step);
    }
    Some(attempt)
}

/// Puts the mark into every argument with the content to write.
fn fill(value: &mut Value, at: &str, own: &str, mark: &str) {
    match value {
        Value::Object(entries) => {
            for (key, below) in entries {
                let pointer = format!("{at}/{}", json_value::pointer_token(key));
                let holds = words(key).last().is_some_and(|word| CONTENTS.contains(&word.as_str()));
                match below {
                    Value::String(text) if holds && pointer != own => {
                        text.clone_from(&format!("quintain {mark}\n"));
                    }
                    _ => fill(below, &pointer, own, mark),
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                fill(item, &format!("{at}/{index}"), own, mark);
            }
        }
        _ => {}
    }
}

/// The argument with the source of a move or copy.
fn source(args: &Map<String, Value>, own: &str) -> Option<String> {
    let is_source = |key: &String| words(key).iter().any(|word| SOURCES.contains(&word.as_str()));
    let key = args.iter().find(|(key, value)| is_source(key) && value.is_string())?.0;
    (own != format!("/{key}")).then(|| key.clone())
}

/// A call of another tool that creates a file inside the root, and the name of the file. Every attempt needs a new
/// file, since the previous one was moved.
fn create(view: &TargetView<'_>, server: &str, mark: &str) -> Option<(Step, String)> {
    let baselines = view.knowledge.baselines.iter().filter(|known| known.server == server);
    baselines.into_iter().find_map(|known| {
        let Step::Call(call) = &known.step else { return None };
        let tool = view.tool(server, &call.tool)?;
        if !tool_actions::writes(tool)
            || !tool_actions::may_call(view, tool)
            || source(&call.args, "").is_some()
        {
            return None;
        }
        let is_path = |key: &str| {
            let is = |word: &String| ["path", "name", "filename", "file"].contains(&word.as_str());
            words(key).last().is_some_and(is)
        };
        let (key, value) =
            call.args.iter().find(|(key, value)| is_path(key) && value.is_string())?;
        let innocent = Path::new(value.as_str()?);
        let ending = innocent.extension().and_then(|ending| ending.to_str()).unwrap_or("txt");
        let name = format!("source-{mark}.{ending}");
        let name = paths::renamed(innocent, &name, &view.knowledge.roots);
        let name = name.display().to_string();
        let mut call = call.clone();
        call.args.insert(key.clone(), Value::String(name.clone()));
        Some((Step::Call(call), name))
    })
}

/// The file outside all roots with the mark.
fn written(tried: &Tried) -> Option<&Path> {
    let nonce = tried.attempt.nonce.as_str();
    tried.evidence.observations.iter().find_map(|observation| match observation {
        Observation::File { path, content } => {
            let named = path.to_str().is_some_and(|path| path.contains(nonce));
            let source = path.to_str().is_some_and(|path| path.contains("source-"));
            ((named && !source) || content.contains(nonce)).then_some(path.as_path())
        }
        _ => None,
    })
}

fn hit(trial: &Trial<'_>, tried: &Tried, path: &Path, free: Option<&Free>) -> Hit {
    let (place, form) = (&trial.aim.place, &tried.attempt.form);
    let what = format!("the file {} appeared with the random mark of the attempt", path.display());
    if let Some(free) = free {
        return free.hit(place, "writes", form, what).by(tried);
    }
    let title =
        format!("Path traversal in `{place}` writes files outside the allowed folder ({form})");
    Hit::confirmed(title, what).by(tried).fault(paths::fault(form))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, args};

    fn room() -> TestTarget {
        let schema = json!({"type": "object", "required": ["path", "content"], "properties": {
            "path": {"type": "string"}, "content": {"type": "string"}}});
        let mut room =
            TestTarget::of_tools(&[json!({"name": "write_file", "inputSchema": schema})]);
        room.knowledge.roots = vec!["/srv/data".into()];
        room.canaries.siblings.insert("/srv/data".into(), "/srv/data-x/canary.txt".into());
        room.canaries.folder_links.insert("/srv/data".into(), "/srv/data/door".into());
        room.canaries.file_links.insert("/srv/data".into(), "/srv/data/sink".into());
        let innocent = json!({"path": "a.csv", "content": "x"}).as_object().unwrap().clone();
        room.works("write_file", innocent, &answers("ok"));
        room
    }

    /// The faults found at a server that writes the paths that `lets` accepts.
    fn writing(room: &TestTarget, lets: impl Fn(&str) -> bool) -> Vec<&'static str> {
        let hits = room.run_attack(&PathWrite, |attempt| {
            let mut evidence = answers("Saved.");
            let args = args(attempt);
            let (path, content) =
                (args["path"].as_str().unwrap(), args["content"].as_str().unwrap());
            if lets(path) {
                let (path, content) = (path.into(), content.to_owned());
                evidence.observations.push(Observation::File { path, content });
            }
            evidence
        });
        let mut faults: Vec<_> = hits.iter().map(|hit| hit.fault).collect();
        faults.sort_unstable();
        faults.dedup();
        faults
    }

    #[test]
    fn a_file_that_appears_outside_is_proof() {
        let room = room();
        assert_eq!(writing(&room, |path| path.starts_with("../../")), ["relative"]);
        assert_eq!(writing(&room, |path| path.starts_with("/canaries")), ["absolute"]);
        assert_eq!(writing(&room, |path| path.starts_with("../data-x/")), ["sibling"]);
        assert_eq!(writing(&room, |path| path.starts_with("door/")), ["link"]);
        assert_eq!(writing(&room, |path| path == "sink"), ["link"]);
        assert_eq!(writing(&room, |_| true), ["absolute", "link", "relative"]);
    }

    #[test]
    fn what_the_answer_says_is_none() {
        let room = room();
        let echo = |attempt: &Attempt| answers(&format!("Wrote {:?}", attempt.payload));
        assert!(room.run_attack(&PathWrite, echo).is_empty());
        assert!(room.run_attack(&PathWrite, |_| Evidence::default()).is_empty());
        let other = |_: &Attempt| {
            let mut evidence = answers("ok");
            let (path, content) = ("/canaries/drop/x".into(), "y".to_owned());
            evidence.observations.push(Observation::File { path, content });
            evidence
        };
        assert!(room.run_attack(&PathWrite, other).is_empty());
    }

    #[test]
    fn no_declared_folder_is_by_design() {
        let mut room = room();
        room.knowledge.roots.clear();
        assert_eq!(writing(&room, |_| true), ["unrestricted"]);
        assert_eq!(writing(&room, |path| path.starts_with("../")), ["relative"]);
    }

    #[test]
    fn what_is_moved_is_made_first() {
        let mut room = room();
        let schema = json!({"type": "object", "properties": {
            "source": {"type": "string"}, "destination": {"type": "string"}}});
        let tool = json!({"name": "move_file", "inputSchema": schema});
        room.surfaces[0].1.tools.push(quintain_evidence::surface::Tool(tool));
        let innocent = json!({"source": "a.csv", "destination": "b.csv"});
        room.works("move_file", innocent.as_object().unwrap().clone(), &answers("ok"));
        let view = room.view();
        let aims = PathWrite.aims(&view);
        let aim = aims.iter().find(|aim| aim.place.to_string() == "move_file.destination").unwrap();
        assert!(!aims.iter().any(|aim| aim.place.to_string() == "move_file.source"));
        let attempt = &PathWrite.attempts(aim, &room.brief().on(&view))[0];
        let Action::Steps { steps, .. } = &attempt.action else { panic!() };
        assert_eq!(steps.len(), 2);
        let source = args(attempt)["source"].as_str().unwrap().to_owned();
        assert!(source.contains(attempt.nonce.as_str()));
        assert!(matches!(&steps[0], Step::Call(call) if call.args["path"] == source));
    }

    #[test]
    fn what_reads_is_left_alone() {
        assert!(
            PathWrite.aims(&TestTarget::with_argument("read_file", "path", "a").view()).is_empty()
        );
    }
}
