//! The JSON Schema of suite files, for editors. It uses the lists of keys and words that the loader uses,
//! wherever there is one.

mod assertion;
mod options;
mod prompt;
mod target;
mod test;

use serde_json::{Value, json};

use quintain_content::schema::build::{
    self, Part, any, either, keys, list, map, map_of, refer, scalar, scalars, text,
};

use super::targets::Kinds;

const ID: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a whole suite, draft 2020-12. `redteam` is the schema of that key, `kinds` are the kinds of targets.
pub fn schema(redteam: Part, kinds: Kinds<'_>) -> Value {
    let mut schema = json!({
        "$schema": ID,
        "title": "Quintain suite",
    });
    let definitions = [
        ("target", target::target(kinds)),
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
        "Targets, prompts and tests with the expected responses",
        [
            ("$schema", text("The schema of this file, for editors")),
            ("description", scalar("Description of the suite")),
            targets("targets"),
            targets("providers"),
            ("prompts", prompt::prompts()),
            ("tests", refer("tests")),
            ("scenarios", test::scenarios()),
            ("defaultTest", test::default_test()),
            (
                "env",
                map_of("Variables for `{{env.NAME}}`, which override the environment", scalar("")),
            ),
            ("evaluateOptions", options::evaluate()),
            ("commandLineOptions", options::command_line()),
            ("derivedMetrics", options::derived_metrics()),
            (
                "outputPath",
                scalars(
                    "Reports to write: paths inside the folder of the suite, relative to it; the suffix selects the format",
                ),
            ),
            ("tags", map("Names and values to find the run with")),
            (
                "literal",
                any(
                    "Take the texts of tests and attacks as they are: no templates, environment or files",
                ),
            ),
            ("metadata", map("Metadata of all tests, for filters and reports")),
            ("redteam", redteam),
            (
                "grade",
                any(
                    "How recorded conversations are graded: failIf, allow, deny, trusted, router, surface",
                ),
            ),
            ("metrics", any("Metrics that score every case, and recorded conversations")),
            ("judge", any("The model that judges outputs for assertions")),
            ("serve", map("Settings of `quintain serve`; `quintain serve check` lists them")),
            ("assertionTemplates", map("Reusable assertions: `$ref: '#/assertionTemplates/NAME'`")),
            ("nunjucksFilters", map_of("Template filters, each a JavaScript file", text(""))),
            ("extensions", any("Has no effect: Quintain does not call hooks")),
            ("sharing", any("Has no effect: results stay on this machine")),
            ("tracing", any("Has no effect: Quintain does not receive spans")),
            ("writeLatestResults", any("Has no effect")),
        ],
        &[],
    );
    suite["not"] = json!({"required": ["targets", "providers"]});
    suite
}

#[cfg(test)]
mod tests;
