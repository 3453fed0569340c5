//! `generate_dataset`: attack attempts on an MCP server as entries, made from what it lists.

use quintain_engine::jobs::{OrderRequest, RequestNotice, orders_of};
use quintain_engine::models::ModelSettings;
use quintain_engine::redteam::{AttackedTarget, RedteamRun, generate};
use quintain_redteam::regression::generated;
use quintain_redteam::suits::Receiver;
use serde_json::{Value, json};

use super::create_dataset::store;
use super::datasets::{dataset_json, dataset_schema};
use super::definition::{
    Arguments, CONTACT, flag, id, number, object, shape, texts, tools, writing,
};
use crate::datasets::{Dataset, Entry};
use crate::platform::orchestrator::dataset_of;
use crate::principal::Group;
use crate::tool::{Call, ErrorCode, Reply, ToolError};

tools! {
    GenerateDataset = {
        name: "generate_dataset",
        title: "Generate a data set",
        description: "Learns an MCP server (harmless calls) and writes attack attempts that fit its tools as a data set. Each entry is a tool call with assertions that fail if the attack works. Needs no model.",
        core: true,
        scope: writing(Group::Datasets),
        hints: CONTACT,
        argument_aliases: &[],
        is_long: true,
    }
    input: object(json!({
        "generator_id": id("Id or name of a generator with provider_type mcp"),
        "categories": texts(100, "Attacks: sql-injection, path-traversal, command-injection ..., or `all`"),
        "num_tests": number(1, 5_000, 25, "Maximum number of entries"),
        "seed": number(0, u64::from(u32::MAX), 1, "Random seed"),
        "name": id("Unique name; default: derived from the generator"),
        "confirm": flag("The user agreed; needed where the host cannot ask", false),
    }), &["generator_id", "categories"]),
    output: shape(json!({
        "dataset": dataset_schema(),
        "not_generated": {"type": "array", "items": {"type": "object"}},
    }), &["dataset"]),
    call: run;
}

async fn run(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let mut generator = platform.generator(principal, arguments.required("generator_id")).await?;
    if !generator.is_mcp() {
        let what = "attempts can be generated for MCP servers only";
        return Err(ToolError::new(ErrorCode::UnsupportedCapability, what)
            .with_hint("use a built-in data set, or an orchestrator with an attack strategy"));
    }
    // Learning makes harmless calls only; a target elsewhere may still belong to another.
    if !generator.is_local() {
        let confirm = arguments.flag("confirm", false);
        platform.confirm_attack(principal, host, &mut generator, confirm, false).await?;
    }
    let (target, world) = platform.opened_target(principal, &generator).await?;
    let most = arguments.number("num_tests", 25) as usize;
    let mut plugins = arguments.texts("categories");
    if plugins.iter().any(|name| name == "all") {
        plugins.clear();
    }
    let quota = platform.quota(principal);
    let request = OrderRequest {
        plugins: plugins.iter().map(|name| name.replace('_', "-")).collect(),
        num_tests: Some(most),
        budget_calls: Some(quota.calls_per_run),
        budget_seconds: Some(quota.seconds_per_run),
        seed: Some(arguments.number("seed", 1)),
        allow_remote: true,
        ..OrderRequest::default()
    };
    let mut notices = Vec::new();
    let mut notify = |notice: RequestNotice<'_>| {
        if let RequestNotice::Error(what, help) = notice {
            notices.push(help.map_or(what.clone(), |help| format!("{what} ({help})")));
        }
    };
    let files = platform.jobs.files.clone();
    let mut orders =
        orders_of(None, Receiver::Arguments, &*files, &world.redactor, None, &mut notify)
            .map_err(|refusal| ToolError::new(ErrorCode::Internal, refusal.to_string()))?;
    request
        .apply(&mut orders, &mut notify)
        .map_err(|_| ToolError::new(ErrorCode::InvalidConfiguration, notices.join("; ")))?;
    let name = generator.name.clone();
    // Learning a target is not `Send`, as every red-team run, so it gets a thread.
    let runtime = tokio::runtime::Handle::current();
    let work = tokio::task::spawn_blocking(move || {
        let redteam_run = RedteamRun {
            consent: None,
            target: AttackedTarget::Mcp(&target),
            name: &name,
            world: &world,
            orders: &orders,
            reproduce: &|_| None,
            previous: None,
            models: &ModelSettings::default(),
        };
        let outcome = runtime.block_on(generate(&redteam_run, &mut |_| {}));
        outcome.map_err(|error| error.to_string())
    });
    let made = tokio::select! {
        made = work => made,
        () = host.cancelled() => return Err(ToolError::new(ErrorCode::Cancelled, "cancelled by the client")),
    };
    let made = made.map_err(|_| ToolError::new(ErrorCode::Internal, "generating failed"))?;
    let made = made.map_err(|why| ToolError::new(ErrorCode::TargetUnreachable, why))?;
    let no_file = Some("a data set has no files");
    let regression = generated(&made.drafts, &|_| most, ("canary", no_file), false);
    let entries: Vec<Entry> =
        regression.tests.iter().take(most).enumerate().filter_map(entry).collect();
    if entries.is_empty() {
        let what = "no attempt on this server can be judged by its response alone";
        return Err(ToolError::new(ErrorCode::UnsupportedCapability, what).with_hint(
            "use an orchestrator of type mcp_scan, which observes more than responses",
        ));
    }
    let name = arguments.text("name").map_or_else(
        || format!("attempts on {} {}", generator.name, crate::platform::id::now()),
        str::to_owned,
    );
    let dataset = Dataset {
        id: String::new(),
        name,
        description: format!("Attack attempts on {}", generator.name),
        category: "security".to_owned(),
        license: "unknown".to_owned(),
        source: format!("generated for {}", generator.id),
        entries,
    };
    let dataset = dataset_of(store(platform, principal, &dataset).await?)?;
    let left: Vec<Value> =
        made.not_run.iter().map(|one| json!({"what": one.what, "why": one.why})).collect();
    let text = format!("{} entries in {}", dataset.entries.len(), dataset.id);
    Ok(Reply::new(json!({"dataset": dataset_json(&dataset), "not_generated": left}), text))
}

/// A generated test as an entry.
fn entry((at, test): (usize, &Value)) -> Option<Entry> {
    let prompt = &test["vars"]["prompt"];
    let value = prompt.as_str().map_or_else(|| prompt.to_string(), str::to_owned);
    let mut entry = Entry::new(value);
    entry.id = format!("attempt-{:03}", at + 1);
    "tool_call".clone_into(&mut entry.data_type);
    let category = test["metadata"]["pluginId"].as_str()?;
    entry.harm_categories = vec![category.to_owned()];
    entry.metadata.insert("assert".to_owned(), test["assert"].clone());
    if let Some(description) = test["description"].as_str() {
        entry.metadata.insert("description".to_owned(), json!(description));
    }
    Some(entry)
}
