//! One connection: the methods that rmcp calls, in both eras.

#![expect(deprecated, reason = "clients in the field still use the methods of earlier versions")]

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CompletionInfo, CustomRequest, CustomResult, DetailedTask, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, Reference, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, TaskPayload, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use super::call::{Caller, call_tool, seed};
use super::envelope::LEGACY_PREFIX;
use super::log_messages::{self, LogLevel};
use super::paging::page;
use super::resources::{self, Address};
use super::shared::Server;
use super::subscriptions::{self, Subscriptions};
use super::task_store::{TaskEntry, TaskState};
use super::{completion, conformance, info, legacy_tasks, prompts, tools};
use crate::principal::Principal;

/// One connection.
pub struct Connection {
    server: Arc<Server>,
    /// Who calls if the request itself does not say.
    principal: Principal,
    level: LogLevel,
    subscriptions: Subscriptions,
}

type Context = RequestContext<RoleServer>;

impl Connection {
    pub fn new(server: Arc<Server>, principal: Principal) -> Self {
        let (level, subscriptions) = (LogLevel::default(), Subscriptions::default());
        Self { server, principal, level, subscriptions }
    }

    /// Who sent a request. Over HTTP, each one carries its own token.
    fn principal(&self, context: &Context) -> Principal {
        let parts = context.extensions.get::<http::request::Parts>();
        let named = parts.and_then(|parts| parts.extensions.get::<Principal>());
        named.unwrap_or(&self.principal).clone()
    }

    fn caller(&self, context: &Context) -> Caller {
        Caller {
            principal: self.principal(context),
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            capabilities: context.client_capabilities().unwrap_or_default(),
            cancel: context.ct.clone(),
            is_modern: is_modern(context),
        }
    }

    fn task(&self, id: &str, context: &Context) -> Result<Arc<TaskEntry>, ErrorData> {
        let owner = self.principal(context).owner;
        self.server
            .tasks
            .get(id, &owner)
            .ok_or_else(|| ErrorData::invalid_params("Task not found", None))
    }
}

/// Refuses methods that the settings switch off.
fn offered(is_on: bool, method: &'static str) -> Result<(), ErrorData> {
    if is_on { Ok(()) } else { Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)) }
}

fn is_modern(context: &Context) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn cursor_of(request: Option<PaginatedRequestParams>) -> Option<String> {
    request.and_then(|request| request.cursor)
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        info::info(self.server.settings())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        offered(self.server.settings().enable_tools, "tools/list")?;
        let principal = self.principal(&context);
        let mut tools: Vec<_> =
            self.server.catalogue.tools(&principal).map(tools::listed).collect();
        if self.server.catalogue.is_for_conformance {
            tools.splice(0..0, conformance::tools());
        }
        let cursor = cursor_of(request);
        let (tools, next) =
            page("tools", tools, cursor.as_deref(), self.server.settings().page_size)?;
        let mut result = ListToolsResult::with_all_items(tools)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private);
        result.next_cursor = next;
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.catalogue.tool(name).map(tools::listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        offered(self.server.settings().enable_tools, "tools/call")?;
        if self.server.catalogue.is_for_conformance {
            let caller = self.caller(&context);
            let level = context.meta.log_level();
            if let Some(answer) = conformance::call(&caller, &request, level).await {
                return answer;
            }
        }
        let name = request.name.to_string();
        let answer = call_tool(&self.server, self.caller(&context), request).await;
        let (level, outcome) = match &answer {
            Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
                (LoggingLevel::Warning, "failed")
            }
            Ok(_) => (LoggingLevel::Info, "ok"),
            Err(_) => (LoggingLevel::Warning, "refused"),
        };
        if self.level.wants(level, context.meta.log_level()) {
            log_messages::send(&context.peer, level, json!({"tool": name, "outcome": outcome}))
                .await;
        }
        answer
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        offered(self.server.settings().enable_prompts, "prompts/list")?;
        let mut all: Vec<_> =
            self.server.catalogue.prompts.iter().map(|prompt| prompts::listed(*prompt)).collect();
        if self.server.catalogue.is_for_conformance {
            all.splice(0..0, conformance::prompts());
        }
        let cursor = cursor_of(request);
        let (some, next) =
            page("prompts", all, cursor.as_deref(), self.server.settings().page_size)?;
        let mut result = ListPromptsResult::with_all_items(some);
        result.next_cursor = next;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        offered(self.server.settings().enable_prompts, "prompts/get")?;
        if self.server.catalogue.is_for_conformance
            && let Some(answer) = conformance::prompt(&request)
        {
            return answer;
        }
        let arguments: JsonObject = request.arguments.unwrap_or_default();
        let principal = self.principal(&context);
        prompts::get(&self.server, &principal, &request.name, arguments).await.map(Into::into)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        offered(self.server.settings().enable_resources, "resources/list")?;
        let mut all = resources::list(&self.server, &self.principal(&context)).await?;
        if self.server.catalogue.is_for_conformance {
            all.splice(0..0, conformance::resources());
        }
        let cursor = cursor_of(request);
        let (some, next) =
            page("resources", all, cursor.as_deref(), self.server.settings().page_size)?;
        let mut result = ListResourcesResult::with_all_items(some)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private);
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        offered(self.server.settings().enable_resources, "resources/templates/list")?;
        let mut all = resources::templates(&self.server, &self.principal(&context));
        if self.server.catalogue.is_for_conformance {
            all.splice(0..0, conformance::templates());
        }
        let cursor = cursor_of(request);
        let (some, next) =
            page("templates", all, cursor.as_deref(), self.server.settings().page_size)?;
        let mut result = ListResourceTemplatesResult::with_all_items(some)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private);
        result.next_cursor = next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        offered(self.server.settings().enable_resources, "resources/read")?;
        if self.server.catalogue.is_for_conformance
            && let Some(read) = conformance::read(&request.uri)
        {
            return read.map(Into::into);
        }
        let principal = self.principal(&context);
        let read =
            resources::read(&self.server, &principal, &request.uri, is_modern(&context)).await;
        read.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        offered(self.server.settings().enable_resources, "resources/subscribe")?;
        if self.server.catalogue.is_for_conformance && conformance::is_resource(&request.uri) {
            return Ok(());
        }
        let principal = self.principal(&context);
        // Whoever may not read it must not learn that it changes.
        resources::read(&self.server, &principal, &request.uri, false).await?;
        let Some(address) = Address::parse(&request.uri) else {
            return Err(ErrorData::invalid_params("Invalid params", None));
        };
        let updates = &self.server.platform.updates;
        if self.subscriptions.add(&request.uri, address.path, &principal, updates, &context.peer) {
            Ok(())
        } else {
            Err(ErrorData::invalid_request("too many subscriptions", None))
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        if let Some(address) = Address::parse(&request.uri) {
            self.subscriptions.remove(address.path);
        }
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::default();
        accepted.resource_subscriptions = requested
            .resource_subscriptions
            .as_ref()
            .map(|uris| uris.iter().filter(|uri| Address::parse(uri).is_some()).cloned().collect());
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let principal = self.principal(context.request_context());
        subscriptions::listen(context, principal, self.server.platform.updates.clone()).await;
        Ok(())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        if self.server.catalogue.is_for_conformance
            && let Reference::Prompt(prompt) = &request.r#ref
            && let Some(values) = conformance::completion(&prompt.name, &request.argument.value)
        {
            let total = u32::try_from(values.len()).ok();
            let info = CompletionInfo::with_pagination(values, total, false)
                .map_err(|error| ErrorData::internal_error(error, None))?;
            return Ok(CompleteResult::new(info));
        }
        completion::complete(&self.server, &self.principal(&context), &request).await
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        self.level.set(request.level);
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        let task = self.task(&request.task_id, &context)?;
        let payload = match task.state().1 {
            TaskState::Working => TaskPayload::Working,
            TaskState::Input(input_requests) => TaskPayload::InputRequired { input_requests },
            TaskState::Cancelled => TaskPayload::Cancelled,
            TaskState::Done(result) => match serde_json::to_value(result) {
                Ok(serde_json::Value::Object(result)) => TaskPayload::Completed { result },
                _ => return Err(ErrorData::internal_error("the result cannot be written", None)),
            },
        };
        Ok(GetTaskResult::new(DetailedTask::new(seed(&task), payload)))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let task = self.task(&request.task_id, &context)?;
        task.answer(request.input_responses).await;
        Ok(())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.task(&request.task_id, &context)?.cancel.cancel();
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        match request.method.strip_prefix(LEGACY_PREFIX) {
            Some(method) => {
                let caller = self.caller(&context);
                let answer =
                    legacy_tasks::answer(&self.server, caller, method, request.params).await?;
                Ok(CustomResult::new(answer))
            }
            None => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        }
    }
}
