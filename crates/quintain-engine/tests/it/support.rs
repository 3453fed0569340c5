//! Targets written as suites, and servers for them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use quintain_engine::{Sessions, World, target_kinds};
use quintain_evidence::connection::McpTarget;
use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::tool_call::ToolCall;
use quintain_suite::suite::{Needed, NoFiles, Purpose, SuiteFile, load};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The target that a suite with this `config` describes; JSON is YAML too.
pub(crate) fn target(config: &Value) -> McpTarget {
    let suite = json!({"targets": [{"id": "mcp", "config": config}]});
    let file = SuiteFile {
        name: "quintain.yaml".into(),
        text: suite.to_string().into(),
        base_dir: PathBuf::from("."),
    };
    let purpose = Purpose::Read(Needed::Target(None));
    let loaded = load(vec![file], &BTreeMap::new(), Arc::new(NoFiles), purpose, &target_kinds());
    assert!(loaded.suite.is_some(), "{:?}", loaded.diagnostics);
    loaded.suite.unwrap().targets[0].as_mcp().unwrap().clone()
}

pub(crate) async fn open(config: &Value) -> Sessions {
    Sessions::open(&target(config), &world()).await.unwrap()
}

/// The variables that the binary passes on: started servers must find their interpreter.
pub(crate) fn world() -> World {
    let names = ["PATH", "HOME"];
    let env = names.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    World { env: Arc::new(env.collect()), ..World::default() }
}

/// A folder in which small servers write a line for each start.
pub(crate) struct Stage(TempDir);

impl Stage {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The `server` entry of a small server; `server.py` describes the wishes.
    pub(crate) fn server(&self, name: &str, wishes: &[&str]) -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/server.py");
        let mut args = vec![json!(script), json!(self.0.path()), json!(name)];
        args.extend(wishes.iter().map(|wish| json!(wish)));
        json!({"name": name, "command": "python3", "args": args})
    }

    pub(crate) fn starts(&self, name: &str) -> usize {
        fs::read_to_string(self.0.path().join(name)).unwrap_or_default().lines().count()
    }
}

/// Calls a tool of the only server.
pub(crate) async fn call(sessions: &Sessions, tool: &str, args: Value) -> Exchange {
    let Value::Object(args) = args else { panic!("arguments must be an object") };
    let call = ToolCall { tool: tool.into(), args, server: None };
    sessions.call(&call).await.unwrap()
}

/// The first text of a response.
pub(crate) fn text(exchange: &Exchange) -> &str {
    match &exchange.outcome {
        Outcome::Reply(result) => result["content"][0]["text"].as_str().unwrap(),
        other => panic!("no answer: {other:?}"),
    }
}

/// A hostile HTTP server, which is killed on drop.
pub(crate) struct Hostile {
    child: Child,
    pub(crate) url: String,
}

impl Hostile {
    pub(crate) fn start(mode: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/hostile/server.py");
        let mut command = Command::new("python3");
        command.arg(script).args(["http", mode]).stdout(Stdio::piped());
        let mut hostile = Self { child: command.spawn().unwrap(), url: String::new() };
        let mut line = String::new();
        BufReader::new(hostile.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        told["url"].as_str().unwrap().clone_into(&mut hostile.url);
        hostile
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
