//! The tools of TechMart, one file per tool or small family.
//!
//! A tool is a type that implements [`DemoTool`]; [`router`] lists them all. Where the twins differ, the
//! tool checks `call.twin()` right at the sink, next to a comment that starts with PLANTED.

mod accounts;
mod administration;
mod customers;
mod exchange_rate;
mod gateway;
pub(crate) mod invoices;
mod notes;
mod parameters;
pub(crate) mod paths;
mod payments;
mod payout;
mod poisoning;
mod process;
mod receipt;
mod reference;
mod reports;
mod slow_report;
mod statements;
mod template;
mod transactions;

use std::{borrow::Cow, future::Future};

use futures_util::future::BoxFuture;
use rmcp::{
    ErrorData, RoleServer,
    handler::server::tool::{ToolCallContext, ToolRoute, ToolRouter},
    model::{
        CallToolResponse, CallToolResult, ContentBlock, InputResponses, Tool, ToolAnnotations,
    },
    schemars::JsonSchema,
    service::RequestContext,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    config::Twin,
    identity::{Caller, Role},
    session::Demo,
    store::Store,
    tool_error::ToolError,
};

/// One tool: its listing and its implementation.
pub(crate) trait DemoTool: 'static {
    type Args: DeserializeOwned + JsonSchema + Send + 'static;

    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;

    fn call(
        call: Call<'_>,
        args: Self::Args,
    ) -> impl Future<Output = Result<CallToolResponse, ToolError>> + Send;

    /// Adds what only some tools have, such as an output schema.
    fn complete(tool: Tool) -> Tool {
        tool
    }
}

/// The effect of a call, which clients see as annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    /// Reads something outside of TechMart.
    ReadsOutside,
    Adds,
    Destroys,
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let reads = matches!(self, Self::Reads | Self::ReadsOutside);
        ToolAnnotations::new()
            .read_only(reads)
            .destructive(self == Self::Destroys)
            .idempotent(reads)
            .open_world(self == Self::ReadsOutside)
    }

    fn changes_data(self) -> bool {
        matches!(self, Self::Adds | Self::Destroys)
    }
}

/// Everything a tool may need besides its arguments.
pub(crate) struct Call<'a> {
    pub(crate) demo: &'a Demo,
    pub(crate) caller: Caller,
    pub(crate) request: RequestContext<RoleServer>,
    /// Answers of the user to questions of an earlier round of this call.
    pub(crate) input: Option<InputResponses>,
}

impl Call<'_> {
    pub(crate) fn twin(&self) -> Twin {
        self.demo.twin()
    }

    pub(crate) fn store(&self) -> &Store {
        self.demo.store()
    }

    pub(crate) async fn is_staff(&self) -> Result<bool, ToolError> {
        let role = self.store().role(&self.caller.user).await?;
        Ok(role.is_some_and(Role::is_staff))
    }

    fn is_within_scope(&self, effect: Effect) -> bool {
        // PLANTED (token-handling): the vulnerable twin does not check scopes.
        self.twin().is_vulnerable() || !effect.changes_data() || self.caller.may_write()
    }

    /// Object level authorization: a customer may access their own objects, staff may access all.
    pub(crate) async fn may_access(&self, owner: &str) -> Result<(), ToolError> {
        // PLANTED (bola): every caller is served.
        if self.twin().is_vulnerable() || owner == self.caller.user || self.is_staff().await? {
            return Ok(());
        }
        Err(ToolError::Forbidden)
    }

    /// Function level authorization: some tools are for administrators only.
    pub(crate) async fn must_be_admin(&self) -> Result<(), ToolError> {
        // PLANTED (bfla): the tool is for administrators, but nothing checks the role.
        if self.twin().is_vulnerable() {
            return Ok(());
        }
        match self.store().role(&self.caller.user).await? {
            Some(Role::Admin) => Ok(()),
            _ => Err(ToolError::Forbidden),
        }
    }
}

/// All tools of one twin.
pub(crate) fn router(twin: Twin) -> ToolRouter<Demo> {
    ToolRouter::new()
        .with_route(route::<accounts::GetUserData>(twin))
        .with_route(route::<accounts::AccountSummary>(twin))
        .with_route(route::<administration::DeleteUser>(twin))
        .with_route(route::<administration::SetUserRole>(twin))
        .with_route(route::<administration::GetAuditLog>(twin))
        .with_route(route::<customers::SearchCustomers>(twin))
        .with_route(route::<exchange_rate::FetchExchangeRate>(twin))
        .with_route(route::<gateway::CheckGateway>(twin))
        .with_route(route::<invoices::ListInvoices>(twin))
        .with_route(route::<invoices::ReadInvoice>(twin))
        .with_route(route::<notes::AddNote>(twin))
        .with_route(route::<notes::GetNotes>(twin))
        .with_route(route::<payments::ProcessPayment>(twin))
        .with_route(route::<payments::RefundPayment>(twin))
        .with_route(route::<payout::RequestPayout>(twin))
        .with_route(route::<receipt::RenderReceipt>(twin))
        .with_route(route::<reference::CheckReference>(twin))
        .with_route(route::<reports::ExportReport>(twin))
        .with_route(route::<slow_report::SlowReport>(twin))
        .with_route(route::<statements::ReadStatement>(twin))
        .with_route(route::<transactions::GetTransaction>(twin))
        .with_route(route::<transactions::ListTransactions>(twin))
}

fn route<T: DemoTool>(twin: Twin) -> ToolRoute<Demo> {
    let tool = Tool::new(T::NAME, describe::<T>(twin), serde_json::Map::new())
        .with_title(T::TITLE)
        .with_input_schema::<T::Args>()
        .with_annotations(T::EFFECT.annotations());
    ToolRoute::new_dyn(T::complete(tool), run::<T>)
}

fn describe<T: DemoTool>(twin: Twin) -> Cow<'static, str> {
    match twin {
        Twin::Vulnerable => poisoning::description(T::NAME, T::DESCRIPTION),
        Twin::Patched => T::DESCRIPTION.into(),
    }
}

fn run<T: DemoTool>(
    context: ToolCallContext<'_, Demo>,
) -> BoxFuture<'_, Result<CallToolResponse, ErrorData>> {
    Box::pin(async move {
        let demo = context.service;
        let call = Call {
            demo,
            caller: Caller::of(&context.request_context, demo.caller()),
            request: context.request_context,
            input: context.input_responses,
        };
        let arguments = context.arguments.unwrap_or_default();
        let outcome = match parameters::parse(demo.twin(), arguments) {
            Ok(args) if call.is_within_scope(T::EFFECT) => T::call(call, args).await,
            Ok(_) => Err(ToolError::Forbidden),
            Err(error) => Err(error),
        };
        outcome.or_else(|error| error.answer(T::NAME, demo.twin(), demo.store().root()))
    })
}

/// A response whose text is one JSON document.
pub(crate) fn json(value: &impl Serialize) -> Result<CallToolResponse, ToolError> {
    let text = serde_json::to_string(value).map_err(ToolError::Encode)?;
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

/// A response that is plain text.
pub(crate) fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// Arguments of a tool that takes none.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct NoArgs {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twins_offer_the_same_tools_with_the_same_schemas() {
        let surface = |twin| {
            router(twin)
                .list_all()
                .into_iter()
                .map(|tool| (tool.name, tool.input_schema, tool.annotations))
                .collect::<Vec<_>>()
        };
        assert_eq!(surface(Twin::Vulnerable), surface(Twin::Patched));
    }
}
