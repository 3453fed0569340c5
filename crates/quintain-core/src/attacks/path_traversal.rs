//! Paths that lead out of the folder that a server is confined to, for reading.

mod prefix;

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::accepted::accepted;
use super::paths::{self, PLAIN};
use super::{deeds, reach};
use crate::attack::{
    Aim, Attack, Attempt, Bout, Brief, Facts, Field, Ground, Hit, Kind, Sign, Tried,
};
use crate::finding::{Place, Severity};
use crate::knowledge::words;
use crate::registry::Meta;

pub(super) struct PathTraversal;

static META: Meta = Meta {
    id: "path-traversal",
    aliases: &["path-traversal-read", "directory-traversal", "lfi"],
    summary: "A path leads out of the folder that a server is confined to",
    docs: "\
# What it does
Plants a file with random text outside of every folder that the target declares, and asks for it through everything that may be a
path: arguments of tools, items of lists, variables of resource templates, free URIs, arguments of prompts, completions. Each form
that needs another fix is a finding of its own: relative path, absolute path, dots behind the path of the root, a sibling folder whose
name begins with that of the root, a symbolic link inside of the root, encoded dots, backslashes, dots that survive their removal, a
null byte, a file URI. Where no folder is declared, so that nothing can be planted beside it, its name is guessed from what the tool
says, and the guard is asked about folders whose names begin and end so.

# Why it matters
A server that may read a folder then reads keys, tokens and the data of other users.

# What counts as proof
The random text of the planted file in an answer, or its name in the list of a folder. An error that quotes the path proves nothing. If
a file that exists is answered in another way than one that does not, that is suspected. A server that declares no folder, with an
argument that is a path and claims no limits, is unrestricted by design: that is told, as low.

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

static FACTS: Facts = Facts {
    severity: Severity::High,
    cwe: &[22, 59],
    frameworks: &["MCP05", "MCP10", "ASI02", "LLM02"],
    needs: &[crate::attack::Need::SameHost],
};

const KINDS: [Kind; 5] = [Kind::Path, Kind::Name, Kind::Url, Kind::Id, Kind::Other];
const FOLDERS: [&str; 7] = ["dir", "directory", "folder", "cwd", "workspace", "root", "repo"];
/// The part of an attempt that asks for what is not there.
const ABSENT: &str = "absent";
/// Schemes of listed resources that are tried.
const MAX_SCHEMES: usize = 2;

/// One thing to send: its set is its position, unless it belongs to the one before.
struct Shot {
    form: String,
    payload: String,
    /// Texts of which each is proof, one per line.
    role: String,
    joined: bool,
    /// Put behind an innocent item, if the place is in a list.
    later: bool,
}

impl Attack for PathTraversal {
    fn meta(&self) -> Meta {
        META
    }

    fn facts(&self) -> Facts<'static> {
        FACTS
    }

    fn aims(&self, field: &Field<'_>) -> Vec<Aim> {
        let mut aims = field.texts(&KINDS, false);
        aims.retain(|aim| is_worth_it(field, aim));
        aims.extend(other_places(field));
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(ground) = brief.ground else { return Vec::new() };
        // What is inside of a root may be read.
        if paths::is_below(&ground.canary, brief.roots) {
            return Vec::new();
        }
        let mut set = 0;
        let mut attempts = Vec::new();
        for (at, shot) in shots(aim, brief, ground).into_iter().enumerate() {
            set += usize::from(at > 0 && !shot.joined);
            let later = shot.later.then(|| second_item(aim)).flatten();
            let aim = later.as_ref().unwrap_or(aim);
            let made = reach::attempt(aim, (set, &shot.form), brief.nonce(), shot.payload);
            attempts.extend(made.map(|attempt| Attempt { role: shot.role, ..attempt }));
        }
        attempts.extend(prefix::attempts(aim, brief, set));
        attempts
    }

    fn expects(&self, set: &[Attempt], _: &Field<'_>) -> Option<(usize, Sign)> {
        let at = set.iter().position(|attempt| attempt.role != ABSENT)?;
        set[at].foretells().map(|sign| (at, sign))
    }

    fn detect(&self, bout: &Bout<'_>) -> Vec<Hit> {
        let free = paths::is_free(bout.field, bout.aim, &bout.field.knowledge.roots);
        let mut hits: Vec<Hit> = Vec::new();
        for (_, set) in bout.sets() {
            let seen: Vec<(&Tried, String)> =
                set.iter().filter_map(|tried| Some((*tried, proof(bout, tried)?))).collect();
            let by_absolute =
                seen.iter().any(|(tried, _)| paths::fault(&tried.attempt.form) == "absolute");
            for (tried, what) in &seen {
                hits.push(hit(bout, tried, what.clone(), free && by_absolute));
            }
            if seen.is_empty() {
                hits.extend(existence(bout, &set));
            }
        }
        hits.extend(prefix::hits(bout));
        paths::without_spellings(hits)
    }
}

/// Whether an argument may be the path of something that is read. What writes must not meet the canary.
fn is_worth_it(field: &Field<'_>, aim: &Aim) -> bool {
    if matches!(aim.place, Place::Argument { .. }) {
        let Some(tool) = deeds::tool_of(field, aim) else { return false };
        if deeds::writes(tool) || deeds::is_output(aim) {
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

/// URIs that nobody listed, and what is completed.
fn other_places(field: &Field<'_>) -> Vec<Aim> {
    let aim = |place: Place| Aim {
        place,
        baseline: None,
        kinds: vec![Kind::Path],
        schema: Value::Null,
        by_design: None,
        draft: None,
    };
    let mut aims = Vec::new();
    for (server, surface) in field.surfaces {
        let listed = !surface.resources.is_empty() || !surface.templates.is_empty();
        if listed || surface.declares("resources") {
            aims.push(aim(Place::Uri { server: server.clone() }));
        }
        if !surface.declares("completions") {
            continue;
        }
        for known in &field.knowledge.aims {
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

fn shots(aim: &Aim, brief: &Brief<'_>, ground: &Ground) -> Vec<Shot> {
    let shot = |form: &str, payload: String, role: &str| Shot {
        form: form.to_owned(),
        payload,
        role: role.to_owned(),
        joined: false,
        later: false,
    };
    let innocent = reach::innocent(aim);
    let folder = is_folder(brief, aim);
    let (target, role) = target(ground, innocent.as_deref(), folder);
    let role = role.as_str();
    let by_root = |map: &std::collections::BTreeMap<PathBuf, PathBuf>| {
        map.iter().next().map(|(root, path)| (root.clone(), path.clone()))
    };
    let sibling = by_root(&ground.siblings).map(|(root, file)| {
        (root, if folder { file.parent().map(Path::to_owned).unwrap_or(file) } else { file })
    });
    let link = by_root(&ground.links).filter(|_| !folder);
    if takes_file_uris(aim) {
        return uris(aim, brief, &target, (sibling, link), role);
    }
    let forms = paths::forms(&target, brief.roots);
    if matches!(aim.place, Place::Completion { .. }) {
        let plain = forms.into_iter().take(2);
        return plain.map(|form| shot(form.words, form.path + "/", role)).collect();
    }
    let narrow = !aim.is(Kind::Path) && !matches!(aim.place, Place::Variable { .. });
    let is_free = brief.field.is_some_and(|field| paths::is_free(field, aim, brief.roots));
    let mut shots = Vec::new();
    for form in &forms {
        if narrow && !PLAIN.contains(&form.fault) && form.words != "URL-encoded" {
            continue;
        }
        let mut next = shot(form.words, form.path.clone(), role);
        next.joined = is_free && form.words == "absolute path";
        shots.push(next);
    }
    let deep = &forms[0].path;
    if let Some(stem) = stem(ground, &target, folder) {
        let path = paths::forms(&stem, &[]).swap_remove(0).path;
        shots.push(shot("relative path without an ending", path, role));
    }
    if narrow {
        return shots;
    }
    if matches!(aim.place, Place::Variable { .. }) {
        let tail = target.display().to_string().trim_start_matches('/').to_owned();
        shots.push(shot("absolute path without its first separator", tail, role));
    }
    // As the tool likes its paths; if that is not known, in full.
    let local = |root: &Path, path: &Path| match &innocent {
        Some(text) if !text.starts_with('/') => paths::relative(root, path),
        _ => path.display().to_string(),
    };
    if let Some((root, path)) = sibling {
        shots.push(shot("sibling with the prefix of the root", local(&root, &path), role));
    }
    if let Some((root, path)) = link {
        shots.push(shot("symbolic link inside of the root", local(&root, &path), role));
    }
    if !folder {
        let ending = innocent.as_deref().and_then(|text| Path::new(text).extension());
        let ending = ending.and_then(|ending| ending.to_str()).unwrap_or("txt");
        shots.push(shot("null byte before an ending", format!("{deep}\0.{ending}"), role));
        let absent = target.with_file_name(format!("{}.txt", brief.nonce()));
        let absent = paths::forms(&absent, &[]);
        for at in [0, 1] {
            // Whether a file that is not there is answered in another way.
            let mut pair = shot(absent[at].words, absent[at].path.clone(), ABSENT);
            pair.joined = true;
            let behind = shots.iter().position(|shot| shot.form == absent[at].words);
            shots.insert(behind.map_or(shots.len(), |behind| behind + 1), pair);
        }
    }
    if second_item(aim).is_some() {
        for form in forms.iter().take(2) {
            let words = format!("{}, second item of a list", form.words);
            shots.push(Shot { later: true, ..shot(&words, form.path.clone(), role) });
        }
    }
    shots
}

/// A root, and what was planted beside or inside of it.
type OfRoot = Option<(PathBuf, PathBuf)>;

/// Paths inside of URIs.
fn uris(
    aim: &Aim,
    brief: &Brief<'_>,
    target: &Path,
    (sibling, link): (OfRoot, OfRoot),
    role: &str,
) -> Vec<Shot> {
    let mut shots = Vec::new();
    let mut add = |form: &str, payload: String| {
        let (form, role) = (form.to_owned(), role.to_owned());
        shots.push(Shot { form, payload, role, joined: false, later: false });
    };
    add("absolute path", format!("file://{}", target.display()));
    if let Some(root) = brief.roots.first() {
        let up = paths::relative(root, target);
        add("dots behind the path of the root", format!("file://{}/{up}", root.display()));
        let encoded = paths::encoded(&up);
        add("URL-encoded", format!("file://{}/{encoded}", root.display()));
    }
    if let Some((_, path)) = sibling {
        add("sibling with the prefix of the root", format!("file://{}", path.display()));
    }
    if let Some((_, path)) = link {
        add("symbolic link inside of the root", format!("file://{}", path.display()));
    }
    if let (Place::Uri { server }, Some(field)) = (&aim.place, brief.field) {
        for scheme in schemes(field, server) {
            for form in paths::forms(target, &[]).iter().take(3) {
                add(form.words, format!("{scheme}://{}", form.path));
            }
        }
    }
    shots
}

/// Schemes of the resources of a server, other than `file`. Templates are attacked by their variables.
fn schemes(field: &Field<'_>, server: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let surfaces = field.surfaces.iter().filter(|(of, _)| of == server);
    for resource in surfaces.flat_map(|(_, surface)| &surface.resources) {
        let scheme = resource.uri().and_then(|uri| uri.split_once("://")).map(|(scheme, _)| scheme);
        let Some(scheme) = scheme.filter(|s| !["file", "http", "https"].contains(s)) else {
            continue;
        };
        if !found.iter().any(|known| known == scheme) && found.len() < MAX_SCHEMES {
            found.push(scheme.to_owned());
        }
    }
    found
}

/// What is asked for, and what proves that it was read.
fn target(ground: &Ground, innocent: Option<&str>, folder: bool) -> (PathBuf, String) {
    let name = ground.canary.file_name().unwrap_or_default().to_string_lossy();
    if folder {
        let parent = ground.canary.parent().unwrap_or(&ground.root).to_owned();
        return (parent, format!("{}\n{name}", ground.canary_text));
    }
    let ending = innocent.and_then(|text| Path::new(text).extension()).and_then(|e| e.to_str());
    let ending = ending.filter(|wanted| ground.endings.iter().any(|ending| ending == wanted));
    let target =
        ending.map_or(ground.canary.clone(), |ending| ground.canary.with_extension(ending));
    (target, ground.canary_text.clone())
}

/// The canary without an ending, for servers that add their own.
fn stem(ground: &Ground, target: &Path, folder: bool) -> Option<PathBuf> {
    (!folder && !ground.endings.is_empty()).then(|| target.with_extension(""))
}

fn is_folder(brief: &Brief<'_>, aim: &Aim) -> bool {
    let of_folder = |word: &String| FOLDERS.contains(&word.as_str());
    matches!(aim.place, Place::Completion { .. })
        || words(&deeds::last_name(aim)).iter().any(of_folder)
        || brief.field.and_then(|field| deeds::tool_of(field, aim)).is_some_and(deeds::lists)
}

/// The same place, one item further in its list.
fn second_item(aim: &Aim) -> Option<Aim> {
    let Place::Argument { server, tool, pointer } = &aim.place else { return None };
    reach::innocent(aim)?;
    let pointer = format!("{}/1", pointer.strip_suffix("/0")?);
    let place = Place::Argument { server: server.clone(), tool: tool.clone(), pointer };
    Some(Aim { place, ..aim.clone() })
}

fn proof(bout: &Bout<'_>, tried: &Tried) -> Option<String> {
    let role = &tried.attempt.role;
    if role == ABSENT {
        return None;
    }
    let said = tried.said();
    let sent = tried.attempt.payload.as_ref().and_then(Value::as_str).unwrap_or_default();
    let normally = bout.baseline().map(|exchange| exchange.outcome.said()).unwrap_or_default();
    let proves = |mark: &&str| {
        !mark.is_empty()
            && said.contains(*mark)
            && !sent.contains(*mark)
            && !normally.contains(*mark)
    };
    let mark = role.lines().find(proves)?;
    Some(if role.lines().next() == Some(mark) {
        format!("the answer holds {mark}, which stands in a file that was planted outside")
    } else {
        format!("the answer names {mark}, a file in a folder outside")
    })
}

fn hit(bout: &Bout<'_>, tried: &Tried, what: String, free: bool) -> Hit {
    let form = &tried.attempt.form;
    if free {
        let title = format!("{} reads any file; no folder is declared ({form})", bout.aim.place);
        return Hit::confirmed(title, what)
            .by(tried)
            .fault("unrestricted")
            .said(tried, tried.attempt.role.lines().next().unwrap_or_default())
            .severity(Severity::Low)
            .note("the server declares no folder that it is confined to: unrestricted by design");
    }
    // A variable of a URI can hold separators in no other way.
    let is_variable = matches!(bout.aim.place, Place::Variable { .. });
    let fault = match paths::fault(form) {
        "encoded" if is_variable && form == "URL-encoded" => "relative",
        other => other,
    };
    let later = form.contains("second item").then(|| second_item(bout.aim)).flatten();
    let place = later.map_or(bout.aim.place.clone(), |aim| aim.place);
    let title = format!("{place} reads outside of the folder that it is confined to ({form})");
    let canary = tried.attempt.role.lines().next().unwrap_or_default();
    Hit::confirmed(title, what).by(tried).fault(fault).at(place).said(tried, canary)
}

/// A file that exists is answered in another way than one that does not.
fn existence(bout: &Bout<'_>, set: &[&Tried]) -> Option<Hit> {
    let (absent, there): (Vec<&&Tried>, Vec<&&Tried>) =
        set.iter().partition(|tried| tried.attempt.role == ABSENT);
    // Two questions of two forms may share a set: each is compared with its own.
    there.into_iter().find_map(|tried| {
        let other = absent.iter().find(|absent| absent.attempt.form == tried.attempt.form)?;
        let (yes, no) = (tried.last()?, other.last()?);
        if !accepted(&yes.outcome) || accepted(&no.outcome) || !no.outcome.is_answer() {
            return None;
        }
        if paths::is_free(bout.field, bout.aim, &bout.field.knowledge.roots) {
            return None;
        }
        let form = &tried.attempt.form;
        let title = format!("{} seems to reach files outside ({form})", bout.aim.place);
        let what = "a planted file outside is answered, one that does not exist is refused";
        let hit = Hit::suspected(title, what).by(tried).severity(Severity::Medium);
        Some(hit.fault(if paths::fault(&tried.attempt.form) == "absolute" {
            "absolute"
        } else {
            "relative"
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::testing::{Room, answers, args, comes};
    use crate::evidence::{Evidence, Outcome};
    use serde_json::json;

    const ROOT: &str = "/srv/data";

    fn room(tool: &str, argument: &str, innocent: &str) -> Room {
        let mut room = Room::with_argument(tool, argument, innocent);
        room.knowledge.roots = vec![ROOT.into()];
        room.ground.siblings.insert(ROOT.into(), "/srv/data-x/canary.txt".into());
        room.ground.links.insert(ROOT.into(), "/srv/data/link".into());
        room.ground.endings = vec!["md".into(), String::new()];
        room
    }

    fn refused(path: &str) -> Evidence {
        let text = format!("Access denied: {path}");
        comes(Outcome::ToolError(json!({"content": [{"type": "text", "text": text}]})))
    }

    /// A server that reads what the predicate lets through.
    fn reading(room: &Room, lets: impl Fn(&str) -> bool) -> Vec<Hit> {
        room.fight(&PathTraversal, |attempt| {
            let path = attempt.payload.as_ref().unwrap().as_str().unwrap();
            if lets(path) { answers(&room.ground.canary_text) } else { refused(path) }
        })
    }

    fn faults(hits: &[Hit]) -> Vec<&'static str> {
        let mut faults: Vec<_> = hits.iter().map(|hit| hit.fault).collect();
        faults.sort_unstable();
        faults.dedup();
        faults
    }

    #[test]
    fn each_fix_that_is_missing_is_a_fault_of_its_own() {
        let room = room("read_file", "path", "a.txt");
        let of = |lets: fn(&str) -> bool| faults(&reading(&room, lets));
        assert_eq!(of(|path| path.starts_with("../") && path.contains("ground")), ["relative"]);
        assert_eq!(of(|path| path.starts_with("/ground")), ["absolute"]);
        assert_eq!(of(|path| path == "../data-x/canary.txt"), ["sibling"]);
        assert_eq!(of(|path| path == "link"), ["link"]);
        assert_eq!(of(|path| path.starts_with("%2e")), ["encoded"]);
        assert_eq!(of(|path| path.starts_with("/srv/data/..")), ["dots"]);
        assert_eq!(of(|path| path.starts_with("....//")), ["stripped"]);
        assert_eq!(of(|path| path.contains('\0')), ["null"]);
    }

    #[test]
    fn other_spellings_say_nothing_where_nothing_is_checked() {
        let hits = reading(&room("read_file", "path", "a.txt"), |_| true);
        assert_eq!(faults(&hits), ["absolute", "link", "relative"]);
        assert!(hits.iter().all(|hit| hit.severity.is_none()));
        assert!(hits[0].title.contains("read_file.path"), "{}", hits[0].title);
    }

    #[test]
    fn refusals_and_echoes_are_no_proof() {
        let room = room("read_file", "path", "a.txt");
        assert!(reading(&room, |_| false).is_empty());
        let echo = |attempt: &Attempt| answers(&attempt.payload.as_ref().unwrap().to_string());
        assert!(room.fight(&PathTraversal, echo).is_empty());
        assert!(room.fight(&PathTraversal, |_| answers("ok")).is_empty());
        assert!(room.fight(&PathTraversal, |_| Evidence::default()).is_empty());
    }

    #[test]
    fn a_server_without_a_folder_is_unrestricted_by_design() {
        let mut room = room("read_file", "path", "/tmp/a.txt");
        room.knowledge.roots.clear();
        room.ground.siblings.clear();
        room.ground.links.clear();
        let hits = reading(&room, |_| true);
        assert_eq!(faults(&hits), ["unrestricted"]);
        assert!(hits.iter().all(|hit| hit.note.is_some() && hit.severity == Some(Severity::Low)));
        // Who refuses an absolute path has a folder, declared or not.
        let hits = reading(&room, |path| path.starts_with("../"));
        assert_eq!(faults(&hits), ["relative"]);
        assert!(hits[0].note.is_none());
    }

    #[test]
    fn the_name_of_a_thing_is_no_free_path() {
        let mut room = room("get_note", "note_name", "todo");
        room.knowledge.roots.clear();
        let hits = reading(&room, |path| path.starts_with("../"));
        assert_eq!(faults(&hits), ["relative"]);
        assert!(hits[0].note.is_none());
    }

    #[test]
    fn a_listed_folder_is_proved_by_a_name_that_was_not_sent() {
        let room = room("list_directory", "path", "sub");
        let list = |attempt: &Attempt| {
            let path = attempt.payload.as_ref().unwrap().as_str().unwrap().to_owned();
            if path.ends_with("ground") { answers("[FILE] canary.txt") } else { refused(&path) }
        };
        assert!(faults(&room.fight(&PathTraversal, list)).contains(&"relative"));
        let echo = |attempt: &Attempt| answers(&attempt.payload.as_ref().unwrap().to_string());
        assert!(room.fight(&PathTraversal, echo).is_empty());
    }

    #[test]
    fn later_items_of_a_list_are_tried_behind_an_innocent_one() {
        let schema = json!({"type": "object", "properties": {
            "paths": {"type": "array", "items": {"type": "string"}}}});
        let mut room = Room::of_tools(&[json!({"name": "read_many", "inputSchema": schema})]);
        room.knowledge.roots = vec![ROOT.into()];
        let innocent = json!({"paths": ["a.txt"]}).as_object().unwrap().clone();
        room.works("read_many", innocent, &answers("ok"));
        let hits = room.fight(&PathTraversal, |attempt| {
            let paths = args(attempt)["paths"].as_array().unwrap().clone();
            if paths[0] == "a.txt" && paths.len() > 1 {
                answers(&room.ground.canary_text)
            } else {
                refused("x")
            }
        });
        let place = hits[0].place.as_ref().unwrap().to_string();
        assert_eq!(place, "read_many /paths/1");
    }

    #[test]
    fn what_writes_is_left_alone() {
        let room = room("write_file", "path", "a.txt");
        assert!(PathTraversal.aims(&room.field()).is_empty());
    }

    #[test]
    fn an_answer_that_tells_existence_is_suspected() {
        let room = room("file_info", "path", "a.txt");
        let hits = room.fight(&PathTraversal, |attempt| {
            let path = attempt.payload.as_ref().unwrap().as_str().unwrap();
            if path.ends_with("/ground/canary.txt") { answers("size 12") } else { refused(path) }
        });
        assert!(!hits.is_empty());
        let suspected = crate::finding::Confidence::Suspected;
        assert!(hits.iter().all(|hit| hit.confidence == suspected), "{hits:?}");
    }

    #[test]
    fn a_canary_inside_of_a_root_proves_nothing() {
        let mut room = room("read_file", "path", "a.txt");
        room.knowledge.roots.push("/ground".into());
        assert!(reading(&room, |_| true).is_empty());
    }

    #[test]
    fn attempts_are_few_and_the_same_each_time() {
        let room = room("read_file", "path", "a.txt");
        let field = room.field();
        let aim = &PathTraversal.aims(&field)[0];
        let forms = || {
            let brief = room.brief().on(&field);
            let attempts = PathTraversal.attempts(aim, &brief);
            attempts.into_iter().map(|a| (a.set, a.form)).collect::<Vec<_>>()
        };
        assert_eq!(forms(), forms());
        assert!(forms().len() <= 16, "{}", forms().len());
    }
}
