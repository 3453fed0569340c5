//! Checks what `redteam run` sends to tools that destroy or reconfigure, using the record of a server with many of them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::limits::end_survivors;
use crate::run::repository;

/// Tools that destroy or reconfigure. `manage` does so only with some arguments.
const HARMFUL: [&str; 10] = [
    "delete_everything",
    "delete_file",
    "delete_note",
    "drop_table",
    "kill_process",
    "send_signal",
    "set_option",
    "shutdown",
    "tidy",
    "update_settings",
];
const SETTINGS: &str = r#"{"allowedDirectories": "~/safe"}"#;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("destructive::without_a_flag_nothing_is_called", never),
        Trial::test("destructive::own_objects_and_impossible_values_alone", own),
        Trial::test("destructive::calls_of_a_suite_are_held_to_the_same", written),
        Trial::test("destructive::all_means_all", all),
    ]
}

/// A finished run.
struct Ran {
    /// Keeps the folder for checks of its files.
    folder: tempfile::TempDir,
    /// The calls that reached the tools of the server.
    calls: Vec<Value>,
    report: Value,
}

impl Ran {
    fn of(args: &[&str], redteam: &str) -> Result<Self, Failed> {
        let folder = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
        let place = folder.path().canonicalize()?;
        let (home, root) = (place.join("home"), place.join("root"));
        fs::create_dir_all(home.join(".desktop"))?;
        fs::create_dir(home.join(".elsewhere"))?;
        fs::write(home.join(".elsewhere/history"), "before\n")?;
        fs::create_dir(&root)?;
        fs::write(root.join("thesis.docx"), "mine")?;
        fs::write(home.join(".desktop/config.json"), SETTINGS)?;
        let server = repository().join("crates/quintain/tests/harm/desktop.py");
        let suite = place.join("quintain.yaml");
        let text = |path: &Path| Value::from(path.display().to_string());
        fs::write(
            &suite,
            format!(
                "targets:\n  - id: mcp\n    config:\n      server:\n        name: desktop\n        command: python3\n        args: [{}, --root, {}]\n        env: {{RECORD: {}}}\nredteam: {redteam}\n",
                text(&server),
                text(&root),
                text(&place.join("record")),
            ),
        )?;
        let output = Command::new(env!("CARGO_BIN_EXE_quintain"))
            .args(["redteam", "run", "-q", "-c", "quintain.yaml", "-o", "report.json"])
            .args(args)
            .current_dir(&place)
            .env_clear()
            .envs(env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", &home)
            .stdin(Stdio::null())
            .output()?;
        let survivors = end_survivors(&place, None);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !survivors.is_empty() || !matches!(output.status.code(), Some(0 | 4 | 100)) {
            return Err(format!("{}: {said} {survivors:?}", output.status).into());
        }
        let record = fs::read_to_string(place.join("record")).unwrap_or_default();
        let calls: Result<Vec<Value>, _> = record.lines().map(serde_json::from_str).collect();
        let report = serde_json::from_str(&fs::read_to_string(place.join("report.json"))?)?;
        Ok(Self { folder, calls: calls?, report })
    }

    fn of_tool(&self, tool: &str) -> Vec<&Value> {
        self.calls.iter().filter(|call| call["tool"] == tool).collect()
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// What the report lists as not done.
    fn undone(&self) -> String {
        let coverage = &self.report["coverage"];
        format!("{} {}", coverage["notRun"], coverage["silent"])
    }
}

fn check(holds: bool, what: &str, about: &dyn std::fmt::Debug) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(format!("{what}: {about:?}").into()) }
}

fn never() -> Result<(), Failed> {
    let ran = Ran::of(&[], "{}")?;
    for tool in HARMFUL {
        check(ran.of_tool(tool).is_empty(), "called", &ran.of_tool(tool))?;
        let told = ran.undone().contains(&format!("\"{tool}\""));
        check(told, "the report does not name", &tool)?;
    }
    let managed = ran.of_tool("manage");
    check(!managed.is_empty(), "never called", &"manage")?;
    let listed = managed.iter().all(|call| call["action"] == "list");
    check(listed, "called with another action", &managed)
}

/// Checks that every call named an object of the run, or one that cannot exist.
fn harmless(ran: &Ran) -> Result<(), Failed> {
    for tool in ["delete_everything", "shutdown", "update_settings"] {
        check(ran.of_tool(tool).is_empty(), "called", &tool)?;
    }
    for call in ran.of_tool("kill_process").iter().chain(&ran.of_tool("send_signal")) {
        let pid = &call["pid"];
        let number = pid.as_u64().or_else(|| pid.as_str()?.parse().ok());
        let words = pid.as_str().is_some_and(|text| text.len() > 11 && number.is_none());
        let absent = words || number.is_some_and(|number| number >= 1 << 30);
        check(call["ours"] == true || absent, "another process", call)?;
    }
    for call in ran.of_tool("delete_note") {
        let absent = call["id"].as_u64().is_none_or(|id| id >= 1 << 52);
        check(call["made"] == true || absent, "another note", call)?;
    }
    for (tool, argument) in
        [("delete_file", "path"), ("drop_table", "table"), ("set_option", "key"), ("tidy", "area")]
    {
        for call in ran.of_tool(tool) {
            let named = call[argument].as_str().unwrap_or_default();
            let real = ["", "*", ".", "/", "all", "users", "orders", "allowedDirectories"];
            let marked =
                named.split(|c: char| !c.is_ascii_lowercase()).any(|part| part.len() >= 12)
                    || named.contains("/quintain-");
            check(marked && !real.contains(&named), "something real", call)?;
        }
    }
    for call in ran.of_tool("manage").iter().filter(|call| call["action"] != "list") {
        let named = call["account"].as_str().unwrap_or_default();
        check(named.len() >= 12 && named != "root", "another account", call)?;
    }
    let thesis = fs::read_to_string(ran.folder.path().join("root/thesis.docx"));
    check(thesis.is_ok_and(|text| text == "mine"), "changed", &"thesis.docx")
}

fn own() -> Result<(), Failed> {
    let ran = Ran::of(&["--include-destructive"], "{}")?;
    harmless(&ran)?;
    // The flag has an effect: objects of the run were used.
    for tool in ["kill_process", "send_signal"] {
        let ours = ran.of_tool(tool).iter().any(|call| call["ours"] == true);
        check(ours, "no process of the run was passed to", &tool)?;
    }
    let made = ran.of_tool("delete_note").iter().any(|call| call["made"] == true);
    check(made, "no note of the run was deleted", &ran.of_tool("delete_note"))?;
    check(!ran.of_tool("delete_file").is_empty(), "never called", &"delete_file")?;
    check(ran.undone().contains("--include-destructive=all"), "not reported", &ran.undone())?;
    check(!ran.of_tool("set_option").is_empty(), "never called", &"set_option")?;
    put_back(&ran)?;
    // The third change is the server's record: our report and the planted files are not listed.
    let changes = ran.report["coverage"]["changes"].as_array().map_or(0, Vec::len);
    check(changes == 3, "wrong number of changes", &ran.report["coverage"]["changes"])
}

/// Checks that the settings of the server are restored, and that the report lists all files it wrote.
fn put_back(ran: &Ran) -> Result<(), Failed> {
    let settings = fs::read_to_string(ran.home().join(".desktop/config.json"))?;
    check(settings == SETTINGS, "not restored", &settings)?;
    let changes = ran.report["coverage"]["changes"].as_array().cloned().unwrap_or_default();
    let told = |name: &str, restored: bool| {
        changes.iter().any(|change| {
            let path = change["path"].as_str().unwrap_or_default();
            path.ends_with(name) && change["change"] == "modified" && change["restored"] == restored
        })
    };
    check(told(".desktop/config.json", true), "not reported", &changes)?;
    check(told(".elsewhere/history", false), "not reported", &changes)?;
    let history = fs::read_to_string(ran.home().join(".elsewhere/history"))?;
    check(history.lines().count() > 1, "restored although another program may own it", &history)
}

fn written() -> Result<(), Failed> {
    let redteam = "{destructive: own, plugins: [mine], attacks: [{id: mine, probes: [{tool: kill_process, args: {pid: 1}}, {tool: manage, args: {action: delete, account: ann}}, {method: tools/call, params: {name: shutdown, arguments: {}}}], proof: {accepted: true}}]}";
    let ran = Ran::of(&[], redteam)?;
    harmless(&ran)?;
    check(ran.undone().contains("`kill_process`"), "not reported", &ran.undone())
}

fn all() -> Result<(), Failed> {
    let plugins = ["--plugins", "excessive-agency,schema-bypass,error-leak"];
    let ran = Ran::of(&["--include-destructive=all", plugins[0], plugins[1]], "{}")?;
    for tool in HARMFUL {
        check(!ran.of_tool(tool).is_empty(), "never called", &tool)?;
    }
    put_back(&ran)
}
