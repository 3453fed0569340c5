//! `status/{component}`: whether the parts of the server work.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::json;

use super::json_contents;
use crate::error::ToolError;
use crate::platform::Platform;
use crate::principal::{Access, Group, Principal, Scope};
use crate::resource::{Contents, Listed, ResourceKind, ResourceMeta};

pub(super) struct Status;

static META: ResourceMeta = ResourceMeta {
    name: "status",
    title: "Status",
    description: "Whether the parts of the server work: overall, services, mcp",
    templates: &["status/{component}"],
    mime_type: "application/json",
    scope: Scope::new(Group::Results, Access::Read),
    is_cached: false,
};

impl ResourceKind for Status {
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
    let listed = ["overall", "services", "mcp"].map(|name| Listed {
        path: format!("status/{name}"),
        name: name.to_owned(),
        description: format!("Status: {name}"),
        size: None,
    });
    Ok(listed.to_vec())
}

async fn read(
    platform: &Platform,
    principal: &Principal,
    path: &[&str],
) -> Result<Option<Contents>, ToolError> {
    let ["status", component @ ("overall" | "services" | "mcp")] = path else { return Ok(None) };
    let is_stored = platform.store.stored_bytes(&principal.owner).await.is_ok();
    Ok(Some(json_contents(&json!({
        "component": component,
        "status": if is_stored { "ok" } else { "failed" },
        "version": platform.allowances.version,
        "services": {"store": is_stored, "runs_under_way": platform.active.count(Some(&principal.owner))},
    }))))
}
