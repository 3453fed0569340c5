//! A kind of resource: one file in `resources/` each, registered in [`crate::resources::RESOURCES`]. Every resource has
//! the same path under `quintain://` and `violentutf://`.

use futures_util::future::BoxFuture;

use crate::platform::Platform;
use crate::principal::{Principal, Scope};
use crate::tool::ToolError;

/// What is known about a kind of resource.
#[derive(Debug)]
pub struct ResourceMeta {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Path templates without the scheme: `datasets/{dataset_id}`.
    pub templates: &'static [&'static str],
    pub mime_type: &'static str,
    pub scope: Scope,
    /// Whether contents may be cached. What changes while a run is under way is not cached.
    pub is_cached: bool,
}

/// A resource in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Without the scheme.
    pub path: String,
    pub name: String,
    pub description: String,
    pub size: Option<u64>,
}

/// The contents of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    pub mime_type: String,
    pub text: String,
    /// Changes with the contents; part of the key of the cache.
    pub version: String,
}

/// A kind of resource.
pub trait ResourceKind: Send + Sync {
    fn meta(&self) -> &'static ResourceMeta;

    /// What the principal can read.
    fn list<'a>(
        &'a self,
        platform: &'a Platform,
        principal: &'a Principal,
    ) -> BoxFuture<'a, Result<Vec<Listed>, ToolError>>;

    /// The contents of a path, split at `/`. `None` if there is nothing.
    fn read<'a>(
        &'a self,
        platform: &'a Platform,
        principal: &'a Principal,
        path: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Option<Contents>, ToolError>>;
}
