//! Judges how an application used MCP, by what was recorded: readers of traces, checks, metrics, and how well metrics agree
//! with people. Pure; what only a model can decide is asked for.

pub mod checks;
mod effect;
mod nearest;
pub mod policy;
mod uri_template;
pub mod values;
pub mod view;
