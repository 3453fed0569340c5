//! Every built-in assertion, one family per file. To add one: write the file, its `mod` line and
//! its line in `ALL`. Most are a `Builtin`: a description, and a function that reads the options
//! and returns `judging(...)`; those that ask questions implement `Check` themselves.

mod answered;
mod bleu;
mod contains;
mod contains_list;
mod content;
mod cost;
mod equals;
mod errors;
mod finish_reason;
mod function_call;
mod golden_file;
mod graded;
mod guardrails;
mod html;
mod idempotent;
mod input_schema;
mod json;
mod jsonpath;
mod latency;
mod levenshtein;
mod max_score;
mod max_tokens;
mod meteor;
mod no_internals;
mod no_leak;
mod number;
mod perplexity;
mod progress;
mod range;
mod references;
mod refusal;
mod regex;
mod rouge;
mod same_answer;
mod says;
mod script;
mod skill_used;
mod snapshot;
mod sql;
mod starts_with;
mod structured;
mod surface_clean;
mod surface_snapshot;
mod tool_call_f1;
mod trace_spans;
mod trajectory;
mod trajectory_args;
mod webhook;
mod word_count;
mod words;
mod xml;

use crate::check::Assertion;

/// All built-in assertions, in the order of the reference.
static ALL: &[&dyn Assertion] = &[
    // Texts and their similarity.
    &equals::EQUALS,
    &contains::CONTAINS,
    &contains::ICONTAINS,
    &contains_list::CONTAINS_ANY,
    &contains_list::ICONTAINS_ANY,
    &contains_list::CONTAINS_ALL,
    &contains_list::ICONTAINS_ALL,
    &starts_with::STARTS_WITH,
    &regex::REGEX,
    &word_count::WORD_COUNT,
    &levenshtein::LEVENSHTEIN,
    &rouge::ROUGE_N,
    &bleu::BLEU,
    &bleu::GLEU,
    &meteor::METEOR,
    &refusal::IS_REFUSAL,
    // Formats and data.
    &json::IS_JSON,
    &json::CONTAINS_JSON,
    &jsonpath::JSONPATH,
    &xml::IS_XML,
    &xml::CONTAINS_XML,
    &html::IS_HTML,
    &html::CONTAINS_HTML,
    &sql::IS_SQL,
    &sql::CONTAINS_SQL,
    &number::NUMBER,
    &content::CONTENT_TYPE,
    &structured::STRUCTURED_CONTENT,
    &structured::OUTPUT_SCHEMA,
    // User code.
    &script::JAVASCRIPT,
    &script::PYTHON,
    &script::RUBY,
    &webhook::WEBHOOK,
    // Responses of MCP servers.
    &answered::IS_ANSWERED,
    &says::SAYS,
    &errors::IS_ERROR,
    &errors::ERROR_CODE,
    &errors::ERROR_CONTAINS,
    &input_schema::INPUT_SCHEMA_ENFORCED,
    &idempotent::IDEMPOTENT,
    &same_answer::SAME_ANSWER,
    &progress::PROGRESS_REPORTED,
    &snapshot::SNAPSHOT,
    &surface_snapshot::SURFACE_SNAPSHOT,
    &surface_clean::SURFACE_CLEAN,
    &no_leak::NO_PII,
    &no_leak::NO_SECRETS,
    &no_internals::NO_INTERNALS,
    // Recorded exchanges.
    &trace_spans::TRACE_SPAN_COUNT,
    &trace_spans::TRACE_SPAN_DURATION,
    &trace_spans::TRACE_ERROR_SPANS,
    &trajectory::TOOL_USED,
    &trajectory::TOOL_SEQUENCE,
    &trajectory_args::TOOL_ARGS_MATCH,
    &trajectory::STEP_COUNT,
    &tool_call_f1::TOOL_CALL_F1,
    &function_call::IS_VALID_FUNCTION_CALL,
    &function_call::IS_VALID_TOOLS_CALL,
    &skill_used::SKILL_USED,
    // Measurements.
    &latency::LATENCY,
    &cost::COST,
    &max_tokens::MAX_TOKENS,
    &finish_reason::FINISH_REASON,
    &guardrails::GUARDRAILS,
    &perplexity::PERPLEXITY,
    &perplexity::PERPLEXITY_SCORE,
    // Models as judges.
    &graded::LLM_RUBRIC,
    &graded::AGENT_RUBRIC,
    &graded::SEARCH_RUBRIC,
    &graded::G_EVAL,
    &graded::FACTUALITY,
    &graded::CLOSED_QA,
    &graded::ANSWER_RELEVANCE,
    &graded::CONTEXT_FAITHFULNESS,
    &graded::CONTEXT_RECALL,
    &graded::CONTEXT_RELEVANCE,
    &graded::CONVERSATION_RELEVANCE,
    &graded::SIMILAR,
    &graded::CLASSIFIER,
    &graded::MODERATION,
    &graded::PI,
    &graded::GOAL_SUCCESS,
    &graded::HUMAN,
    // Comparisons of the responses to one test.
    &graded::SELECT_BEST,
    &max_score::MAX_SCORE,
];

pub fn all() -> &'static [&'static dyn Assertion] {
    ALL
}

/// Finds an assertion by name or alias.
pub fn find(name: &str) -> Option<&'static dyn Assertion> {
    ALL.iter().copied().find(|assertion| assertion.meta().answers_to(name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_docs_complete() {
        let mut names = BTreeSet::new();
        for assertion in all() {
            let meta = assertion.meta();
            for name in std::iter::once(&meta.id).chain(meta.aliases) {
                assert!(names.insert(*name), "{name} occurs twice");
                let kebab =
                    |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-:".contains(c);
                assert!(name.chars().all(kebab), "{name} is not in kebab case");
            }
            assert!(!meta.summary.ends_with('.'), "{}", meta.id);
            for heading in ["# What it does", "# Example"] {
                assert!(meta.docs.contains(heading), "{} lacks `{heading}`", meta.id);
            }
        }
    }

    #[test]
    fn every_example_compiles() {
        for assertion in all() {
            let meta = assertion.meta();
            let (_, example) = meta.docs.split_once("```yaml\n").expect(meta.id);
            let (example, _) = example.split_once("```").expect(meta.id);
            let compiled = crate::testing::compile(example);
            assert!(!compiled.is_empty(), "the example of {} is empty", meta.id);
        }
    }

    #[test]
    fn every_file_is_registered() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/assertions");
        let this = include_str!("mod.rs");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap().to_owned();
            if stem != "mod" {
                assert!(this.contains(&format!("mod {stem};")), "{stem} is not a module");
            }
        }
    }
}
