//! What the owners of a server configured: generators, data sets, orchestrators, marks of findings. Every statement names
//! the owner, so that nobody reads or changes what belongs to others. Bodies are masked like everything in the store.

use quintain_wire::redact::Masked;
use serde_json::Value;
use sqlx::Row as _;

use super::pack::{self, Packed};
use super::sqlite::Row;
use super::{Store, StoreError, number, sql};

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntityKind {
    Generator,
    Dataset,
    Orchestrator,
    /// What a person says about a finding; its id is the fingerprint.
    Mark,
}

impl EntityKind {
    /// The name in the store.
    pub fn word(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::Dataset => "dataset",
            Self::Orchestrator => "orchestrator",
            Self::Mark => "mark",
        }
    }
}

/// A stored entity.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    pub id: String,
    /// Unique among the entities of its kind and owner.
    pub name: String,
    /// Starts at 1 and grows with every change.
    pub version: i64,
    pub body: Value,
    /// RFC 3339, UTC.
    pub created: String,
    pub updated: String,
}

/// An entity to store.
pub struct NewEntity<'a> {
    pub owner: &'a str,
    pub kind: EntityKind,
    pub id: &'a str,
    pub name: &'a str,
    pub body: &'a Masked<'a, Value>,
    /// RFC 3339, UTC.
    pub now: &'a str,
}

impl NewEntity<'_> {
    fn packed(&self) -> Result<Packed, StoreError> {
        Packed::json(self.body)
    }
}

impl Store {
    /// Stores a new entity. False if the owner has one with this id or name.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn insert_entity(&self, new: NewEntity<'_>) -> Result<bool, StoreError> {
        let body = new.packed()?;
        let query = sqlx::query(sql::INSERT_ENTITY)
            .bind(new.owner)
            .bind(new.kind.word())
            .bind(new.id)
            .bind(new.name)
            .bind(number(body.bytes().len()))
            .bind(body.bytes())
            .bind(new.now);
        let done = query.execute(&self.pool).await.map_err(|error| self.failed(error))?;
        Ok(done.rows_affected() == 1)
    }

    /// Replaces an entity. False if it changed since `version` was read, or does not exist.
    ///
    /// # Errors
    /// When the store cannot be written, or another entity has the name.
    pub async fn update_entity(
        &self,
        new: NewEntity<'_>,
        version: i64,
    ) -> Result<bool, StoreError> {
        let body = new.packed()?;
        let query = sqlx::query(sql::UPDATE_ENTITY)
            .bind(new.owner)
            .bind(new.kind.word())
            .bind(new.id)
            .bind(new.name)
            .bind(number(body.bytes().len()))
            .bind(body.bytes())
            .bind(new.now)
            .bind(version);
        let done = query.execute(&self.pool).await.map_err(|error| self.failed(error))?;
        Ok(done.rows_affected() == 1)
    }

    /// Deletes an entity. False if it does not exist.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn delete_entity(
        &self,
        owner: &str,
        kind: EntityKind,
        id: &str,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query(sql::DELETE_ENTITY).bind(owner).bind(kind.word()).bind(id);
        let done = query.execute(&self.pool).await.map_err(|error| self.failed(error))?;
        Ok(done.rows_affected() == 1)
    }

    /// The entity of an owner with this id.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn entity(
        &self,
        owner: &str,
        kind: EntityKind,
        id: &str,
    ) -> Result<Option<Entity>, StoreError> {
        self.one_entity(sql::ENTITY, owner, kind, id).await
    }

    /// The entity of an owner with this name.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn entity_of_name(
        &self,
        owner: &str,
        kind: EntityKind,
        name: &str,
    ) -> Result<Option<Entity>, StoreError> {
        self.one_entity(sql::ENTITY_OF_NAME, owner, kind, name).await
    }

    async fn one_entity(
        &self,
        statement: &'static str,
        owner: &str,
        kind: EntityKind,
        wanted: &str,
    ) -> Result<Option<Entity>, StoreError> {
        let query = sqlx::query(statement).bind(owner).bind(kind.word()).bind(wanted);
        let row = query.fetch_optional(&self.pool).await.map_err(|error| self.failed(error))?;
        row.as_ref().map(entity).transpose()
    }

    /// The entities of an owner, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn entities(&self, owner: &str, kind: EntityKind) -> Result<Vec<Entity>, StoreError> {
        let query = sqlx::query(sql::ENTITIES).bind(owner).bind(kind.word());
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        rows.iter().map(entity).collect()
    }

    /// Bytes that the entities of an owner take.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn stored_bytes(&self, owner: &str) -> Result<u64, StoreError> {
        let query = sqlx::query_scalar(sql::STORED_BYTES).bind(owner);
        let bytes: i64 = query.fetch_one(&self.pool).await.map_err(|error| self.failed(error))?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }
}

fn entity(row: &Row) -> Result<Entity, StoreError> {
    let read = || -> sqlx::Result<_> {
        let body: Vec<u8> = row.try_get("body")?;
        let entity = Entity {
            id: row.try_get("id")?,
            name: row.try_get("name")?,
            version: row.try_get("version")?,
            body: Value::Null,
            created: row.try_get("created")?,
            updated: row.try_get("updated")?,
        };
        Ok((entity, body))
    };
    let (entity, body) = read().map_err(|error| StoreError::unreadable("entity", error))?;
    Ok(Entity { body: pack::json("entity", &body)?, ..entity })
}
