//! Confirmed, suspected and missing proofs.

use quintain_evidence::evidence::{Evidence, Outcome};
use serde_json::json;

use super::*;
use crate::attacks::testing::{TestTarget, answers, args, comes};

const ROOT: &str = "/srv/data";

fn room(tool: &str, argument: &str, innocent: &str) -> TestTarget {
    let mut room = TestTarget::with_argument(tool, argument, innocent);
    room.knowledge.roots = vec![ROOT.into()];
    room.canaries.siblings.insert(ROOT.into(), "/srv/data-x/canary.txt".into());
    room.canaries.links.insert(ROOT.into(), "/srv/data/link".into());
    room.canaries.endings = vec!["md".into(), String::new()];
    room
}

fn refused(path: &str) -> Evidence {
    let text = format!("Access denied: {path}");
    comes(Outcome::ToolError(json!({"content": [{"type": "text", "text": text}]})))
}

/// The hits at a server that reads the paths that `lets` accepts.
fn reading(room: &TestTarget, lets: impl Fn(&str) -> bool) -> Vec<Hit> {
    room.run_attack(&PathTraversal, |attempt| {
        let path = attempt.payload.as_ref().unwrap().as_str().unwrap();
        if lets(path) { answers(&room.canaries.canary_text) } else { refused(path) }
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
    assert_eq!(of(|path| path.starts_with("../") && path.contains("canaries")), ["relative"]);
    assert_eq!(of(|path| path.starts_with("/canaries")), ["absolute"]);
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
    assert!(room.run_attack(&PathTraversal, echo).is_empty());
    assert!(room.run_attack(&PathTraversal, |_| answers("ok")).is_empty());
    assert!(room.run_attack(&PathTraversal, |_| Evidence::default()).is_empty());
}

#[test]
fn a_server_without_a_folder_is_unrestricted_by_design() {
    let mut room = room("read_file", "path", "/tmp/a.txt");
    room.knowledge.roots.clear();
    room.canaries.siblings.clear();
    room.canaries.links.clear();
    let hits = reading(&room, |_| true);
    assert_eq!(faults(&hits), ["unrestricted"]);
    assert!(hits.iter().all(|hit| hit.note.is_some() && hit.severity == Some(Severity::Low)));
    // A server that refuses an absolute path has an allowed folder, declared or not.
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
        if path.ends_with("canaries") { answers("[FILE] canary.txt") } else { refused(&path) }
    };
    assert!(faults(&room.run_attack(&PathTraversal, list)).contains(&"relative"));
    let echo = |attempt: &Attempt| answers(&attempt.payload.as_ref().unwrap().to_string());
    assert!(room.run_attack(&PathTraversal, echo).is_empty());
}

#[test]
fn later_items_of_a_list_are_tried_behind_an_innocent_one() {
    let schema = json!({"type": "object", "properties": {
        "paths": {"type": "array", "items": {"type": "string"}}}});
    let mut room = TestTarget::of_tools(&[json!({"name": "read_many", "inputSchema": schema})]);
    room.knowledge.roots = vec![ROOT.into()];
    let innocent = json!({"paths": ["a.txt"]}).as_object().unwrap().clone();
    room.works("read_many", innocent, &answers("ok"));
    let hits = room.run_attack(&PathTraversal, |attempt| {
        let paths = args(attempt)["paths"].as_array().unwrap().clone();
        if paths[0] == "a.txt" && paths.len() > 1 {
            answers(&room.canaries.canary_text)
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
    assert!(PathTraversal.aims(&room.view()).is_empty());
}

#[test]
fn an_answer_that_tells_existence_is_suspected() {
    let room = room("file_info", "path", "a.txt");
    let hits = room.run_attack(&PathTraversal, |attempt| {
        let path = attempt.payload.as_ref().unwrap().as_str().unwrap();
        if path.ends_with("/canaries/canary.txt") { answers("size 12") } else { refused(path) }
    });
    assert!(!hits.is_empty());
    let suspected = quintain_evidence::finding::Confidence::Suspected;
    assert!(hits.iter().all(|hit| hit.confidence == suspected), "{hits:?}");
}

#[test]
fn a_canary_inside_of_a_root_proves_nothing() {
    let mut room = room("read_file", "path", "a.txt");
    room.knowledge.roots.push("/canaries".into());
    assert!(reading(&room, |_| true).is_empty());
}

#[test]
fn attempts_are_few_and_the_same_each_time() {
    let room = room("read_file", "path", "a.txt");
    let view = room.view();
    let aim = &PathTraversal.aims(&view)[0];
    let forms = || {
        let brief = room.brief().on(&view);
        let attempts = PathTraversal.attempts(aim, &brief);
        attempts.into_iter().map(|a| (a.set, a.form)).collect::<Vec<_>>()
    };
    assert_eq!(forms(), forms());
    assert!(forms().len() <= 16, "{}", forms().len());
}

/// A server with one tool that takes files in and one that returns them.
fn taking(tool: &str, innocent: &Value) -> TestTarget {
    let properties: serde_json::Map<String, Value> = innocent
        .as_object()
        .unwrap()
        .keys()
        .map(|key| (key.clone(), json!({"type": "string"})))
        .collect();
    let mut room = TestTarget::of_tools(&[
        json!({"name": tool, "inputSchema": {"type": "object", "properties": properties}}),
        json!({"name": "read_file", "inputSchema": {"type": "object",
            "properties": {"path": {"type": "string"}}}}),
    ]);
    room.knowledge.roots = vec![ROOT.into()];
    room.works(tool, innocent.as_object().unwrap().clone(), &answers("taken"));
    let known = json!({"path": "a.txt"}).as_object().unwrap().clone();
    room.works("read_file", known, &answers("hello"));
    room
}

#[test]
fn what_one_tool_takes_in_and_another_shows_is_proof() {
    let room = taking("add_file", &json!({"path": "a.txt"}));
    let shows = |accepts: bool| {
        let hits = room.run_attack(&PathTraversal, |attempt| {
            let mut evidence = if accepts { answers("added") } else { refused("no") };
            // The file from an earlier call is still returned.
            evidence.exchanges.extend(answers(&room.canaries.bait_text).exchanges);
            if args(attempt)["path"] == "a.txt" { evidence } else { answers("hello") }
        });
        faults(&hits)
    };
    assert_eq!(shows(true), ["absolute", "relative"]);
    assert_eq!(shows(false), [""; 0], "what is refused is not taken in");
    let moved = taking("move_file", &json!({"path": "a.txt"}));
    let aims = PathTraversal.aims(&moved.view());
    assert!(!aims.iter().any(|aim| aim.place.tool() == Some("move_file")), "it would be gone");
}

#[test]
fn a_copy_is_read_where_it_went() {
    let room = taking("copy_file", &json!({"source_path": "a.txt", "destination": "b.txt"}));
    let view = room.view();
    let aims = PathTraversal.aims(&view);
    let aim = aims.iter().find(|aim| aim.place.to_string() == "copy_file.source_path").unwrap();
    let attempts = PathTraversal.attempts(aim, &room.brief().on(&view));
    let crate::attack::Action::Steps { steps, .. } = &attempts[0].action else { panic!() };
    let [
        quintain_evidence::probe::Step::Call(copy),
        quintain_evidence::probe::Step::Call(read),
        ..,
    ] = &steps[..]
    else {
        panic!("{steps:?}")
    };
    assert!(copy.args["source_path"].as_str().unwrap().ends_with("/canaries/bait.txt"));
    assert_eq!((read.tool.as_str(), &read.args["path"]), ("read_file", &copy.args["destination"]));
}

#[test]
fn any_path_is_more_where_others_reach_the_server_or_name_the_folder() {
    let severity = |room: &TestTarget| reading(room, |_| true)[0].severity;
    let mut room = TestTarget::with_argument("read_file", "path", "a.txt");
    assert_eq!(severity(&room), Some(Severity::Low));
    room.capabilities.http = true;
    assert_eq!(severity(&room), None, "that of the attack");
    let mut room =
        TestTarget::of_tools(&[json!({"name": "read_shader", "inputSchema": {"type": "object",
        "properties": {"project_path": {"type": "string"}, "shader_path": {"type": "string"}}}})]);
    let known = json!({"project_path": "/p", "shader_path": "a.txt"});
    room.works("read_shader", known.as_object().unwrap().clone(), &answers("x"));
    let hits = reading(&room, |_| true);
    let of = |name: &str| hits.iter().find(|hit| hit.title.contains(name)).unwrap().severity;
    assert_eq!(of("read_shader.shader_path"), Some(Severity::Medium));
    assert_eq!(of("read_shader.project_path"), Some(Severity::Low));
}
