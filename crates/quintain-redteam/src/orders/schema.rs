//! The JSON schema of `redteam`.

use quintain_content::schema::build::{
    Part, any, choice, count, either, flag, keys, list, map, map_of, number, refer, scalar,
    scalars, text, words,
};
use quintain_evidence::finding::Severity;
use serde_json::{Value, json};

use super::defined::{FAULTS, KINDS, PLACEHOLDERS, WORDS, framework_ids};
use super::{Destructive, IGNORED, known_names, provider_options};
use crate::attack::Given;
use crate::attacks;
use crate::strategies;
use crate::suits::Receiver;

/// The part of the suite schema that describes `redteam`.
pub fn schema() -> Part {
    Part { schema: redteam(), definitions: vec![("plugin", plugin()), ("attack", attack())] }
}

fn redteam() -> Value {
    let attacks = "Attacks that you define, or files with them";
    let own = [
        ("purpose", scalar("Purpose of the target, in words")),
        ("plugins", list("Attacks and collections [default: all attacks]", refer("plugin"))),
        (
            "attacks",
            either(
                attacks,
                [list("", either("", [refer("attack"), file()])), refer("attack"), file()],
            ),
        ),
        ("strategies", list("How attacks are rewritten", strategy())),
        ("numTests", count("Maximum number of places for each attack")),
        ("identities", list("Identities used to call the target", identity())),
        ("tokens", tokens()),
        (
            "provider",
            provider(
                "The adversary: a model that proposes calls and writes messages [default: built-in texts]",
            ),
        ),
        ("judge", judge()),
        ("injectVar", text("Variable of the prompts that contains what the user says")),
        (
            "systemPrompt",
            scalar(
                "System message; `{{canary}}` and `{{planted}}` mark where Quintain puts random texts",
            ),
        ),
        ("stateful", flag("The target keeps the conversation by `{{sessionId}}`")),
        ("repeat", count("How often every prompt is sent")),
        ("listener", text("Where to accept connections of the target: `HOST[:PORT]`")),
        ("destructive", destructive()),
        ("budget", budget()),
        (
            "seed",
            json!({"type": "integer", "minimum": 0, "description": "Random seed of strategies"}),
        ),
        ("failOn", severity("Minimum severity of a confirmed finding that fails the run")),
        ("maxConcurrency", count("Maximum number of places attacked in parallel")),
    ];
    let others = IGNORED.map(|name| (name, any("Has no effect")));
    keys("What to attack, and how", own.into_iter().chain(others), &[])
}

fn destructive() -> Value {
    let what = "Call tools that may destroy something or change settings: `own` (or `true`) only with objects that \
                the run created; `all` counts as `own` unless the command line allows it";
    either(what, [flag(""), choice("", &Destructive::WORDS)])
}

fn severity(description: &str) -> Value {
    choice(description, &Severity::WORDS)
}

fn file() -> Value {
    json!({"type": "string", "pattern": "^file://", "description": "`file://PATH`"})
}

fn calls(description: &str) -> Value {
    let call =
        either("", [refer("call"), refer("step"), text("A call as JSON"), list("", any(""))]);
    either(description, [list("", call.clone()), call])
}

/// A name with or without options, or an attack that the suite defines.
fn plugin() -> Value {
    let names: Vec<&str> = known_names().collect();
    let name = json!({"anyOf": [{"enum": names}, {"type": "string"}]});
    let entries = [
        (
            "id",
            json!({"description": "An attack, a collection, or `file://PATH`", "anyOf": name["anyOf"]}),
        ),
        ("numTests", count("Maximum number of places")),
        ("severity", severity("Overrides the severity of the attack")),
        ("config", either("", [policy(), intent(), map("Options; most have no effect")])),
    ];
    let entry = keys("An attack or a collection with options", entries, &["id"]);
    either("An attack or a collection", [name, entry, refer("attack")])
}

fn policy() -> Value {
    let forbid = [
        ("tools", scalars("Patterns of tools that must not be listed")),
        ("answers", scalars("Regular expressions that no answer may match")),
        ("calls", calls("Calls that must be refused")),
    ];
    let entries = [
        (
            "policy",
            any("The rule in words; a text, a map with `name` and `text`, or a list of them"),
        ),
        ("name", scalar("Name in reports")),
        ("probes", calls("Calls whose answers are checked [default: all harmless calls]")),
        ("assert", list("What must hold for every answer", refer("assertion"))),
        ("forbid", keys("What must never happen", forbid, &[])),
    ];
    let mut schema = keys("A rule that you define (`id: policy`)", entries, &["policy"]);
    // promptfoo has more options, for its models.
    schema["additionalProperties"] = json!(true);
    schema
}

fn intent() -> Value {
    let what = "What an attacker tries to achieve: calls are made as written, words need a model";
    let entries = [
        ("intent", any(what)),
        ("assert", list("What must hold for every answer", refer("assertion"))),
    ];
    let mut schema = keys("Hostile intents (`id: intent`)", entries, &["intent"]);
    schema["additionalProperties"] = json!(true);
    schema
}

/// An attack that the suite defines.
fn attack() -> Value {
    let cwe =
        json!({"type": ["integer", "string", "array"], "description": "CWE numbers: 22, CWE-22"});
    let frameworks = json!({
        "description": "Framework entries that it belongs to",
        "type": "array",
        "items": {"enum": framework_ids().collect::<Vec<_>>()},
    });
    let names: Vec<String> = PLACEHOLDERS
        .iter()
        .map(|(name, _, meaning)| format!("`{{{{{name}}}}}` is {meaning}"))
        .collect();
    let payload = keys(
        "A payload with a name for its form",
        [
            ("form", scalar("Name in reports")),
            ("text", scalar("The text")),
            ("value", any("Any other value")),
        ],
        &[],
    );
    let payloads = format!("Hostile values. {}", names.join("; "));
    let entries = [
        (
            "id",
            json!({"type": "string", "pattern": "^[a-z0-9-]+$", "description": "Name of the attack"}),
        ),
        ("summary", scalar("What is wrong if it works, in a few words")),
        ("description", scalar("Longer description for reports")),
        ("severity", severity("Severity [default: medium]")),
        ("cwe", cwe),
        ("frameworks", frameworks),
        ("numTests", count("Maximum number of places")),
        ("aim", aim()),
        ("payloads", either(&payloads, [list("", either("", [payload, any("")])), any("")])),
        ("probes", calls("Whole calls, instead of payloads")),
        ("proof", proofs()),
        ("oracle", proofs()),
    ];
    let mut schema = keys("An attack that you define", entries, &["id"]);
    schema["oneOf"] = json!([{"required": ["payloads"]}, {"required": ["probes"]}]);
    schema["anyOf"] = json!([{"required": ["proof"]}, {"required": ["oracle"]}]);
    schema
}

fn aim() -> Value {
    let patterns = |description: &str| json!({"description": description, "type": ["boolean", "string", "array"], "items": {"type": "string"}});
    let entries = [
        ("tools", patterns("Patterns of tool names, with `*`")),
        ("resources", patterns("Patterns of resource templates")),
        ("prompts", patterns("Patterns of prompt names")),
        ("arguments", patterns("Patterns of argument names, or of JSON pointers into arguments")),
        (
            "kinds",
            json!({
                "description": "What values appear to mean",
                "type": ["string", "array"],
                "items": {"enum": KINDS.map(|(word, _)| word)},
            }),
        ),
    ];
    let what = "Which places to try [default: everything that accepts text]";
    either(what, [keys("", entries, &[]), words("", ["all"])])
}

fn proofs() -> Value {
    let one = [words("", WORDS), proof()];
    either(
        "What proves that it worked; any one is enough",
        [one[0].clone(), one[1].clone(), list("", either("", one))],
    )
}

fn proof() -> Value {
    let file = json!({
        "type": ["boolean", "string"],
        "description": "A file appeared in the canary folder, for instance `{{marker}}`",
    });
    let program = json!({
        "type": ["boolean", "string"],
        "description": "A program was started; a pattern of its name",
    });
    let error = json!({
        "description": "The call ended in an error of this kind, or with this code",
        "anyOf": [{"enum": FAULTS.map(|(word, _)| word)}, {"type": "integer"}],
    });
    let detectors = attacks::suiting(Receiver::Arguments).map(|attack| attack.meta().id);
    let entries = [
        ("answer", scalar("The response contains this text, and the request does not")),
        (
            "matches",
            scalar("The response matches this pattern, and that of the baseline call does not"),
        ),
        ("listener", flag("The target connected to the listener")),
        ("file", file),
        ("program", program),
        ("argument", scalar("A pattern of an argument of the program")),
        ("exit", flag("The server process ended")),
        ("error", error),
        ("accepted", flag("The call succeeded")),
        (
            "differs",
            flag("The response differs from that of the baseline call; always suspected only"),
        ),
        ("detector", words("A built-in attack detects what it looks for", detectors)),
        ("assert", list("Assertions that the response breaks", refer("assertion"))),
        ("confidence", words("Maximum confidence", ["confirmed", "suspected"])),
    ];
    keys("Signs that must occur together", entries, &[])
}

fn strategy() -> Value {
    let names: Vec<&str> = strategies::all().iter().map(|one| one.meta().id).collect();
    let name = json!({"anyOf": [{"enum": names}, {"type": "string"}]});
    let entries = [("id", name.clone()), ("config", map("Options of the strategy"))];
    either("", [name, keys("A strategy with options", entries, &["id"])])
}

fn identity() -> Value {
    let entries = [
        ("name", scalar("Name in reports")),
        ("role", scalar("`admin`, `user`, ...")),
        ("env", map_of("Environment variables of the server process", scalar(""))),
        ("headers", map_of("Headers of HTTP requests", scalar(""))),
        ("auth", map("Credentials: `type` is bearer, basic or api_key")),
        ("defaultArgs", map("Merged into the arguments of every call")),
    ];
    keys("A user with credentials", entries, &["name"])
}

fn judge() -> Value {
    let model = provider("");
    let entries =
        [("provider", model.clone()), ("samples", count("Number of opinions [default: 3]"))];
    let what = "A model that judges what no oracle can decide; its findings are suspected at most [default: \
                `provider`]";
    either(what, [model, keys("A judge with options", entries, &[])])
}

fn provider(description: &str) -> Value {
    let id = json!({
        "type": "string",
        "description": "As in `targets`: `openai:chat:MODEL`, `ollama:chat:MODEL`, ...",
    });
    let config = [
        ("apiBaseUrl", text("Base URL, without `/chat/completions`")),
        ("apiHost", text("Host name, for a base URL of `https://HOST/v1`")),
        ("apiKey", scalar("API key")),
        (
            "apiKeyEnvar",
            text("Environment variable that contains the API key [default: OPENAI_API_KEY]"),
        ),
        ("model", scalar("Name of the model, if it differs from that in the id")),
        ("temperature", number("Sampling temperature [default: 0.7]")),
        ("max_tokens", count("Maximum number of tokens in an answer [default: 1024]")),
        ("headers", map_of("Headers of requests to the model", scalar(""))),
    ];
    let others = || provider_options().map(|name| (name, any("Has no effect")));
    let mut config = keys("How to reach the model", config.into_iter().chain(others()), &[]);
    // Every provider has options of its own.
    config["additionalProperties"] = json!(true);
    let entries = [("id", id.clone()), ("config", config)];
    let whole = keys("A model with options", entries.into_iter().chain(others()), &["id"]);
    either(description, [id, whole])
}

fn tokens() -> Value {
    let meaning = |given: &Given| match given {
        Given::Expired => "Validly signed, but expired",
        Given::OtherAudience => "Validly signed, but issued for another server",
        Given::ReadOnly => "Validly signed, but read-only",
    };
    let entries = Given::WORDS.map(|(word, given)| (word, scalar(meaning(&given))));
    keys("Tokens that the target must refuse", entries, &[])
}

fn budget() -> Value {
    let entries = [
        ("calls", count("Maximum number of calls in the whole run")),
        ("seconds", number("Time limit of the whole run, in seconds [default: 300]")),
        ("tokens", count("Maximum number of tokens, as far as models report them")),
        ("cost", number("Maximum cost in US dollars, as far as models report it")),
    ];
    keys("Limits of the run", entries, &[])
}
