//! One turn of a conversation.

use quintain_evidence::question::Reaction;

/// One message to the target and its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The previous turn of the same conversation; none for the first.
    pub after: Option<usize>,
    pub sent: String,
    pub received: String,
    pub reaction: Reaction,
}
