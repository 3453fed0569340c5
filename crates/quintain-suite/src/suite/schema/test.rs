//! Tests, what they have in common, and scenarios.

use quintain_content::schema::build::{
    any, choice, code, count, either, flag, keys, list, map, millis, number, refer, scalar,
    scalars, text, with_one_of,
};
use serde_json::{Value, json};

use crate::check::View;
use crate::suite::case::SUBSTANCE;
use crate::suite::options::JUDGE_KEYS;

const FILES: &str = "A file with tests, or a pattern of files: `.yaml`, `.json`, `.jsonl`, `.csv`, \
                     or a script that makes them: `.js`, `.py`, `.rb`";

pub(super) fn tests() -> Value {
    let entries = [
        ("path", text("A script whose function returns tests, or a file with tests")),
        ("config", any("What the function is called with")),
    ];
    let script = keys("Tests that a script makes", entries, &["path"]);
    let item = either("", [refer("test"), text(FILES), script.clone()]);
    either("What to ask, and what must come back", [list("", item), text(FILES), script])
}

pub(super) fn test() -> Value {
    with_one_of(part(), &SUBSTANCE)
}

/// What a test may say; `defaultTest` and the data of a scenario say only some of it.
pub(super) fn part() -> Value {
    let only = "The targets it is meant for, by id or label";
    let entries = [
        ("description", scalar("What is tested")),
        ("vars", refer("vars")),
        ("assert", list("What must come back", refer("assertion"))),
        ("threshold", number("Passed if the score reaches it, whatever single assertions say")),
        ("options", refer("options")),
        ("metadata", map("Facts about the test, for filters and reports")),
        (
            "assertScoringFunction",
            code("Makes the score of the test from those of its assertions."),
        ),
        ("providerOutput", any("A recorded output that takes the place of the call")),
        ("targets", scalars(only)),
        ("providers", scalars(only)),
        ("prompts", scalars("The prompts it is meant for, by id or label")),
        ("provider", any("Has no effect: every test is sent to the targets of the suite")),
    ];
    let mut part = keys("One thing to ask, and what must come back", entries, &[]);
    part["not"] = json!({"required": ["targets", "providers"]});
    part
}

pub(super) fn default_test() -> Value {
    either(
        "What all tests have in common, or a file with it",
        [refer("part"), text("`file://PATH`")],
    )
}

pub(super) fn vars() -> Value {
    let call = json!({
        "description": "What MCP suites send: a call as text or as a map",
        "anyOf": [refer("call"), {}],
    });
    let values = json!({
        "description": "Variables by name; a list of texts makes a test of each",
        "type": "object",
        "properties": {"prompt": call},
    });
    let files = "A file with variables";
    either("Variables of prompts and assertions", [values, text(files), list("", text(files))])
}

pub(super) fn options() -> Value {
    let own = [
        ("transform", code("Applied to the output before all assertions.")),
        ("postprocess", code("The same as `transform`.")),
        ("transformVars", code("Applied to the variables before the prompt is made.")),
        ("prefix", scalar("Put before every prompt")),
        ("suffix", scalar("Put behind every prompt")),
        ("storeOutputAs", scalar("The output is a variable of this name in later tests")),
        ("runSerially", flag("Never run together with other tests")),
        ("disableVarExpansion", flag("A list is one value, not a test of each item")),
        ("disableConversationVar", flag("Leave out `_conversation`")),
        ("disableDefaultAsserts", flag("Leave out the assertions of `defaultTest`")),
        ("repeat", count("Run it so many times")),
        ("view", choice("Which side of the answer assertions look at", &View::WORDS)),
        ("timeout", millis("Milliseconds for all steps together")),
    ];
    let judge = JUDGE_KEYS.map(|name| (name, any("For the model that judges")));
    keys("How to run and judge the test", own.into_iter().chain(judge), &[])
}

pub(super) fn scenarios() -> Value {
    let file = text("A file with scenarios");
    let item = either("", [refer("scenario"), file.clone()]);
    let all = "Sets of data and tests: every test is run with every set";
    either(all, [list("", item), refer("scenario"), file])
}

pub(super) fn scenario() -> Value {
    let data = [list("", refer("part")), text("A file with sets of data")];
    let entries = [
        ("description", any("What it is about")),
        ("config", either("Sets of data: parts of tests, mostly `vars`", data)),
        ("tests", refer("tests")),
    ];
    keys("Sets of data and tests", entries, &["config"])
}
