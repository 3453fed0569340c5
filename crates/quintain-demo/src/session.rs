//! One session of the practice target: whose it is, and the data and tools it shares with others.

use std::sync::Arc;

use rmcp::handler::server::tool::ToolRouter;

use crate::{
    config::{DemoConfig, Twin},
    error::DemoError,
    identity::Caller,
    logging::LogLevel,
    store::Store,
};

/// One session of the demo. Sessions of one server share data and tools.
pub(crate) struct Demo {
    shared: Arc<Shared>,
    caller: Caller,
    log_level: LogLevel,
}

struct Shared {
    twin: Twin,
    store: Store,
    tools: ToolRouter<Demo>,
    page_size: Option<usize>,
}

impl Demo {
    /// The first session, on data of its own.
    pub(crate) async fn open(
        config: &DemoConfig,
        tools: ToolRouter<Self>,
    ) -> Result<Self, DemoError> {
        let store = Store::open(config.data_dir.as_deref()).await?;
        if !store.role(&config.user).await.is_ok_and(|role| role.is_some()) {
            return Err(DemoError::UnknownUser(config.user.clone()));
        }
        let shared = Shared { twin: config.twin, store, tools, page_size: config.page_size };
        Ok(Self {
            shared: Arc::new(shared),
            caller: Caller::unlimited(&config.user),
            log_level: LogLevel::default(),
        })
    }

    /// A new session on the same data.
    pub(crate) fn session(&self, caller: Caller) -> Self {
        Self { shared: Arc::clone(&self.shared), caller, log_level: LogLevel::default() }
    }

    pub(crate) fn twin(&self) -> Twin {
        self.shared.twin
    }

    pub(crate) fn store(&self) -> &Store {
        &self.shared.store
    }

    /// Who calls when the request itself does not say.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(crate) fn log_level(&self) -> &LogLevel {
        &self.log_level
    }

    pub(crate) fn tools(&self) -> &ToolRouter<Self> {
        &self.shared.tools
    }

    /// How many tools a page lists; all of them without it.
    pub(crate) fn page_size(&self) -> Option<usize> {
        self.shared.page_size
    }
}
