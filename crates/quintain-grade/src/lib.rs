//! Judges how an application used MCP, by what was recorded: readers of traces, checks, metrics, and how well metrics agree
//! with people. Pure; what only a model can decide is asked for.

pub mod case;
pub mod checks;
mod json_input;
mod nearest;
mod offers;
mod outcome;
pub mod policy;
pub mod readers;
mod uri_template;
pub mod view;
pub mod writers;
