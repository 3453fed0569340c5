//! `docs/{topic}`: what attacks, converters, scorers and reports do.

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_content::registry::About;
use quintain_redteam::{attacks, strategies};
use quintain_suite::assertions;

use super::text_contents;
use crate::error::ToolError;
use crate::platform::Platform;
use crate::principal::{Access, Group, Principal, Scope};
use crate::resource::{Contents, Listed, ResourceKind, ResourceMeta};

pub(super) struct Docs;

static META: ResourceMeta = ResourceMeta {
    name: "docs",
    title: "Documentation",
    description: "What the attacks, converters and scorers do, each with an example",
    templates: &["docs/{topic}"],
    mime_type: "text/markdown",
    scope: Scope::new(Group::Texts, Access::Read),
    is_cached: true,
};

impl ResourceKind for Docs {
    fn meta(&self) -> &'static ResourceMeta {
        &META
    }

    fn list<'a>(
        &'a self,
        platform: &'a Platform,
        principal: &'a Principal,
    ) -> BoxFuture<'a, Result<Vec<Listed>, ToolError>> {
        list(platform, principal).boxed()
    }

    fn read<'a>(
        &'a self,
        platform: &'a Platform,
        principal: &'a Principal,
        path: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Option<Contents>, ToolError>> {
        read(platform, principal, path).boxed()
    }
}

#[expect(clippy::unused_async, reason = "all kinds of resources have one signature")]
async fn list(platform: &Platform, principal: &Principal) -> Result<Vec<Listed>, ToolError> {
    let _ = (platform, principal);
    let listed = TOPICS.map(|(name, description)| Listed {
        path: format!("docs/{name}"),
        name: name.to_owned(),
        description: description.to_owned(),
        size: None,
    });
    Ok(listed.to_vec())
}

#[expect(clippy::unused_async, reason = "all kinds of resources have one signature")]
async fn read(
    platform: &Platform,
    principal: &Principal,
    path: &[&str],
) -> Result<Option<Contents>, ToolError> {
    let _ = (platform, principal);
    let ["docs", topic] = path else { return Ok(None) };
    let text = match *topic {
        "workflow" => WORKFLOW.to_owned(),
        "converters" => page(strategies::all().iter().map(|one| *one.meta())),
        "scorers" => page(assertions::all().iter().map(|one| *one.meta())),
        "attacks" => page(attacks::all().iter().map(|one| one.meta())),
        _ => return Ok(None),
    };
    Ok(Some(text_contents("text/markdown", text)))
}

const TOPICS: [(&str, &str); 4] = [
    ("workflow", "From a target to its weaknesses"),
    ("attacks", "What the attacks do and what counts as proof"),
    ("converters", "How converters rewrite text"),
    ("scorers", "What scorers check"),
];

const WORKFLOW: &str = "\
# From a target to its weaknesses

1. `create_generator` names the target: an MCP server (`provider_type: mcp`) or a model.
2. `test_generator` or `inspect_mcp_target` shows that it answers.
3. `list_datasets`, `create_dataset` or `generate_dataset` provide what to send.
4. `create_orchestrator` says what to run; `validate_orchestrator_config` reports problems before.
5. `start_orchestrator` starts it; `get_orchestrator` with `wait_seconds` waits for it.
6. `get_orchestrator_results` lists findings; `replay_finding` repeats one; `mark_finding` records your verdict.
7. `compare_runs` shows what is new and what is fixed.
";

fn page<'a>(all: impl Iterator<Item = About<'a>>) -> String {
    let entries = all.map(|meta| format!("# {}\n\n{}\n\n{}\n", meta.id, meta.summary, meta.docs));
    entries.collect::<Vec<_>>().join("\n")
}
