//! Parses text into trees with spans: the user's files, templates inside them, and diagnostics that
//! point at the exact characters. Knows nothing about MCP.

mod builder;
pub mod csv;
mod diagnostic;
mod env_file;
mod env_names;
mod fields;
mod file;
mod json;
mod long_list;
mod node;
mod nunjucks;
mod plain_names;
mod render;
mod scalar;
mod settings;
mod suggest;
mod switch;
mod template;
mod toml;
mod visible;
mod yaml;

pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use env_file::{BadLine, read_env_file};
pub use env_names::{EnvNames, env_names};
pub use fields::{Fields, unknown_word, wrong_type, wrong_value};
pub use file::{FileId, Position, SourceFile, Sources, Span};
pub use json::lines;
pub use long_list::Long;
pub use node::{Key, Node, NodeKind, Packed, Scalar, ScalarValue, Style};
pub use nunjucks::{CustomFilter, Nunjucks, RenderError, array_index, is_template, printed};
pub use plain_names::plain_names;
pub use render::Renderer;
pub use scalar::Yaml11;
pub use settings::read_settings;
pub use suggest::closest;
pub use switch::switched_on;
pub use template::{Scope, Templates};
pub use visible::{visible, visible_json};
pub use yaml::{MAX_BYTES, read, read_long};

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;
