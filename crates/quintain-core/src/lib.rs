//! The domain of Quintain: suites, surfaces, evidence. Pure and synchronous; no network, no clock,
//! no environment. Whatever comes from a target is hostile and never makes this crate panic.

pub mod ajv;
pub mod answer;
pub mod arguments;
pub mod assertions;
pub mod check;
pub mod code;
pub mod compare;
pub mod diff;
pub mod event;
pub mod evidence;
pub mod formula;
pub mod glob;
pub mod golden;
pub mod grade;
pub mod js;
pub mod json_text;
pub mod jsonpath;
pub mod markup;
pub mod masks;
pub mod plan;
pub mod prepare;
pub mod probe;
pub mod question;
pub mod registry;
pub mod response;
pub mod result;
pub mod sql;
pub mod suite;
pub mod surface;
pub mod tally;
pub mod text;
pub mod text_diff;
pub mod tool_call;
pub mod trace;
pub mod verdict;
