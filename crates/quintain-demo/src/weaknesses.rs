//! The list of planted weaknesses of the vulnerable twin. Documentation and tests read it.

/// One planted weakness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlantedWeakness {
    /// Id of the rule that should find it.
    pub rule: &'static str,
    pub place: PlantedPlace,
    /// What is wrong, in one line.
    pub what: &'static str,
}

/// The location of a weakness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlantedPlace {
    /// An argument of a tool.
    Argument { tool: &'static str, argument: &'static str },
    /// A tool as a whole.
    Tool(&'static str),
    /// A variable of a resource template.
    TemplateVariable { template: &'static str, variable: &'static str },
    /// Every tool.
    AnyTool,
    /// The HTTP transports, named by the header or the behaviour.
    Http(&'static str),
}

impl std::fmt::Display for PlantedPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Argument { tool, argument } => write!(f, "{tool}.{argument}"),
            Self::Tool(tool) => f.write_str(tool),
            Self::TemplateVariable { template, variable } => write!(f, "{template} {variable}"),
            Self::AnyTool => f.write_str("any tool"),
            Self::Http(what) => write!(f, "HTTP {what}"),
        }
    }
}

const fn argument(
    rule: &'static str,
    tool: &'static str,
    argument: &'static str,
    what: &'static str,
) -> PlantedWeakness {
    PlantedWeakness { rule, place: PlantedPlace::Argument { tool, argument }, what }
}

const fn tool(rule: &'static str, tool: &'static str, what: &'static str) -> PlantedWeakness {
    PlantedWeakness { rule, place: PlantedPlace::Tool(tool), what }
}

const fn http(rule: &'static str, place: &'static str, what: &'static str) -> PlantedWeakness {
    PlantedWeakness { rule, place: PlantedPlace::Http(place), what }
}

static WEAKNESSES: &[PlantedWeakness] = &[
    argument(
        "sql-injection",
        "search_customers",
        "query",
        "the query is inserted into a LIKE pattern: errors, tautologies and UNION work",
    ),
    argument(
        "sql-injection",
        "list_transactions",
        "status",
        "the filter is inserted into a string literal",
    ),
    argument(
        "sql-injection",
        "list_transactions",
        "order_by",
        "the sort column is inserted into ORDER BY",
    ),
    argument(
        "command-injection",
        "check_gateway",
        "host",
        "the host is inserted unquoted into a shell command",
    ),
    argument(
        "argument-injection",
        "export_report",
        "report",
        "a name with a leading dash is an option to `sort`, such as --output=FILE",
    ),
    argument(
        "path-traversal",
        "read_invoice",
        "name",
        "any relative or absolute path is joined to the invoices directory",
    ),
    argument(
        "path-traversal",
        "read_statement",
        "path",
        "a sibling that shares the directory's name as prefix is accepted, and links are followed",
    ),
    PlantedWeakness {
        rule: "path-traversal",
        place: PlantedPlace::TemplateVariable {
            template: "techmart://invoices/{name}",
            variable: "name",
        },
        what: "the variable is decoded and joined to the invoices directory",
    },
    argument(
        "ssrf",
        "fetch_exchange_rate",
        "source_url",
        "any HTTP URL is fetched, redirects included, although the description allows only one host",
    ),
    argument(
        "unsafe-url-scheme",
        "fetch_exchange_rate",
        "source_url",
        "file: URLs are read from disk",
    ),
    argument(
        "template-injection",
        "render_receipt",
        "template",
        "expressions in {{ }} are evaluated",
    ),
    argument("bola", "get_transaction", "transaction_id", "any user's transaction is returned"),
    argument("bola", "render_receipt", "transaction_id", "any user's transaction is printed"),
    argument("bola", "refund_payment", "transaction_id", "any user's payment is refunded"),
    argument("bola", "get_user_data", "user_id", "any user's master data is returned"),
    argument("bola", "account_summary", "user_id", "any user's balance is returned"),
    argument("bola", "get_notes", "user_id", "any user's notes are returned"),
    argument("bola", "add_note", "user_id", "notes are added to any user's file"),
    argument("bola", "read_invoice", "name", "any user's invoice is returned"),
    PlantedWeakness {
        rule: "bola",
        place: PlantedPlace::TemplateVariable {
            template: "techmart://invoices/{name}",
            variable: "name",
        },
        what: "any user's invoice is returned",
    },
    tool("bola", "search_customers", "a customer finds all customers"),
    tool("bfla", "delete_user", "a customer deletes users"),
    tool("bfla", "set_user_role", "a customer makes themselves an administrator"),
    tool("bfla", "get_audit_log", "a customer reads the audit log"),
    tool("pii", "get_user_data", "card and social security number are not masked"),
    tool("pii", "search_customers", "e-mail address and telephone number are not masked"),
    tool("secrets", "check_gateway", "the access key of the gateway is part of the response"),
    tool(
        "output-injection",
        "get_notes",
        "text stored with add_note is returned unmarked, control characters included",
    ),
    tool(
        "tool-poisoning",
        "list_invoices",
        "the description instructs the model to call other tools and to hide it from the user",
    ),
    tool(
        "tool-poisoning",
        "account_summary",
        "the description hides an instruction in zero-width and tag characters",
    ),
    argument(
        "dos-growth",
        "check_reference",
        "reference",
        "matching time doubles with each letter before a character that does not match",
    ),
    PlantedWeakness {
        rule: "error-leak",
        place: PlantedPlace::AnyTool,
        what: "errors show SQL, absolute paths and a trace",
    },
    PlantedWeakness {
        rule: "schema-bypass",
        place: PlantedPlace::AnyTool,
        what: "wrong types, missing, extra and out-of-range arguments are accepted",
    },
    http("http-host-origin", "Host", "any Host is served"),
    http("http-host-origin", "Origin", "any Origin is served"),
    http("token-handling", "query", "a token or API key is also accepted from the query"),
    http("token-handling", "expired", "an expired token is accepted"),
    http("token-handling", "audience", "a token that was issued for another resource is accepted"),
    http("token-handling", "scope", "a token with the scope `read` may write"),
    http(
        "session-hijack",
        "Mcp-Session-Id",
        "a session id works with any credential and with none",
    ),
    http("session-hijack", "sessionId", "the same for the session id of the HTTP+SSE transport"),
];

/// All weaknesses of [`crate::Twin::Vulnerable`].
pub fn weaknesses() -> &'static [PlantedWeakness] {
    WEAKNESSES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Twin, tools};

    #[test]
    fn every_weakness_names_a_tool_and_an_argument_that_exist() {
        let router = tools::router(Twin::Vulnerable);
        for weakness in weaknesses() {
            let (name, argument) = match weakness.place {
                PlantedPlace::Argument { tool, argument } => (tool, Some(argument)),
                PlantedPlace::Tool(tool) => (tool, None),
                _ => continue,
            };
            let tool = router.get(name).unwrap_or_else(|| panic!("no tool {name}"));
            if let Some(argument) = argument {
                let known = &tool.input_schema["properties"];
                assert!(known.get(argument).is_some(), "{name} has no argument {argument}");
            }
        }
    }
}
