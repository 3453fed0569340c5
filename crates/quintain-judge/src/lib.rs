//! How the opinion of a model is asked and counted, so that it can be trusted: closed rubrics, quoted material, several
//! samples, abstention, recorded verdicts. Pure; it knows neither models nor what is judged.

pub mod ballot;
pub mod consultation;
pub mod log;
pub mod options;
pub mod panel;
pub mod prompt;
pub mod proof;
pub mod rubric;
pub mod template;
