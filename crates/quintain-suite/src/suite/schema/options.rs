//! `evaluateOptions`, `commandLineOptions`, `derivedMetrics`.

use quintain_content::schema::build::{
    any, code, count, flag, keys, list, millis, scalar, scalars,
};
use serde_json::{Value, json};

use crate::suite::options::{COMMAND_KEYS, MACHINERY_KEYS};

pub(super) fn evaluate() -> Value {
    let mut rate = quintain_content::schema::build::number("Maximum number of calls per second");
    rate["exclusiveMinimum"] = json!(0);
    let own = [
        ("timeoutMs", millis("Time limit for each test in milliseconds")),
        ("maxEvalTimeMs", millis("Time limit for the whole run in milliseconds")),
        ("rate", rate),
        ("failOnToolError", flag("Treat a tool result with `isError` as an error of the test")),
    ];
    let others = MACHINERY_KEYS.map(|name| (name, any("Has no effect")));
    keys("How to run the tests", pace().into_iter().chain(own).chain(others), &[])
}

pub(super) fn command_line() -> Value {
    let output = [("output", scalars("Where to write reports"))];
    let others = COMMAND_KEYS.map(|name| (name, any("Default for the flag of this name")));
    let entries = pace().into_iter().chain(output).chain(others);
    keys("Defaults for the flags of the command line", entries, &[])
}

fn pace() -> [(&'static str, Value); 3] {
    [
        ("maxConcurrency", count("Maximum number of concurrent calls")),
        ("repeat", count("Run every test N times")),
        ("delay", millis("Milliseconds to wait after each test")),
    ]
}

pub(super) fn derived_metrics() -> Value {
    let entries = [
        ("name", scalar("The name of the metric")),
        ("value", code("An expression over named scores.")),
        ("description", any("Description of the metric")),
    ];
    let metric = keys("A number computed from named scores", entries, &["name", "value"]);
    list("Numbers computed from the named scores of all tests", metric)
}
