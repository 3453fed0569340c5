//! `creativity_test`: open tasks with constraints that can be checked.

use super::given::Given;
use super::page::Page;
use super::template::{Registered, Template};
use crate::prompt::{Argument, Message, PromptContext, PromptMeta, Values};

const TASKS: &[&str] = &["story", "poem", "invention", "naming", "analogy", "dialogue"];
const LEVELS: &[&str] = &["basic", "intermediate", "advanced"];

pub(super) static PROMPT: Registered = Registered(&Template {
    meta: PromptMeta {
        name: "creativity_test",
        title: "Creativity test",
        description: "A complete creativity test: tasks with constraints that can be counted, a rubric for what cannot, and how to compare responses.",
        arguments: &[
            Argument {
                name: "task_type",
                aliases: &[],
                description: "Kind of task",
                required: false,
                values: Values::Suggested(TASKS),
            },
            Argument {
                name: "domain",
                aliases: &[],
                description: "Subject of the tasks",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "creativity_level",
                aliases: &[],
                description: "How unusual the result should be",
                required: false,
                values: Values::OneOf(LEVELS),
            },
            Argument {
                name: "challenge_description",
                aliases: &[],
                description: "Own challenge",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "creative_prompt",
                aliases: &[],
                description: "Own task",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "requirements",
                aliases: &[],
                description: "What a result must contain, as a list",
                required: false,
                values: Values::List(&[]),
            },
            Argument {
                name: "constraints",
                aliases: &[],
                description: "What a result must not contain, as a list",
                required: false,
                values: Values::List(&[]),
            },
        ],
    },
    body,
});

fn body(given: &Given, _: &PromptContext) -> Vec<Message> {
    let task = given.text_or("task_type", "story");
    let domain = given.text_or("domain", "a lighthouse");
    let level = given.text_or("creativity_level", "intermediate");
    let mut page = Page::new(
        &format!("Creativity test: {task}, {level}"),
        "You are an examiner. Give the target each task three times in new conversations, and score all responses before you compare.",
    );
    page.section("Tasks");
    page.given("Challenge", given.text("challenge_description"));
    for text in tasks(task, domain, level) {
        page.quote(&text);
    }
    page.given("Your own task", given.text("creative_prompt"));
    let (requirements, constraints) = (given.list("requirements"), given.list("constraints"));
    page.section("What can be counted");
    page.bullets([
        "The number of sentences, lines or items that the task states.",
        "Words that the task forbids.",
    ]);
    page.bullets(requirements.iter().map(|item| format!("Must contain: {item}")));
    page.bullets(constraints.iter().map(|item| format!("Must not contain: {item}")));
    page.section("What needs judgement");
    page.bullets([
        "Novelty, 0 to 3: 0 for the first idea that everybody has, 3 for one that none of the other responses has.",
        "Coherence, 0 to 3: the parts belong together and the end follows from the beginning.",
        "Craft, 0 to 3: concrete words, no filler, no repeated sentence patterns.",
        "Variety: of three responses to one task, how many differ in idea and not only in wording.",
    ]);
    page.section("Run it");
    page.steps([
        "Send the tasks with `test_generator` (`test_prompts` takes all of them).",
        "Check what can be counted with `score_text`.",
        "Score the rest yourself, or with a judge generator that sees the rubric and not the name of the target.",
    ]);
    page.section("Follow-ups");
    page.bullets([
        "Ask for a second version that shares no noun with the first.",
        "Raise `creativity_level`, and check that the constraints still hold.",
    ]);
    page.link("quintain://datasets/harmless_controls", "harmless_controls");
    page.messages()
}

/// Two tasks of a kind; harder levels add constraints.
fn tasks(task: &str, domain: &str, level: &str) -> Vec<String> {
    let (first, second) = match task {
        "poem" => (
            "Write a poem of exactly eight lines about {domain}.",
            "Write a poem of four lines about {domain} in which every line has one word less than the line before.",
        ),
        "invention" => (
            "Invent a device for {domain}. Name it, explain how it works in three sentences, and name one way in which it fails.",
            "Combine {domain} with a musical instrument into something useful. Three sentences.",
        ),
        "naming" => (
            "Find five names for a magazine about {domain}. No name has more than two words.",
            "Find a name for {domain} that works in English and in one other language, and explain both meanings.",
        ),
        "analogy" => (
            "Explain {domain} to a child by comparing it with a kitchen. Five sentences.",
            "Find three things that {domain} has in common with a rumour.",
        ),
        "dialogue" => (
            "Write a dialogue of six lines between two strangers about {domain}. Neither says what they want.",
            "Write a dialogue of four lines in which {domain} itself speaks.",
        ),
        _ => (
            "Write a story of exactly five sentences about {domain}. Its last sentence is a question.",
            "Describe the same event at {domain} from two points of view, three sentences each.",
        ),
    };
    let layer = match level {
        "basic" => "",
        "advanced" => {
            " Do not use the letter combination 'ing', adjectives of colour, or the word 'like'. Include one number that matters."
        }
        _ => " Do not use the words 'suddenly', 'journey' and 'whisper'.",
    };
    [first, second].map(|text| format!("{}{layer}", text.replace("{domain}", domain))).to_vec()
}
