//! `datasets/{dataset_id}`: a data set with all its entries.

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_engine::store::EntityKind;
use serde_json::json;

use super::{found, json_contents};
use crate::datasets::builtin;
use crate::error::ToolError;
use crate::platform::Platform;
use crate::platform::orchestrator::dataset_of;
use crate::principal::{Access, Group, Principal, Scope};
use crate::resource::{Contents, Listed, ResourceKind, ResourceMeta};

pub(super) struct Datasets;

static META: ResourceMeta = ResourceMeta {
    name: "dataset",
    title: "Data sets",
    description: "A data set with all its entries, built in or yours",
    templates: &["datasets/{dataset_id}"],
    mime_type: "application/json",
    scope: Scope::new(Group::Datasets, Access::Read),
    is_cached: true,
};

impl ResourceKind for Datasets {
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

async fn list(platform: &Platform, principal: &Principal) -> Result<Vec<Listed>, ToolError> {
    let mut all = builtin().to_vec();
    for entity in platform.entities(principal, EntityKind::Dataset).await? {
        all.push(dataset_of(entity)?);
    }
    let listed = all.into_iter().map(|dataset| Listed {
        path: format!("datasets/{}", dataset.id),
        name: dataset.name,
        description: dataset.description,
        size: None,
    });
    Ok(listed.collect())
}

async fn read(
    platform: &Platform,
    principal: &Principal,
    path: &[&str],
) -> Result<Option<Contents>, ToolError> {
    let ["datasets", id] = path else { return Ok(None) };
    let Some(dataset) = found(platform.dataset(principal, id).await)? else { return Ok(None) };
    Ok(Some(json_contents(&json!(dataset))))
}
