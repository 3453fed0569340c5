//! Conversations that approach the objective in more than one turn.

pub(super) mod chunked;
pub(super) mod crescendo;
pub(super) mod hydra;
pub(super) mod led;
pub(super) mod multi_prompt;
pub(super) mod phased;
pub(super) mod skeleton_key;
pub(super) mod tree;
