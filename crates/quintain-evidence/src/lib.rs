//! The vocabulary that all crates share: surface, probe, exchange, evidence, verdict, finding, result, event. Data and
//! its invariants; knows nothing about suites, and performs no actions.

pub mod accepted;
pub mod answer_record;
pub mod code;
pub mod connection;
pub mod demands;
pub mod echo;
pub mod effects;
pub mod event;
pub mod evidence;
pub mod exchange;
pub mod finding;
pub mod frameworks;
pub mod graded;
pub mod indicator;
pub mod inquiry;
pub mod kept_file;
pub mod lexicon;
pub mod probe;
pub mod question;
pub mod redteam_node;
pub mod redteam_report;
pub mod reproduce;
pub mod response;
pub mod result;
pub mod run_diff;
pub mod run_info;
pub mod static_finding;
pub mod surface;
pub mod tally;
pub mod tool_call;
pub mod trace;
pub mod trial_key;
pub mod trial_record;
pub mod verdict;
pub mod weakness;
