//! A platform with a host, and calls whose arguments and results are validated.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_engine::jobs::Jobs;
use quintain_engine::{Access, Disk, Store, World};
use quintain_serve::arguments::replace_aliases;
use quintain_serve::host::{Decision, Host, Progress, Question, SamplingRequest};
use quintain_serve::platform::{Allowances, Platform};
use quintain_serve::principal::{Access as Right, Group, Principal, Scope};
use quintain_serve::tool::{Call, Reply, Tool, ToolError};
use quintain_serve::tools::TOOLS;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A host that answers questions in one way, and counts.
#[derive(Default)]
pub(crate) struct TestHost {
    pub(crate) decision: Option<Decision>,
    pub(crate) asked: AtomicUsize,
    pub(crate) progress: AtomicUsize,
}

impl Host for TestHost {
    fn progress(&self, _: Progress) -> BoxFuture<'_, ()> {
        self.progress.fetch_add(1, Ordering::SeqCst);
        async {}.boxed()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        std::future::pending().boxed()
    }

    fn elicit(&self, _: Question) -> BoxFuture<'_, Option<Decision>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        async { self.decision }.boxed()
    }

    fn sample(&self, _: SamplingRequest) -> BoxFuture<'_, Option<Result<Value, String>>> {
        async { None }.boxed()
    }

    fn offers_sampling(&self) -> bool {
        false
    }

    fn resource_updated(&self, _: String) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}

pub(crate) struct TestPlatform {
    pub(crate) platform: Platform,
    pub(crate) folder: TempDir,
    pub(crate) host: TestHost,
    pub(crate) principal: Principal,
}

pub(crate) async fn platform_in(folder: &Path, allowances: Allowances) -> Platform {
    let state = folder.join("state");
    let store = Store::open(&state).await.unwrap();
    let names = ["PATH", "HOME"];
    let env = names.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    let mut env: BTreeMap<String, String> = env.collect();
    env.insert("SERVER_SECRET".to_owned(), "s3rver-only-value".to_owned());
    let world = World {
        env: Arc::new(env),
        cwd: folder.to_owned(),
        state_dir: Some(state),
        ..World::default()
    };
    let jobs = Jobs::new(world, Arc::new(Disk), Some(store.clone()));
    Platform::new(jobs, store, quintain_serve::settings::Settings::default(), allowances)
}

impl TestPlatform {
    /// The platform of a local user who may start every command.
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().canonicalize().unwrap();
        let settings =
            Allowances { allow_commands: Access::Everything, workspace, ..Allowances::default() };
        let platform = platform_in(folder.path(), settings).await;
        let host = TestHost { decision: Some(Decision::Accepted), ..TestHost::default() };
        Self { platform, folder, host, principal: Principal::local("ann") }
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Result<Reply, ToolError> {
        self.call_as(&self.principal, name, arguments).await
    }

    /// Calls a tool as the server does: aliases, validation, then validation of the result.
    pub(crate) async fn call_as(
        &self,
        principal: &Principal,
        name: &str,
        arguments: Value,
    ) -> Result<Reply, ToolError> {
        let tool = tool(name);
        let Value::Object(mut arguments) = arguments else { panic!("arguments are a map") };
        replace_aliases(&mut arguments, tool.meta().argument_aliases);
        let arguments = Value::Object(arguments);
        assert_valid(&tool.input_schema(), &arguments, name);
        let Value::Object(arguments) = arguments else { unreachable!() };
        let platform = &self.platform;
        let reply = tool.call(Call { platform, principal, host: &self.host, arguments }).await?;
        assert_valid(&tool.output_schema(), &reply.structured, name);
        assert!(reply.text.len() <= 2_048, "{name}: {} bytes of text", reply.text.len());
        Ok(reply)
    }

    /// The structured content of a call that succeeds.
    pub(crate) async fn ok(&self, name: &str, arguments: Value) -> Value {
        match self.call(name, arguments).await {
            Ok(reply) => reply.structured,
            Err(error) => panic!("{name}: {error} {:?}", error.hint),
        }
    }

    /// Waits for the end of a run.
    pub(crate) async fn finished(&self, orchestrator: &str) -> Value {
        for _ in 0..20 {
            let arguments = json!({"orchestrator_id": orchestrator, "wait_seconds": 45});
            let shown = self.ok("get_orchestrator", arguments).await;
            if shown["status"] != "running" {
                return shown;
            }
        }
        panic!("the run does not end");
    }
}

/// A principal that is not an operator.
pub(crate) fn guest(owner: &str) -> Principal {
    let scopes = Group::ALL.into_iter().filter(|group| *group != Group::Admin);
    let scopes = scopes.map(|group| Scope::new(group, Right::Write)).collect();
    Principal { owner: owner.to_owned(), operator: false, scopes }
}

pub(crate) fn tool(name: &str) -> &'static dyn Tool {
    let found = TOOLS.iter().copied().find(|tool| tool.meta().name == name);
    found.unwrap_or_else(|| panic!("no tool {name}"))
}

pub(crate) fn assert_valid(schema: &Value, value: &Value, name: &str) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:?}\n{value:#}");
}
