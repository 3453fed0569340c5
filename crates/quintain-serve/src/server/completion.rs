//! `completion/complete`: values of enumerations, and ids of what the principal stored.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use serde_json::json;

use super::prompts::path_of;
use super::resources::{self, Address};
use super::shared::Server;
use crate::principal::Principal;
use crate::prompt::Values;

pub(super) async fn complete(
    server: &Server,
    principal: &Principal,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let name = request.argument.name.as_str();
    let candidates = match &request.r#ref {
        Reference::Prompt(prompt) => of_prompt(server, principal, &prompt.name, name).await?,
        Reference::Resource(template) => {
            of_template(server, principal, &template.uri, name).await?
        }
        _ => Vec::new(),
    };
    let typed = request.argument.value.to_lowercase();
    // In a list, only the last entry is being typed.
    let typed = typed.rsplit(',').next().unwrap_or_default().trim();
    let mut values: Vec<String> = candidates;
    values.retain(|value| value.to_lowercase().starts_with(typed));
    values.dedup();
    let total = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let info = CompletionInfo::with_pagination(values, Some(total), has_more)
        .map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

async fn of_prompt(
    server: &Server,
    principal: &Principal,
    prompt: &str,
    argument: &str,
) -> Result<Vec<String>, ErrorData> {
    let found = server.catalogue.prompt(prompt).ok_or_else(|| unknown("prompt", prompt))?;
    let of_name = |known: &&crate::prompt::Argument| {
        known.name == argument || known.aliases.contains(&argument)
    };
    let known =
        found.meta().arguments.iter().find(of_name).ok_or_else(|| unknown("argument", argument))?;
    match &known.values {
        Values::Text => Ok(Vec::new()),
        Values::Suggested(words) | Values::OneOf(words) | Values::List(words) => {
            Ok(words.iter().map(|word| (*word).to_owned()).collect())
        }
        Values::Id(stored) => {
            let prefix = path_of(*stored, "");
            last_segments(server, principal, &prefix).await
        }
    }
}

async fn of_template(
    server: &Server,
    principal: &Principal,
    uri: &str,
    argument: &str,
) -> Result<Vec<String>, ErrorData> {
    let address = Address::parse(uri).ok_or_else(|| unknown("resource template", uri))?;
    let Some((prefix, _)) = address.path.split_once(&format!("{{{argument}}}")) else {
        return Err(unknown("argument", argument));
    };
    last_segments(server, principal, prefix).await
}

/// What can follow a path.
async fn last_segments(
    server: &Server,
    principal: &Principal,
    prefix: &str,
) -> Result<Vec<String>, ErrorData> {
    let listed = resources::list(server, principal).await?;
    let mut values: Vec<String> = listed
        .iter()
        .filter_map(|resource| Address::parse(&resource.uri)?.path.strip_prefix(prefix))
        .map(|rest| rest.split('/').next().unwrap_or_default().to_owned())
        .collect();
    values.sort();
    values.dedup();
    Ok(values)
}

fn unknown(what: &str, name: &str) -> ErrorData {
    let sentence = format!("unknown {what} `{name}`");
    ErrorData::invalid_params("Invalid params", Some(json!({"validation_errors": [sentence]})))
}
