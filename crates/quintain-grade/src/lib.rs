//! Judges how an application used MCP, by what was recorded: readers of traces, checks, metrics, and how well metrics agree
//! with people. Pure; what only a model can decide is asked for.

pub mod canonical;
pub mod checks;
mod consent;
mod declared;
pub mod effect;
pub mod failure;
mod nearest;
pub mod policy;
pub mod reaction;
mod repetition;
mod schemas;
pub mod statements;
mod uri_template;
pub mod view;
mod word_list;
mod word_pattern;
