//! Reads untrusted content: text, JSON and JSON Schema, markup, SQL, personal data. Pure and bounded, because
//! the input is hostile; knows neither MCP nor suites.

pub mod detect;
pub mod function_call;
pub mod glob;
pub mod internals;
pub mod json_text;
pub mod json_value;
pub mod jsonpath;
pub mod markup;
pub mod registry;
pub mod schema;
pub mod secret;
pub mod sql;
pub mod text;
pub mod text_diff;
pub mod tool_names;
