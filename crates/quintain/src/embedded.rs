//! The engine in the environment of this process, for programs that are not the command line.

use std::path::PathBuf;
use std::sync::Arc;

use quintain_engine::jobs::{Jobs, RunRequest, Work};
use quintain_engine::store::{LOCAL_OWNER, Store, StoreError};
use quintain_engine::{Disk, Policy, World, models};

use crate::context::{Context, Invocation};

/// The environment of this process: its variables, its working directory and its store of runs.
pub struct Embedded {
    context: Context,
}

impl Embedded {
    pub fn of_process() -> Self {
        Self { context: Context::read(Invocation::of_process()) }
    }

    /// Opens the store of the user's runs.
    ///
    /// # Errors
    /// When there is no home directory, or the store cannot be opened.
    pub async fn store(&self) -> Result<Store, StoreError> {
        Store::open(&self.context.store_folder()?).await
    }

    /// What runs and sessions in this environment use.
    pub fn world(&self) -> World {
        self.context.world()
    }

    /// The jobs of this process.
    pub fn jobs(&self, store: Option<Store>) -> Jobs {
        Jobs::new(self.world(), Arc::new(Disk), store)
    }

    /// A request of the user. The id of the run starts with its kind.
    pub fn request(&self, kind: &str, work: Work) -> RunRequest {
        self.context.request(kind, work)
    }
}

impl Context {
    /// The folder of the store of runs.
    pub(crate) fn store_folder(&self) -> Result<PathBuf, StoreError> {
        self.state_dir().ok_or_else(|| StoreError::Open {
            path: "runs.db".into(),
            why: "no home directory; set QUINTAIN_HOME".to_owned(),
        })
    }

    /// What runs in this environment use. The redactor knows nothing yet.
    pub(crate) fn world(&self) -> World {
        let state_dir = self.state_dir();
        World {
            env: self.env.clone().into(),
            cwd: self.cwd.clone(),
            model_cache: state_dir.as_deref().map(models::cache_folder),
            state_dir,
            request_timeout: self.request_timeout(),
            ..World::default()
        }
    }

    /// A request of the user. The id of the run starts with its kind.
    pub(crate) fn request(&self, kind: &str, work: Work) -> RunRequest {
        let created = self.now();
        RunRequest {
            id: format!("{kind}-{}-{created}", self.letters(3)),
            created,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            owner: LOCAL_OWNER.to_owned(),
            policy: Policy::everything(),
            stored: true,
            description: None,
            tags: std::collections::BTreeMap::new(),
            work,
        }
    }
}
