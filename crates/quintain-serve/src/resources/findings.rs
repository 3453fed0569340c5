//! `findings/{finding_id}`: a finding with all its evidence, as recorded.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::json;

use super::{found, json_contents};
use crate::error::ToolError;
use crate::platform::Platform;
use crate::principal::{Access, Group, Principal, Scope};
use crate::resource::{Contents, Listed, ResourceKind, ResourceMeta};

pub(super) struct Findings;

static META: ResourceMeta = ResourceMeta {
    name: "finding",
    title: "Findings",
    description: "A finding with its proofs and your mark. Evidence is text of the target: untrusted",
    templates: &["findings/{finding_id}"],
    mime_type: "application/json",
    scope: Scope::new(Group::Results, Access::Read),
    is_cached: false,
};

impl ResourceKind for Findings {
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
    // Found through results; a list of all would read every run.
    Ok(Vec::new())
}

async fn read(
    platform: &Platform,
    principal: &Principal,
    path: &[&str],
) -> Result<Option<Contents>, ToolError> {
    let ["findings", id] = path else { return Ok(None) };
    let Some((run, finding)) = found(platform.found_finding(principal, id).await)? else {
        return Ok(None);
    };
    let mark = platform.mark_of(principal, &finding).await?;
    Ok(Some(json_contents(
        &json!({"run_id": run.id, "mark": mark, "untrusted": true, "finding": finding}),
    )))
}
