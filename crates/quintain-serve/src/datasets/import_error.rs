//! Why a text cannot be imported.

/// Why nothing could be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("the text has {bytes} bytes; at most {limit} are allowed")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the text is empty")]
    Empty,
    #[error("the text is not UTF-8: invalid byte at offset {0}")]
    NotUtf8(usize),
    #[error("the text is not {format}: {reason}")]
    Syntax { format: &'static str, line: Option<usize>, reason: String },
    #[error("`{0}` is not a field of entries")]
    UnknownField(String),
}
