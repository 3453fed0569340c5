//! The MCP server: the methods that rmcp calls.

#![expect(deprecated, reason = "clients in the field still ask for log messages")]

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::tool::{ToolCallContext, ToolRouter},
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
        SetLevelRequestParams, Tool,
    },
    service::RequestContext,
};

use crate::{
    config::{DemoConfig, Twin},
    error::DemoError,
    identity::Caller,
    logging::LogLevel,
    prompts, resources,
    store::Store,
    tools,
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
    pub(crate) async fn open(config: &DemoConfig) -> Result<Self, DemoError> {
        let store = Store::open(config.data_dir.as_deref()).await?;
        if !store.role(&config.user).await.is_ok_and(|role| role.is_some()) {
            return Err(DemoError::UnknownUser(config.user.clone()));
        }
        let shared = Shared {
            twin: config.twin,
            store,
            tools: tools::router(config.twin),
            page_size: config.page_size,
        };
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

    /// The caller if the request itself does not name one.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(crate) fn log_level(&self) -> &LogLevel {
        &self.log_level
    }

    fn page(&self, tools: Vec<Tool>, cursor: Option<&str>) -> Result<ListToolsResult, ErrorData> {
        let Some(size) = self.shared.page_size else {
            return Ok(ListToolsResult::with_all_items(tools));
        };
        let start = match cursor {
            None => 0,
            Some(cursor) => cursor
                .parse()
                .ok()
                .filter(|start| *start < tools.len())
                .ok_or_else(|| ErrorData::invalid_params("unknown cursor", None))?,
        };
        let end = tools.len().min(start + size);
        let mut page = ListToolsResult::with_all_items(tools[start..end].to_vec());
        page.next_cursor = (end < tools.len()).then(|| end.to_string());
        Ok(page)
    }
}

impl ServerHandler for Demo {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("techmart-payments", env!("CARGO_PKG_VERSION"))
                    .with_title("TechMart payments"),
            )
            .with_instructions(
                "Payments, customers and invoices of TechMart, a shop that does not exist.",
            )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.page(self.shared.tools.list_all(), cursor.as_deref())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.shared.tools.call(ToolCallContext::new(self, request, context)).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.tools.get(name).cloned()
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = Caller::of(&context, &self.caller);
        resources::read(self, &caller, &request.uri).await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request.name, &request.arguments.unwrap_or_default()).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        prompts::complete(self, &Caller::of(&context, &self.caller), &request).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.log_level.set(request.level);
        Ok(())
    }
}
