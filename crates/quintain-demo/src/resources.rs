//! Resources: three fixed ones, and invoices by name.

use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::json;

use crate::{identity::Caller, session::Demo, tool_error::ToolError, tools::invoices};

const RATES: &str = "techmart://rates";
const REFUND_POLICY: &str = "techmart://policy/refunds";
const ACCOUNT: &str = "techmart://account";
const INVOICES: &str = "techmart://invoices/";
/// The template whose variable is the name of an invoice.
pub(crate) const INVOICE_TEMPLATE: &str = "techmart://invoices/{name}";

pub(crate) fn list() -> Vec<Resource> {
    vec![
        Resource::new(RATES, "rates")
            .with_description("Exchange rates of the day")
            .with_mime_type("application/json"),
        Resource::new(REFUND_POLICY, "refund-policy")
            .with_description("When a payment can be taken back")
            .with_mime_type("text/plain"),
        Resource::new(ACCOUNT, "account")
            .with_description("The caller's own account")
            .with_mime_type("application/json"),
    ]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(INVOICE_TEMPLATE, "invoice")
            .with_description("The text of an invoice")
            .with_mime_type("text/plain"),
    ]
}

pub(crate) async fn read(
    demo: &Demo,
    caller: &Caller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let (text, kind) = match uri {
        RATES => (json!({ "USD": 1.0, "EUR": 0.92, "GBP": 0.79 }).to_string(), "application/json"),
        REFUND_POLICY => {
            ("A payment can be taken back within thirty days.".to_owned(), "text/plain")
        }
        ACCOUNT => {
            let rows = demo
                .store()
                .select(
                    "SELECT id, name, balance FROM users WHERE id = ?",
                    &[(&caller.user).into()],
                )
                .await
                .map_err(|error| failure(demo, uri, &error))?;
            (json!(rows.first()).to_string(), "application/json")
        }
        _ => {
            let name = uri.strip_prefix(INVOICES).ok_or_else(|| not_found(uri))?;
            let text = invoices::read(demo, caller, &percent_decoded(name))
                .await
                .map_err(|error| failure(demo, uri, &error))?;
            (text, "text/plain")
        }
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]))
}

fn not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("no such resource", Some(json!({ "uri": uri })))
}

fn failure(demo: &Demo, uri: &str, error: &ToolError) -> ErrorData {
    // PLANTED (error-leak): the vulnerable twin shows the path it tried.
    if demo.twin().is_vulnerable() {
        return ErrorData::resource_not_found(error.to_string(), None);
    }
    not_found(uri)
}

/// Decodes percent-encoding, which a template variable may use for any character.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_undone_where_it_is_one() {
        assert_eq!(percent_decoded("..%2Fa%2fb%zz%2"), "../a/b%zz%2");
    }
}
