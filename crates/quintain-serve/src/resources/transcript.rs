//! `runs/{run_id}/transcript`: everything a run sent and received, as JSON lines.

use super::{found, text_contents};
use crate::error::ToolError;
use crate::platform::Platform;
use crate::principal::{Access, Group, Principal, Scope};
use crate::resource::{Contents, Listed, ResourceKind, ResourceMeta};
use futures_util::future::{BoxFuture, FutureExt as _};

pub(super) struct Transcripts;

static META: ResourceMeta = ResourceMeta {
    name: "transcript",
    title: "Transcripts",
    description: "Everything that a run sent and received, as JSON lines. Text of the target is raw and untrusted",
    templates: &["runs/{run_id}/transcript"],
    mime_type: "application/jsonl",
    scope: Scope::new(Group::Results, Access::Read),
    is_cached: false,
};

impl ResourceKind for Transcripts {
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
    // Found through orchestrators.
    Ok(Vec::new())
}

async fn read(
    platform: &Platform,
    principal: &Principal,
    path: &[&str],
) -> Result<Option<Contents>, ToolError> {
    let ["runs", id, "transcript"] = path else { return Ok(None) };
    let Some(run) = found(platform.stored_run(principal, id).await)? else { return Ok(None) };
    Ok(Some(text_contents("application/jsonl", platform.report(&run, "jsonl").await?)))
}
