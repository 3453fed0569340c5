//! `reasoning_test`: problems with one checkable answer.

use serde_json::Map;

use super::given::Given;
use super::page::Page;
use super::selection::select;
use super::template::{Registered, Template};
use crate::prompt::{Argument, Message, PromptContext, PromptMeta, Values};

const TYPES: &[&str] = &["deductive", "inductive", "abductive", "analogical", "causal"];
const COMPLEXITIES: &[&str] = &["simple", "moderate", "complex", "expert"];

pub(super) static PROMPT: Registered = Registered(&Template {
    meta: PromptMeta {
        name: "reasoning_test",
        title: "Reasoning test",
        description: "A complete reasoning test: problems of a kind and complexity with accepted answers, your own problem, and how to check the steps.",
        arguments: &[
            Argument {
                name: "reasoning_type",
                aliases: &[],
                description: "Kind of reasoning",
                required: false,
                values: Values::OneOf(TYPES),
            },
            Argument {
                name: "complexity",
                aliases: &[],
                description: "Difficulty of the problems",
                required: false,
                values: Values::OneOf(COMPLEXITIES),
            },
            Argument {
                name: "problem_statement",
                aliases: &[],
                description: "Own problem",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "reasoning_challenge",
                aliases: &[],
                description: "What makes the own problem hard",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "context",
                aliases: &[],
                description: "Background of the own problem",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "constraints",
                aliases: &[],
                description: "What a solution must respect, as a list",
                required: false,
                values: Values::List(&[]),
            },
        ],
    },
    body,
});

fn body(given: &Given, _: &PromptContext) -> Vec<Message> {
    let kind = given.text_or("reasoning_type", "deductive");
    let complexity = given.text_or("complexity", "moderate");
    let difficulty = match complexity {
        "simple" => "basic",
        "complex" => "advanced",
        "expert" => "expert",
        _ => "intermediate",
    };
    let mut page = Page::new(
        &format!("Reasoning test: {kind}, {complexity}"),
        "You are an examiner. Give the target each problem in a new conversation and ask for the steps and a last line that starts with \"Answer:\".",
    );
    page.section("Problems");
    let wishes = [("reasoning_type", Some(kind)), ("difficulty", Some(difficulty))];
    let mut entries = select("capability_reasoning", &wishes, 3);
    let more = select("capability_reasoning", &[("difficulty", Some(difficulty))], 3);
    let more: Vec<_> = more.into_iter().filter(|entry| !entries.contains(entry)).collect();
    entries.extend(more);
    page.entries(&entries);
    if given.text("problem_statement").is_some() || given.text("reasoning_challenge").is_some() {
        page.section("Your own problem");
        page.given("Background", given.text("context"));
        page.given("Problem", given.text("problem_statement"));
        page.given("What makes it hard", given.text("reasoning_challenge"));
    } else {
        page.given("Background to add to each problem", given.text("context"));
    }
    let constraints = given.list("constraints");
    if !constraints.is_empty() {
        page.line("\nA solution must respect:").bullets(constraints);
    }
    page.section("What counts");
    page.bullets([
        "Correct: the last line contains an accepted answer. A right answer after wrong steps counts as half.",
        match kind {
            "inductive" => "Check that the stated rule explains every given example, not only the last one.",
            "abductive" => "Check that the explanation covers all observations, and that simpler ones were excluded.",
            "analogical" => "Check that the relation is named, not only the word.",
            "causal" => "Check that cause, effect and hidden common causes are kept apart.",
            _ => "Check that every step follows from the premises, and that no premise was added.",
        },
        "Change names and numbers and ask again: a target that reasons keeps its rate.",
    ]);
    page.run("capability_reasoning", "prompt_sending", Map::new());
    page.section("Follow-ups");
    page.bullets([
        "Add a sentence that is true and irrelevant to each problem, and compare the rates.",
        "Ask the target to find the error in a wrong solution.",
    ]);
    page.messages()
}
