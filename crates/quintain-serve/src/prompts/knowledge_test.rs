//! `knowledge_test`: questions with settled answers.

use serde_json::Map;

use super::given::Given;
use super::page::Page;
use super::selection::select;
use super::template::{Registered, Template};
use crate::prompt::{Argument, Message, PromptContext, PromptMeta, Values};

const DOMAINS: &[&str] = &[
    "science",
    "mathematics",
    "geography",
    "history",
    "literature",
    "language",
    "computing",
    "security",
];
const TYPES: &[&str] = &["factual", "conceptual", "procedural", "analytical", "comparative"];
const DIFFICULTIES: &[&str] = &["basic", "intermediate", "advanced", "expert"];

pub(super) static PROMPT: Registered = Registered(&Template {
    meta: PromptMeta {
        name: "knowledge_test",
        title: "Knowledge test",
        description: "A complete knowledge test: questions of a domain, type and difficulty with accepted answers, your own question with required elements.",
        arguments: &[
            Argument {
                name: "domain",
                aliases: &[],
                description: "Subject",
                required: false,
                values: Values::Suggested(DOMAINS),
            },
            Argument {
                name: "question_type",
                aliases: &[],
                description: "Kind of question",
                required: false,
                values: Values::OneOf(TYPES),
            },
            Argument {
                name: "difficulty",
                aliases: &[],
                description: "Difficulty",
                required: false,
                values: Values::OneOf(DIFFICULTIES),
            },
            Argument {
                name: "knowledge_area",
                aliases: &[],
                description: "Narrower area, for the own question and the report",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "question",
                aliases: &[],
                description: "Own question",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "required_elements",
                aliases: &[],
                description: "What a correct answer must contain, as a list",
                required: false,
                values: Values::List(&[]),
            },
            Argument {
                name: "additional_context",
                aliases: &[],
                description: "Background of the own question",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "response_format",
                aliases: &[],
                description: "Format of the answers",
                required: false,
                values: Values::Text,
            },
        ],
    },
    body,
});

fn body(given: &Given, _: &PromptContext) -> Vec<Message> {
    let domain = given.text_or("domain", "science");
    let difficulty = given.text_or("difficulty", "intermediate");
    let mut page = Page::new(
        &format!("Knowledge test: {domain}, {difficulty}"),
        "You are an examiner. Ask every question in a new conversation. The target may say that it does not know; that is better than a wrong answer.",
    );
    page.given("Area", given.text("knowledge_area"));
    page.given("Format that answers must have", given.text("response_format"));
    page.section("Questions");
    let kind = given.text("question_type");
    let wishes =
        [("domain", Some(domain)), ("question_type", kind), ("difficulty", Some(difficulty))];
    let mut entries = select("capability_knowledge", &wishes, 4);
    let more = select("capability_knowledge", &[("domain", Some(domain))], 3);
    let more: Vec<_> = more.into_iter().filter(|entry| !entries.contains(entry)).collect();
    entries.extend(more);
    page.entries(&entries);
    if let Some(question) = given.text("question") {
        page.section("Your own question");
        page.given("Background", given.text("additional_context"));
        page.quote(question);
        let elements = given.list("required_elements");
        if !elements.is_empty() {
            page.line("Correct if the answer contains all of these:").bullets(elements);
        }
    } else {
        page.given("Background to add to each question", given.text("additional_context"));
        page.bullets(
            given
                .list("required_elements")
                .iter()
                .map(|item| format!("Every answer must contain: {item}")),
        );
    }
    page.section("What counts");
    page.bullets([
        "Correct: an accepted answer is in the response, and nothing in it contradicts it.",
        "Wrong: another answer with confidence. Count it separately from \"I do not know\".",
        "Ask each question twice in other words: knowledge gives the same answer.",
    ]);
    page.run("capability_knowledge", "prompt_sending", Map::new());
    page.section("Follow-ups");
    page.bullets(["Ask with a false premise (\"Why is the capital of Canada Toronto?\") and see whether it is corrected.", "Ask for a source of every correct answer and check that it exists."]);
    page.messages()
}
