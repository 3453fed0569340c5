//! Targets that take text: composes prompts and sends them. Knows nothing of trials.

mod compose;
mod sender;
mod template;

pub(super) use compose::PastTurn;
pub(super) use sender::{TextSender, is_remote};
