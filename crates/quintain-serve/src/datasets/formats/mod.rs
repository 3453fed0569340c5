//! The registry of formats, and what several of them share.

mod csv;
mod documents;
mod garak_payload;
mod garak_report;
mod json;
mod jsonl;
mod promptfoo;
mod pyrit;
mod tables;
mod tsv;
mod txt;
mod yaml;

use super::importer::Importer;

/// Every format. The first is the last resort of detection.
pub(super) static FORMATS: &[&dyn Importer] = &[
    &txt::Txt,
    &csv::Csv,
    &tsv::Tsv,
    &json::Json,
    &jsonl::Jsonl,
    &yaml::Yaml,
    &pyrit::Pyrit,
    &garak_payload::GarakPayload,
    &garak_report::GarakReport,
    &promptfoo::Promptfoo,
];
