//! Generators, data sets, orchestrators and marks of one principal. Nothing here reaches those of another one.

use quintain_engine::StoreError;
use quintain_engine::store::{Entity, EntityKind, NewEntity};
use serde_json::Value;

use super::{Platform, id};
use crate::error::{ErrorCode, ToolError};
use crate::principal::Principal;

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuchRun { wanted } => {
                Self::new(ErrorCode::NotFound, format!("there is no run `{wanted}`"))
            }
            other => {
                tracing::error!(error = %other, "the store failed");
                Self::new(ErrorCode::Internal, "the store failed; the log of the server says why")
            }
        }
    }
}

/// The word for an entity in messages, and the beginning of its ids.
fn words(kind: EntityKind) -> (&'static str, &'static str) {
    match kind {
        EntityKind::Generator => ("generator", "gen"),
        EntityKind::Dataset => ("data set", "ds"),
        EntityKind::Orchestrator => ("orchestrator", "orc"),
        EntityKind::Mark => ("mark", "mrk"),
    }
}

impl Platform {
    /// The entity with this id, or else with this name.
    pub async fn entity(
        &self,
        principal: &Principal,
        kind: EntityKind,
        wanted: &str,
    ) -> Result<Entity, ToolError> {
        let found = match self.store.entity(&principal.owner, kind, wanted).await? {
            Some(found) => Some(found),
            None => self.store.entity_of_name(&principal.owner, kind, wanted).await?,
        };
        found.ok_or_else(|| {
            let what = format!("there is no {} `{wanted}`", words(kind).0);
            ToolError::new(ErrorCode::NotFound, what)
        })
    }

    /// All entities of a kind, oldest first.
    pub async fn entities(
        &self,
        principal: &Principal,
        kind: EntityKind,
    ) -> Result<Vec<Entity>, ToolError> {
        Ok(self.store.entities(&principal.owner, kind).await?)
    }

    /// Stores a new entity. Without a name, it is named after its id.
    pub async fn add_entity(
        &self,
        principal: &Principal,
        kind: EntityKind,
        name: Option<&str>,
        body: &Value,
    ) -> Result<Entity, ToolError> {
        let id = id::new_id(words(kind).1);
        let name = name.unwrap_or(&id);
        self.add_entity_as(principal, kind, &id, name, body).await
    }

    /// The same with a given id.
    pub async fn add_entity_as(
        &self,
        principal: &Principal,
        kind: EntityKind,
        id: &str,
        name: &str,
        body: &Value,
    ) -> Result<Entity, ToolError> {
        self.check_size(principal, body).await?;
        let body = self.masked(body)?;
        let owner = &principal.owner;
        let entity = NewEntity { owner, kind, id, name, body: &body, now: &id::now() };
        if !self.store.insert_entity(entity).await? {
            let what = format!("there is already a {} named `{name}`", words(kind).0);
            let error = ToolError::new(ErrorCode::Conflict, what);
            return Err(error.with_hint("choose another name, or change the existing one"));
        }
        self.entity(principal, kind, id).await
    }

    /// Replaces name and body of an entity as it was read.
    pub async fn change_entity(
        &self,
        principal: &Principal,
        kind: EntityKind,
        read: &Entity,
        name: &str,
        body: &Value,
    ) -> Result<Entity, ToolError> {
        self.check_size(principal, body).await?;
        if name != read.name
            && self.store.entity_of_name(&principal.owner, kind, name).await?.is_some()
        {
            let what = format!("there is already a {} named `{name}`", words(kind).0);
            return Err(ToolError::new(ErrorCode::Conflict, what));
        }
        let body = self.masked(body)?;
        let (owner, id, now) = (&principal.owner, &read.id, &id::now());
        let entity = NewEntity { owner, kind, id, name, body: &body, now };
        if !self.store.update_entity(entity, read.version).await? {
            let what = format!("`{}` was changed in the meantime", read.id);
            let error = ToolError::new(ErrorCode::Conflict, what);
            return Err(error.with_hint("read it again and repeat the change"));
        }
        self.entity(principal, kind, id).await
    }

    /// Deletes an entity that was read.
    pub async fn remove_entity(
        &self,
        principal: &Principal,
        kind: EntityKind,
        id: &str,
    ) -> Result<(), ToolError> {
        self.store.delete_entity(&principal.owner, kind, id).await?;
        Ok(())
    }

    fn masked<'v>(
        &self,
        body: &'v Value,
    ) -> Result<quintain_wire::redact::Masked<'v, Value>, ToolError> {
        self.jobs.world.redactor.masked(body).map_err(|error| {
            let what = format!("this contains a secret that cannot be masked: {error}");
            ToolError::new(ErrorCode::InvalidConfiguration, what)
        })
    }

    async fn check_size(&self, principal: &Principal, body: &Value) -> Result<(), ToolError> {
        let limit = self.quota(principal).stored_bytes;
        let size = body.to_string().len() as u64;
        let stored = self.store.stored_bytes(&principal.owner).await?;
        if stored.saturating_add(size) <= limit {
            return Ok(());
        }
        let what = format!("this would store more than {limit} bytes for you ({stored} so far)");
        let error = ToolError::new(ErrorCode::BudgetExceeded, what);
        Err(error.with_hint("delete data sets or orchestrators that you no longer need"))
    }
}
