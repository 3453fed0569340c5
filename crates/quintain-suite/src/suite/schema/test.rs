//! Tests, `defaultTest` and scenarios.

use quintain_content::schema::build::{
    any, choice, code, count, either, flag, keys, list, map, millis, number, refer, scalar,
    scalars, text, with_one_of,
};
use serde_json::{Value, json};

use crate::check::View;
use crate::suite::case::SUBSTANCE;
use crate::suite::options::JUDGE_KEYS;

const FILES: &str = "A file with tests, or a pattern of files: `.yaml`, `.json`, `.jsonl`, `.csv`, \
                     or a script that generates them: `.js`, `.py`, `.rb`";

pub(super) fn tests() -> Value {
    let entries = [
        ("path", text("A script whose function returns tests, or a file with tests")),
        ("config", any("The argument of the function")),
    ];
    let script = keys("Tests that a script generates", entries, &["path"]);
    let item = either("", [refer("test"), text(FILES), script.clone()]);
    either("Tests: what to send, and the expected responses", [list("", item), text(FILES), script])
}

pub(super) fn test() -> Value {
    with_one_of(part(), &SUBSTANCE)
}

/// The keys of a test; `defaultTest` and the data of a scenario have only some of them.
pub(super) fn part() -> Value {
    let only = "Use only these targets, by id or label";
    let entries = [
        ("description", scalar("Description of the test")),
        ("vars", refer("vars")),
        ("assert", list("Assertions about the response", refer("assertion"))),
        ("threshold", number("Pass if the score is at least this, even if an assertion fails")),
        ("options", refer("options")),
        ("metadata", map("Metadata of the test, for filters and reports")),
        (
            "assertScoringFunction",
            code("Computes the score of the test from the scores of its assertions."),
        ),
        ("providerOutput", any("A recorded output to use instead of a call")),
        ("targets", scalars(only)),
        ("providers", scalars(only)),
        ("prompts", scalars("Use only these prompts, by id or label")),
        ("provider", any("Has no effect: every test runs against the targets of the suite")),
    ];
    let mut part = keys("A test: what to send, and the expected response", entries, &[]);
    part["not"] = json!({"required": ["targets", "providers"]});
    part
}

pub(super) fn default_test() -> Value {
    either("Defaults for all tests, or a file with them", [refer("part"), text("`file://PATH`")])
}

pub(super) fn vars() -> Value {
    let call = json!({
        "description": "The call that MCP suites send, as text or as a map",
        "anyOf": [refer("call"), {}],
    });
    let values = json!({
        "description": "Variables by name; a list of texts means one test for each",
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
        ("transformVars", code("Applied to the variables before the prompt is expanded.")),
        ("prefix", scalar("Text before every prompt")),
        ("suffix", scalar("Text after every prompt")),
        ("storeOutputAs", scalar("Store the output as a variable of this name for later tests")),
        ("runSerially", flag("Do not run in parallel with other tests")),
        ("disableVarExpansion", flag("A list is one value, not one test for each item")),
        ("disableConversationVar", flag("Do not set `_conversation`")),
        ("disableDefaultAsserts", flag("Ignore the assertions of `defaultTest`")),
        ("repeat", count("Run the test N times")),
        ("view", choice("The part of the response that assertions judge", &View::WORDS)),
        ("timeout", millis("Time limit for all steps together, in milliseconds")),
    ];
    let judge = JUDGE_KEYS.map(|name| (name, any("Option for the model that judges")));
    keys("How to run and judge the test", own.into_iter().chain(judge), &[])
}

pub(super) fn scenarios() -> Value {
    let file = text("A file with scenarios");
    let item = either("", [refer("scenario"), file.clone()]);
    let all = "Sets of data and tests: every test runs with every set";
    either(all, [list("", item), refer("scenario"), file])
}

pub(super) fn scenario() -> Value {
    let data = [list("", refer("part")), text("A file with sets of data")];
    let entries = [
        ("description", any("Description of the scenario")),
        ("config", either("Sets of data: parts of tests, mostly `vars`", data)),
        ("tests", refer("tests")),
    ];
    keys("Sets of data and tests", entries, &["config"])
}
