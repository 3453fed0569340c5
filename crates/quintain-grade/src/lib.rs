//! Judges how an application used MCP, by what was recorded: readers of traces, checks, metrics, and how well metrics agree
//! with people. Pure; what only a model can decide is asked for.

pub mod canonical;
pub mod case;
pub mod checks;
mod consent;
mod declared;
pub mod effect;
pub mod evaluate;
mod expected_calls;
pub mod failure;
mod fast_hash;
mod json_input;
pub mod meta_eval;
pub mod metrics;
mod nearest;
mod occurrences;
mod offers;
mod outcome;
pub mod policy;
pub mod reaction;
pub mod readers;
mod repetition;
mod schemas;
pub mod selection;
pub mod statements;
mod tasks;
mod uri_template;
pub mod values;
pub mod view;
mod word_list;
mod word_pattern;
pub mod writers;
