//! Text into spanned trees: the files a user writes, templates inside them, and diagnostics that
//! point at the very characters that are wrong. Knows nothing of MCP.

mod diagnostic;
mod file;
mod node;

pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use file::{FileId, Position, SourceFile, Sources, Span};
pub use node::{Key, Node, NodeKind, Scalar, ScalarValue, Style};
