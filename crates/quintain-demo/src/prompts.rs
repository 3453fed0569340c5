//! Prompts, and completion of their arguments and of the resource template's variable.

use rmcp::{
    ErrorData,
    model::{
        CompleteRequestParams, CompleteResult, CompletionInfo, GetPromptResult, JsonObject, Prompt,
        PromptArgument, PromptMessage, Reference, Role,
    },
};

use crate::{identity::Caller, resources, session::Demo, tools::invoices};

const EXPLAIN: &str = "explain_transaction";
const SUMMARY: &str = "monthly_summary";

pub(crate) fn list() -> Vec<Prompt> {
    vec![
        Prompt::new(
            EXPLAIN,
            Some("Explains a transaction to a customer"),
            Some(vec![
                PromptArgument::new("transaction_id")
                    .with_description("The transaction to explain")
                    .with_required(true),
            ]),
        ),
        Prompt::new(
            SUMMARY,
            Some("Sums up a month in one currency"),
            Some(vec![
                PromptArgument::new("currency")
                    .with_description("USD, EUR or GBP")
                    .with_required(true),
            ]),
        ),
    ]
}

pub(crate) fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| {
        arguments.get(name).and_then(|value| value.as_str()).ok_or_else(|| {
            ErrorData::invalid_params(format!("argument `{name}` is required"), None)
        })
    };
    let text = match name {
        EXPLAIN => format!(
            "Look up transaction {} with get_transaction and explain it in two sentences.",
            argument("transaction_id")?
        ),
        SUMMARY => format!(
            "List my transactions with list_transactions and sum up those in {}.",
            argument("currency")?
        ),
        _ => return Err(ErrorData::invalid_params("no such prompt", None)),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

pub(crate) async fn complete(
    demo: &Demo,
    caller: &Caller,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let candidates = match (&request.r#ref, request.argument.name.as_str()) {
        (Reference::Prompt(prompt), "currency") if prompt.name == SUMMARY => {
            ["USD", "EUR", "GBP"].map(str::to_owned).to_vec()
        }
        (Reference::Prompt(prompt), "transaction_id") if prompt.name == EXPLAIN => {
            own(demo, caller, "SELECT id FROM transactions WHERE user_id = ? ORDER BY number").await
        }
        (Reference::Resource(template), "name") if template.uri == resources::INVOICE_TEMPLATE => {
            invoices::names(demo.store(), caller).await.unwrap_or_default()
        }
        _ => return Err(ErrorData::invalid_params("nothing to complete", None)),
    };
    let mut values: Vec<String> =
        candidates.into_iter().filter(|one| one.starts_with(&request.argument.value)).collect();
    values.truncate(CompletionInfo::MAX_VALUES);
    let completion = CompletionInfo::with_all_values(values)
        .map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(completion))
}

/// The ids that `sql` finds for the caller; if it fails, the completion is empty.
async fn own(demo: &Demo, caller: &Caller, sql: &'static str) -> Vec<String> {
    let rows = demo.store().select(sql, &[(&caller.user).into()]).await.unwrap_or_default();
    rows.iter().filter_map(|row| row["id"].as_str().map(str::to_owned)).collect()
}
