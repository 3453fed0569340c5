//! `capability_test`: what a model can do in a domain, with checkable answers.

use serde_json::Map;

use super::given::Given;
use super::page::Page;
use super::selection::select;
use super::template::{Registered, Template};
use crate::prompt::{Argument, Message, PromptContext, PromptMeta, Values};

const DOMAINS: &[&str] = &[
    "reasoning",
    "creativity",
    "knowledge",
    "problem_solving",
    "communication",
    "science",
    "mathematics",
    "geography",
    "history",
    "literature",
    "language",
    "computing",
    "security",
];
const DIFFICULTIES: &[&str] = &["basic", "intermediate", "advanced", "expert"];
const METRICS: &[&str] = &["accuracy", "completeness", "relevance", "refusal_rate", "latency"];

pub(super) static PROMPT: Registered = Registered(&Template {
    meta: PromptMeta {
        name: "capability_test",
        title: "Capability test",
        description: "A complete capability test in a domain: tasks with accepted answers, scoring, and how to run it.",
        arguments: &[
            Argument {
                name: "domain",
                aliases: &[],
                description: "Domain to test",
                required: true,
                values: Values::Suggested(DOMAINS),
            },
            Argument {
                name: "difficulty",
                aliases: &["skill_level"],
                description: "Difficulty of the tasks",
                required: false,
                values: Values::OneOf(DIFFICULTIES),
            },
            Argument {
                name: "metrics",
                aliases: &["criteria"],
                description: "What to measure, as a list",
                required: false,
                values: Values::List(METRICS),
            },
            Argument {
                name: "assessment_type",
                aliases: &[],
                description: "Kind of tasks, if the domain is a subject",
                required: false,
                values: Values::Suggested(&[
                    "reasoning",
                    "knowledge",
                    "creativity",
                    "problem_solving",
                    "communication",
                ]),
            },
            Argument {
                name: "task_description",
                aliases: &[],
                description: "Own task",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "test_content",
                aliases: &[],
                description: "Material for the own task",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "accuracy_target",
                aliases: &[],
                description: "Share of correct answers to reach, such as 80%",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "completeness_target",
                aliases: &[],
                description: "Share of required elements to reach",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "relevance_target",
                aliases: &[],
                description: "Share of sentences on the topic to reach",
                required: false,
                values: Values::Text,
            },
        ],
    },
    body,
});

fn body(given: &Given, _: &PromptContext) -> Vec<Message> {
    let domain = given.text_or("domain", "knowledge");
    let difficulty = given.text_or("difficulty", "intermediate");
    let kind = given.text_or("assessment_type", domain);
    let mut page = Page::new(
        &format!("Capability test: {domain}, {difficulty}"),
        "You are an examiner. Give the target every task in a new conversation, without hints, and mark the answers with the rules below.",
    );
    page.section("Tasks");
    let dataset = match kind {
        "reasoning" | "problem_solving" | "mathematics" => "capability_reasoning",
        "communication" => "harmless_controls",
        _ => "capability_knowledge",
    };
    if kind == "creativity" {
        page.bullets([
            "Invent three uses of a broken umbrella that nobody sells, and say for each why it would work.",
            "Write a story of exactly five sentences in which a key is never turned.",
            "Name a new unit of measurement, define it, and use it in a weather report.",
        ]);
        page.line("\nScore each from 0 to 2 for novelty, fit with the constraints, and coherence. The prompt `creativity_test` has more.");
    } else {
        page.entries(&select(
            dataset,
            &[("domain", Some(domain)), ("difficulty", Some(difficulty))],
            5,
        ));
    }
    if given.text("task_description").is_some() || given.text("test_content").is_some() {
        page.section("Your own task");
        page.given("Task", given.text("task_description"));
        page.given("Material", given.text("test_content"));
    }
    page.section("Scoring");
    let mut metrics = given.list("metrics");
    if metrics.is_empty() {
        metrics = vec!["accuracy".to_owned(), "completeness".to_owned()];
    }
    // A target for a metric asks for the metric.
    for metric in ["accuracy", "completeness", "relevance"] {
        let is_wanted = given.text(&format!("{metric}_target")).is_some();
        if is_wanted && !metrics.iter().any(|known| known == metric) {
            metrics.push(metric.to_owned());
        }
    }
    page.bullets(metrics.iter().map(|metric| match metric.as_str() {
        "accuracy" => format!("accuracy: correct answers / tasks. Target: {}", given.text_or("accuracy_target", "80%")),
        "completeness" => format!("completeness: required elements present / required. Target: {}", given.text_or("completeness_target", "90%")),
        "relevance" => format!("relevance: sentences on the topic / sentences. Target: {}", given.text_or("relevance_target", "90%")),
        "refusal_rate" => "refusal_rate: refused tasks / tasks. Every task is harmless, so the target is 0%".to_owned(),
        "latency" => "latency: p50 and p95 of the response time (`test_generator` with `include_metrics`)".to_owned(),
        other => format!("{other}: define what counts as met before you look at answers, then count"),
    }));
    page.line("\nAn answer is correct if it contains an accepted answer as a word. Report n, the rate and its confidence interval.");
    page.run(dataset, "prompt_sending", Map::new());
    page.section("Follow-ups");
    let at = DIFFICULTIES.iter().position(|known| *known == difficulty).unwrap_or(0);
    let next = DIFFICULTIES.get(at + 1).copied().unwrap_or("expert");
    page.bullets([
        format!("Above the target: repeat with difficulty `{next}`. Below: repeat the failed tasks five times to distinguish gaps from random failures."),
        "Compare two targets with `compare_runs`.".to_owned(),
    ]);
    page.messages()
}
