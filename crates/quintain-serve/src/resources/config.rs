//! `config/{config_type}` and `config/{component}/{id}`: what is configured. Credentials are masked in the store.

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_engine::store::{Entity, EntityKind};
use quintain_redteam::strategies;
use quintain_suite::assertions;
use serde_json::{Value, json};

use super::{found, json_contents};
use crate::error::ToolError;
use crate::platform::Platform;
use crate::platform::generator::{OWN_TYPES, providers};
use crate::platform::orchestrator::TYPES;
use crate::principal::{Access, Group, Principal, Scope};
use crate::resource::{Contents, Listed, ResourceKind, ResourceMeta};

pub(super) struct Config;

static META: ResourceMeta = ResourceMeta {
    name: "config",
    title: "Configuration",
    description: "What is configured: generators, orchestrators, datasets, scorers, converters, system, mcp",
    templates: &["config/{config_type}", "config/{component}/{id}"],
    mime_type: "application/json",
    scope: Scope::new(Group::Generators, Access::Read),
    is_cached: false,
};

impl ResourceKind for Config {
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
    let listed = KINDS.iter().map(|(name, description)| Listed {
        path: format!("config/{name}"),
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        size: None,
    });
    Ok(listed.collect())
}

async fn read(
    platform: &Platform,
    principal: &Principal,
    path: &[&str],
) -> Result<Option<Contents>, ToolError> {
    let all = async |kind| platform.entities(principal, kind).await;
    let value = match path {
        ["config", "generators"] => listed("generators", &all(EntityKind::Generator).await?),
        ["config", "orchestrators"] => {
            listed("orchestrators", &all(EntityKind::Orchestrator).await?)
        }
        ["config", "datasets"] => {
            let own = all(EntityKind::Dataset).await?;
            let own: Vec<&str> = own.iter().map(|entity| entity.id.as_str()).collect();
            let builtin: Vec<&str> =
                crate::datasets::builtin().iter().map(|dataset| dataset.id.as_str()).collect();
            json!({"datasets": own, "builtin": builtin})
        }
        ["config", "scorers"] => {
            let all = assertions::all().iter().map(|one| one.meta());
            json!({"scorers": all.map(|meta| json!({"name": meta.id, "description": meta.summary})).collect::<Vec<_>>()})
        }
        ["config", "converters"] => {
            let all = strategies::all().iter().map(|one| one.meta());
            json!({"converters": all.map(|meta| json!({"name": meta.id, "description": meta.summary})).collect::<Vec<_>>()})
        }
        ["config", "system"] | ["config", "system", "info"] => json!({
            "version": platform.allowances.version, "provider_types": OWN_TYPES,
            "providers": providers(), "orchestrator_types": TYPES,
        }),
        ["config", "mcp"] | ["config", "mcp", "settings"] => json!({
            "schemes": ["quintain", "violentutf"], "version": platform.allowances.version,
        }),
        ["config", "database", "status"] => json!({
            "status": if platform.store.path().exists() { "ok" } else { "missing" },
            "generators": all(EntityKind::Generator).await?.len(),
            "datasets": all(EntityKind::Dataset).await?.len(),
            "orchestrators": all(EntityKind::Orchestrator).await?.len(),
        }),
        ["config", "environment", "current"] => json!({
            "resource_cache_ttl": platform.settings.resource_cache_ttl.as_secs(),
            "max_resource_size": platform.settings.max_resource_size,
            "tool_timeout": platform.settings.tool_timeout.as_secs(),
            "max_tool_results": platform.settings.max_tool_results,
        }),
        ["config", "api", "health"] => json!({
            "status": "ok", "version": platform.allowances.version,
            "runs_under_way": platform.active.count(Some(&principal.owner)),
        }),
        ["config", component, id] => {
            let kind = match *component {
                "generators" => EntityKind::Generator,
                "orchestrators" => EntityKind::Orchestrator,
                _ => return Ok(None),
            };
            let Some(entity) = found(platform.entity(principal, kind, id).await)? else {
                return Ok(None);
            };
            entity_json(&entity)
        }
        _ => return Ok(None),
    };
    Ok(Some(json_contents(&value)))
}

const KINDS: [(&str, &str); 7] = [
    ("generators", "Your targets and models"),
    ("orchestrators", "Your orchestrators"),
    ("datasets", "The ids of all data sets"),
    ("scorers", "All scorers"),
    ("converters", "All converters"),
    ("system", "Version, providers, types of orchestrators"),
    ("mcp", "Schemes of resources"),
];

fn entity_json(entity: &Entity) -> Value {
    json!({
        "id": entity.id, "name": entity.name, "version": entity.version,
        "created_at": entity.created, "updated_at": entity.updated, "configuration": entity.body,
    })
}

fn listed(name: &str, entities: &[Entity]) -> Value {
    let mut listed = serde_json::Map::new();
    listed.insert(name.to_owned(), entities.iter().map(entity_json).collect());
    Value::Object(listed)
}
