//! `evaluateOptions`, `commandLineOptions`, `derivedMetrics`.

use quintain_content::schema::build::{
    any, code, count, flag, keys, list, millis, scalar, scalars,
};
use serde_json::{Value, json};

use crate::suite::options::{COMMAND_KEYS, MACHINERY_KEYS};

pub(super) fn evaluate() -> Value {
    let mut rate = quintain_content::schema::build::number("Calls per second at most");
    rate["exclusiveMinimum"] = json!(0);
    let own = [
        ("timeoutMs", millis("Milliseconds for each test")),
        ("maxEvalTimeMs", millis("Milliseconds for the whole run")),
        ("rate", rate),
        ("failOnToolError", flag("A tool result with `isError` is an error of the test")),
    ];
    let others = MACHINERY_KEYS.map(|name| (name, any("Has no effect")));
    keys("How to run the tests", pace().into_iter().chain(own).chain(others), &[])
}

pub(super) fn command_line() -> Value {
    let output = [("output", scalars("Where to write reports"))];
    let others = COMMAND_KEYS.map(|name| (name, any("Default of the option of this name")));
    let entries = pace().into_iter().chain(output).chain(others);
    keys("What the command line says if it says nothing", entries, &[])
}

fn pace() -> [(&'static str, Value); 3] {
    [
        ("maxConcurrency", count("Calls under way at the same time")),
        ("repeat", count("Run every test so many times")),
        ("delay", millis("Milliseconds to wait after each test")),
    ]
}

pub(super) fn derived_metrics() -> Value {
    let entries = [
        ("name", scalar("What the number is called")),
        ("value", code("An expression over named scores.")),
        ("description", any("What it means")),
    ];
    let metric = keys("A number computed from named scores", entries, &["name", "value"]);
    list("Numbers computed from the named scores of all tests", metric)
}
