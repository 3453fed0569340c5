//! The JSON Schema of suite files, for editors. What it lists is taken from the lists that the loader
//! reads with, wherever there is one.

mod assertion;
mod options;
mod prompt;
mod target;
mod test;

use serde_json::{Value, json};

use quintain_content::schema::build::{
    self, Part, any, either, keys, list, map, map_of, refer, scalar, scalars, text,
};

const ID: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a whole suite, draft 2020-12, with the part that describes `redteam`.
pub fn schema(redteam: Part) -> Value {
    let mut schema = json!({
        "$schema": ID,
        "title": "Quintain suite",
    });
    let definitions = [
        ("target", target::target()),
        ("mcp", target::config()),
        ("server", target::server()),
        ("auth", target::auth()),
        ("respond", target::respond()),
        ("prompt", prompt::prompt()),
        ("call", prompt::call()),
        ("step", prompt::step()),
        ("test", test::test()),
        ("part", test::part()),
        ("vars", test::vars()),
        ("options", test::options()),
        ("scenario", test::scenario()),
        ("tests", test::tests()),
        ("assertion", assertion::assertion()),
    ];
    let definitions =
        definitions.into_iter().chain(redteam.definitions).chain([("code", build::code(""))]);
    let definitions: serde_json::Map<_, _> =
        definitions.map(|(name, schema)| (name.to_owned(), schema)).collect();
    if let (Value::Object(schema), Value::Object(suite)) = (&mut schema, suite(redteam.schema)) {
        schema.extend(suite);
        schema.insert("$defs".into(), Value::Object(definitions));
    }
    schema
}

fn suite(redteam: Value) -> Value {
    let targets = "What is under test: MCP servers, HTTP endpoints, commands, `echo`";
    let targets =
        |name: &'static str| (name, either(targets, [refer("target"), list("", refer("target"))]));
    let mut suite = keys(
        "What to test, what to ask, and what must come back",
        [
            ("$schema", text("The schema of this file, for editors")),
            ("description", scalar("What this suite is about")),
            targets("targets"),
            targets("providers"),
            ("prompts", prompt::prompts()),
            ("tests", refer("tests")),
            ("scenarios", test::scenarios()),
            ("defaultTest", test::default_test()),
            ("env", map_of("Variables for `{{env.NAME}}`, over those of the process", scalar(""))),
            ("evaluateOptions", options::evaluate()),
            ("commandLineOptions", options::command_line()),
            ("derivedMetrics", options::derived_metrics()),
            (
                "outputPath",
                scalars(
                    "Where to write reports, from the folder of the suite on and inside of it; the suffix says in which format",
                ),
            ),
            ("tags", map("Names and values to find the run by")),
            ("metadata", map("Facts about all tests, for filters and reports")),
            ("redteam", redteam),
            ("metrics", any("What to score recorded conversations by")),
            ("judge", any("The model that answers questions of assertions")),
            (
                "assertionTemplates",
                map("Assertions to be used in several places: `$ref: '#/assertionTemplates/NAME'`"),
            ),
            ("nunjucksFilters", map_of("Filters of templates, each a JavaScript file", text(""))),
            ("extensions", any("Has no effect: no hook is called")),
            ("sharing", any("Has no effect: results stay on this machine")),
            ("tracing", any("Has no effect: no spans are received")),
            ("writeLatestResults", any("Has no effect")),
        ],
        &[],
    );
    suite["not"] = json!({"required": ["targets", "providers"]});
    suite
}

#[cfg(test)]
mod tests;
