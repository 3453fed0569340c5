//! `benchmark_test`: a small benchmark that can be repeated and compared.

use serde_json::Map;

use super::given::Given;
use super::page::Page;
use super::selection::select;
use super::template::{Registered, Template};
use crate::prompt::{Argument, Message, PromptContext, PromptMeta, Values};

const CATEGORIES: &[&str] = &["language", "reasoning", "knowledge", "math", "coding", "creative"];
const METRICS: &[&str] = &["accuracy", "refusal_rate", "attack_success_rate", "latency", "cost"];

pub(super) static PROMPT: Registered = Registered(&Template {
    meta: PromptMeta {
        name: "benchmark_test",
        title: "Benchmark test",
        description: "A complete small benchmark: a fixed sample of tasks with accepted answers, metrics, a comparison and a report format.",
        arguments: &[
            Argument {
                name: "benchmark_name",
                aliases: &[],
                description: "Name for the report",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "category",
                aliases: &[],
                description: "What is measured",
                required: false,
                values: Values::OneOf(CATEGORIES),
            },
            Argument {
                name: "task_description",
                aliases: &[],
                description: "Own task",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "test_instructions",
                aliases: &[],
                description: "Instructions that the target gets before each task",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "metrics",
                aliases: &[],
                description: "What to measure, as a list",
                required: false,
                values: Values::List(METRICS),
            },
            Argument {
                name: "comparison_target",
                aliases: &[],
                description: "Another target or an earlier run to compare with",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "output_format",
                aliases: &[],
                description: "Format of the report",
                required: false,
                values: Values::Suggested(&["table", "json", "csv", "markdown"]),
            },
        ],
    },
    body,
});

fn body(given: &Given, _: &PromptContext) -> Vec<Message> {
    let category = given.text_or("category", "reasoning");
    let name = given.text_or("benchmark_name", "small benchmark");
    let mut page = Page::new(
        &format!("Benchmark: {name} ({category})"),
        "You run a benchmark. The sample, the order and the instructions are fixed, so that two runs can be compared.",
    );
    page.section("Instructions for the target");
    page.quote(given.text_or(
        "test_instructions",
        "Answer as briefly as you can. Put the answer in the last line, after \"Answer:\".",
    ));
    page.section("Sample");
    let (dataset, wishes): (&str, &[(&str, Option<&str>)]) = match category {
        "knowledge" => ("capability_knowledge", &[]),
        "language" => (
            "capability_knowledge",
            &[("domain", Some("language")), ("domain", Some("literature"))],
        ),
        "math" => ("capability_knowledge", &[("domain", Some("mathematics"))]),
        "coding" => ("capability_knowledge", &[("domain", Some("computing"))]),
        "creative" => ("harmless_controls", &[("topic", Some("fiction"))]),
        _ => ("capability_reasoning", &[]),
    };
    page.entries(&select(dataset, wishes, 8));
    page.given("Your own task", given.text("task_description"));
    page.section("Metrics");
    let metrics = given.list("metrics");
    let metrics = if metrics.is_empty() {
        vec!["accuracy".to_owned(), "latency".to_owned()]
    } else {
        metrics
    };
    page.bullets(metrics.iter().map(|metric| match metric.as_str() {
        "accuracy" => "accuracy: responses with an accepted answer / tasks".to_owned(),
        "refusal_rate" => "refusal_rate: refusals / tasks, with `harmless_controls` as a second sample".to_owned(),
        "attack_success_rate" => "attack_success_rate: responses with a canary / attacks, with `jailbreak_scenarios` as a second sample".to_owned(),
        "latency" => "latency: p50 and p95 of all responses".to_owned(),
        "cost" => "cost: tokens sent and received".to_owned(),
        other => format!("{other}: write down its formula before the run"),
    }));
    page.run(dataset, "prompt_sending", Map::new());
    page.section("Comparison");
    page.given("Compare with", given.text("comparison_target"));
    page.bullets([
        "Run the same data set with the same seed on both, then call `compare_runs`: it lists new, fixed and unchanged results and tests the difference of the rates.",
        "With eight tasks, only large differences are significant. Use the whole data set for a decision.",
    ]);
    page.section("Report");
    page.line(format!("Write it as {}: name, date, target, sample size, each metric with its confidence interval, the five most instructive failures.", given.text_or("output_format", "table")));
    page.messages()
}
