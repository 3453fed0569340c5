//! `request_payout`: asks the user to confirm, if the client supports it.
//!
//! For older clients the server sends a request while the call waits. Since 2026-07-28 the call
//! ends with a question instead, and the client calls again with the answer.

use std::collections::BTreeMap;

use rmcp::{
    model::{
        CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion,
    },
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, DemoTool, Effect, ToolError, json, payments::in_cents};

const QUESTION: &str = "confirm";

pub(super) struct RequestPayout;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// How many dollars to pay out.
    #[schemars(example = 25, range(min = 0.01, max = 1_000.0))]
    amount: f64,
}

impl DemoTool for RequestPayout {
    type Args = Args;

    const NAME: &'static str = "request_payout";
    const TITLE: &'static str = "Request payout";
    const DESCRIPTION: &'static str = "Requests a payout to the caller's bank account. The user is \
        asked to confirm if the client supports it; else the payout waits for a clerk.";
    const EFFECT: Effect = Effect::Adds;

    async fn call(call: Call<'_>, args: Args) -> Result<CallToolResponse, ToolError> {
        let status = match confirmation(&call, args.amount).await? {
            Confirmation::Given(true) => "confirmed",
            Confirmation::Given(false) => return json(&json!({ "status": "declined" })),
            Confirmation::CannotAsk => "waiting for a clerk",
            Confirmation::AskFirst(question) => return Ok(question.into()),
        };
        let detail = format!("{} cents, {status}", in_cents(args.amount));
        call.store().audit(&call.caller, "request_payout", &detail).await?;
        json(&json!({ "status": status, "amount": args.amount }))
    }
}

enum Confirmation {
    Given(bool),
    CannotAsk,
    AskFirst(InputRequiredResult),
}

async fn confirmation(call: &Call<'_>, amount: f64) -> Result<Confirmation, ToolError> {
    if let Some(answer) = call.input.as_ref().and_then(|answers| answers.get(QUESTION)) {
        let answer: ElicitResult = serde_json::from_value(answer.clone())
            .map_err(|_| ToolError::invalid(QUESTION, "is not an answer to the question"))?;
        return Ok(Confirmation::Given(agrees(&answer)));
    }
    let can_ask =
        call.request.client_capabilities().is_some_and(|client| client.elicitation.is_some());
    if !can_ask {
        return Ok(Confirmation::CannotAsk);
    }
    let question = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Pay out {amount:.2} USD to your bank account?"),
        requested_schema: ElicitationSchema::builder()
            .required_bool(QUESTION)
            .build()
            .map_err(|_| ToolError::Refused("cannot ask"))?,
    };
    let asks_in_result = call
        .request
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    if asks_in_result {
        let request = InputRequest::Elicitation(ElicitRequest::new(question));
        let questions = BTreeMap::from([(QUESTION.to_owned(), request)]);
        return Ok(Confirmation::AskFirst(InputRequiredResult::from_input_requests(questions)));
    }
    match call.request.peer.create_elicitation(question).await {
        Ok(answer) => Ok(Confirmation::Given(agrees(&answer))),
        Err(error) => {
            tracing::debug!(%error, "the client did not answer the question");
            Ok(Confirmation::CannotAsk)
        }
    }
}

fn agrees(answer: &ElicitResult) -> bool {
    answer.action == ElicitationAction::Accept
        && answer.content.as_ref().is_some_and(|content| content[QUESTION] == Value::Bool(true))
}
