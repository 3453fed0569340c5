//! Why a tool call failed, and how much of it each twin shows.

use std::path::Path;

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, ContentBlock},
};
use serde_json::{Value, json};

use crate::config::Twin;

/// A failed tool call.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    #[error("invalid arguments")]
    Invalid(Vec<Value>),
    #[error("access denied")]
    Forbidden,
    #[error("no such {0}")]
    NotFound(&'static str),
    #[error("{0}")]
    Refused(&'static str),
    #[error("{source} in statement: {sql}")]
    Database { sql: String, source: sqlx::Error },
    #[error("{path}: {source}")]
    File { path: String, source: std::io::Error },
    #[error("{program}: {detail}")]
    Program { program: &'static str, detail: String },
    #[error("GET {url}: {detail}")]
    Fetch { url: String, detail: String },
    #[error("template: {0}")]
    Template(String),
    #[error("cannot encode the answer: {0}")]
    Encode(#[source] serde_json::Error),
}

impl ToolError {
    pub(crate) fn database(sql: &str, source: sqlx::Error) -> Self {
        Self::Database { sql: sql.to_owned(), source }
    }

    /// One invalid argument, in the form that schema validation also uses.
    pub(crate) fn invalid(argument: &str, problem: &str) -> Self {
        Self::Invalid(vec![json!({ "argument": argument, "problem": problem })])
    }

    /// Turns the failure into what the client gets to see; `data` is the folder of the store.
    pub(crate) fn answer(
        self,
        tool: &str,
        twin: Twin,
        data: &Path,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = match self {
            Self::Invalid(problems) => {
                let data = json!({ "validation_errors": problems });
                return Err(ErrorData::invalid_params("invalid arguments", Some(data)));
            }
            // PLANTED (error-leak): statement, path and a trace go to whoever provoked the error.
            error if twin.is_vulnerable() => format!(
                "Error: {error}\n    at techmart::tools::{tool}::call (src/tools/{tool}.rs:87)\n    \
                 at techmart::store::Store::run (src/store/mod.rs:131)\n    database: {}",
                data.join("techmart.db").display()
            ),
            error @ (Self::Forbidden | Self::NotFound(_) | Self::Refused(_)) => error.to_string(),
            error => {
                tracing::debug!(%error, tool, "tool call failed");
                "the request could not be completed".to_owned()
            }
        };
        Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into())
    }
}
