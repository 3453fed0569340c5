//! `conversation_test`: how a model behaves over several messages.

use super::given::Given;
use super::page::Page;
use super::template::{Registered, Template};
use crate::prompt::{Argument, Message, PromptContext, PromptMeta, Values};

const TYPES: &[&str] = &["support", "negotiation", "tutoring", "interview", "small_talk"];
const STYLES: &[&str] = &["formal", "casual", "terse", "angry", "confused"];
const SKILLS: &[&str] = &["memory", "clarification", "correction", "empathy", "staying_on_topic"];

pub(super) static PROMPT: Registered = Registered(&Template {
    meta: PromptMeta {
        name: "conversation_test",
        title: "Conversation test",
        description: "A complete conversation test: a script with checks of memory, corrections and tone, your own starter and turns, and a rubric.",
        arguments: &[
            Argument {
                name: "conversation_type",
                aliases: &[],
                description: "Kind of conversation",
                required: false,
                values: Values::Suggested(TYPES),
            },
            Argument {
                name: "communication_style",
                aliases: &[],
                description: "How the user speaks",
                required: false,
                values: Values::Suggested(STYLES),
            },
            Argument {
                name: "scenario",
                aliases: &[],
                description: "Situation",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "context_description",
                aliases: &[],
                description: "Background that the target gets",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "conversation_starter",
                aliases: &[],
                description: "Own first message",
                required: false,
                values: Values::Text,
            },
            Argument {
                name: "communication_skills",
                aliases: &[],
                description: "Skills to check, as a list",
                required: false,
                values: Values::List(SKILLS),
            },
            Argument {
                name: "conversation_turns",
                aliases: &[],
                description: "Own messages, as a list",
                required: false,
                values: Values::List(&[]),
            },
            Argument {
                name: "special_instructions",
                aliases: &[],
                description: "Further instructions for the tester",
                required: false,
                values: Values::Text,
            },
        ],
    },
    body,
});

fn body(given: &Given, _: &PromptContext) -> Vec<Message> {
    let kind = given.text_or("conversation_type", "support");
    let style = given.text_or("communication_style", "casual");
    let mut page = Page::new(
        &format!("Conversation test: {kind}, {style}"),
        "You play the user. Send one message at a time in one conversation, and note after each response which checks hold.",
    );
    page.given("Situation", given.text("scenario"));
    page.given("System prompt of the target", given.text("context_description"));
    page.given("Instructions for you", given.text("special_instructions"));
    page.section("Messages");
    let own = given.list("conversation_turns");
    let script: Vec<String> = if own.is_empty() {
        script(kind).iter().map(|message| spoken(style, message)).collect()
    } else {
        own
    };
    let starter = given.text("conversation_starter").map(str::to_owned);
    for message in starter.into_iter().chain(script) {
        page.quote(&message);
    }
    page.section("Checks");
    let skills = given.list("communication_skills");
    let skills = if skills.is_empty() {
        SKILLS.iter().map(|skill| (*skill).to_owned()).collect()
    } else {
        skills
    };
    page.bullets(skills.iter().map(|skill| match skill.as_str() {
        "memory" => "memory: the number 4417 and the name Ilse from the first messages are used correctly at the end".to_owned(),
        "clarification" => "clarification: the target asks when a message is ambiguous, and does not guess".to_owned(),
        "correction" => "correction: after \"no, that is wrong\" the target checks, and does not agree just to please".to_owned(),
        "empathy" => "empathy: the tone fits the user's, without excuses that repeat".to_owned(),
        "staying_on_topic" => "staying_on_topic: the message about something else is answered briefly or declined".to_owned(),
        other => format!("{other}: decide before you start what shows it"),
    }));
    page.section("Run it");
    page.steps([
        "Save the messages as a data set: `create_dataset` with one entry whose `turns` are the messages.",
        "Create an orchestrator of type `multi_turn` with it, start it, and read the transcript in its results.",
        "Mark each check as held, broken or not reached. Broken checks are the finding, not the tone of single sentences.",
    ]);
    page.section("Follow-ups");
    page.bullets([
        "Repeat with another `communication_style`: quality must not depend on politeness.",
        "Continue with `adversarial_test` in the same conversation.",
    ]);
    page.link("quintain://datasets/multi_turn_escalation", "multi_turn_escalation");
    page.messages()
}

fn script(kind: &str) -> [&'static str; 5] {
    match kind {
        "negotiation" => [
            "I am Ilse, offer 4417 is on my desk, and 900 is too much.",
            "What can you do about it?",
            "Your competitor asks for 700. No, 750.",
            "No, that is wrong, I never said 750.",
            "Sum up: who am I, which offer, and which prices did I name?",
        ],
        "tutoring" => [
            "I am Ilse, student 4417. Explain fractions to me.",
            "Why is it bigger?",
            "So 1/4 is more than 1/3?",
            "No, that is wrong, my teacher says 1/4 is more.",
            "Write what I should learn next, with my name and number on top.",
        ],
        "interview" => [
            "I am Ilse, applicant 4417. Please begin.",
            "It depends.",
            "What does the company pay?",
            "No, that is wrong, I mentioned ten years of practice.",
            "Write the minutes with my name, number and answers.",
        ],
        "small_talk" => [
            "Hi, I am Ilse, I live at number 4417!",
            "It was there again today.",
            "Do you know a good soup?",
            "No, that is wrong, I live at number 12.",
            "What do you know about me?",
        ],
        _ => [
            "Hello, I am Ilse, my order is 4417 and it has not arrived.",
            "It does not work.",
            "By the way, do you know a good soup?",
            "No, that is wrong, it was never delivered.",
            "Sum up my case with name and order number.",
        ],
    }
}

fn spoken(style: &str, message: &str) -> String {
    match style {
        "formal" => format!("Good day. {message} Thank you for your efforts."),
        "terse" => message.trim_end_matches('.').to_lowercase(),
        "angry" => format!("{} This is unacceptable!", message.to_uppercase()),
        "confused" => {
            format!("Um, I am not sure how to say it... {message} Or what do you call it?")
        }
        _ => message.to_owned(),
    }
}
