//! `redteam`: what to attack, how, and as whom.

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

/// The part of the schema of suites that describes `redteam`.
pub fn schema() -> Part {
    Part { schema: redteam(), definitions: vec![("plugin", plugin()), ("attack", attack())] }
}

fn redteam() -> Value {
    let attacks = "Attacks of your own, or files with them";
    let own = [
        ("purpose", scalar("What the target is for, in words")),
        (
            "plugins",
            list("Attacks and collections; all attacks if none are named", refer("plugin")),
        ),
        (
            "attacks",
            either(
                attacks,
                [list("", either("", [refer("attack"), file()])), refer("attack"), file()],
            ),
        ),
        ("strategies", list("How attacks are rewritten", strategy())),
        ("numTests", count("Places that each attack is tried on at most")),
        ("identities", list("Who the target is spoken to as", identity())),
        ("tokens", tokens()),
        ("provider", provider()),
        ("listener", text("Where to listen for connections of the target: `HOST[:PORT]`")),
        ("destructive", destructive()),
        ("budget", budget()),
        (
            "seed",
            json!({"type": "integer", "minimum": 0, "description": "Random seed of strategies"}),
        ),
        ("failOn", severity("From which severity on a confirmed finding fails the run")),
        ("maxConcurrency", count("Places that are attacked at the same time")),
    ];
    let others = IGNORED.map(|name| (name, any("Has no effect")));
    keys("What to attack, and how", own.into_iter().chain(others), &[])
}

fn destructive() -> Value {
    let what = "Call tools that may destroy something or change settings: `own` (or `true`) only with objects of \
                the run; `all` counts as `own` unless the command line allows it";
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

/// A name with or without options, or an attack of the suite's own.
fn plugin() -> Value {
    let names: Vec<&str> = known_names().collect();
    let name = json!({"anyOf": [{"enum": names}, {"type": "string"}]});
    let entries = [
        (
            "id",
            json!({"description": "An attack, a collection, or `file://PATH`", "anyOf": name["anyOf"]}),
        ),
        ("numTests", count("Places that it is tried on at most")),
        ("severity", severity("In the place of that of the attack")),
        ("config", either("", [policy(), intent(), map("Options; most have no effect here")])),
    ];
    let entry = keys("An attack or a collection with options", entries, &["id"]);
    either("An attack or a collection", [name, entry, refer("attack")])
}

fn policy() -> Value {
    let forbid = [
        ("tools", scalars("Names of tools that must not be listed, as patterns")),
        ("answers", scalars("Regular expressions that no answer may match")),
        ("calls", calls("Calls that must be refused")),
    ];
    let entries = [
        (
            "policy",
            any("The rule in words; a text, a map with `name` and `text`, or a list of them"),
        ),
        ("name", scalar("What reports call it")),
        ("probes", calls("Calls whose answers are judged; without any, those that harm nothing")),
        ("assert", list("What must hold for every answer", refer("assertion"))),
        ("forbid", keys("What must never be", forbid, &[])),
    ];
    let mut schema = keys("A rule of yours (`id: policy`)", entries, &["policy"]);
    // promptfoo has more to say to its models.
    schema["additionalProperties"] = json!(true);
    schema
}

fn intent() -> Value {
    let what = "What somebody hostile wants: calls are made, words need a model";
    let entries = [
        ("intent", any(what)),
        ("assert", list("What must hold for every answer", refer("assertion"))),
    ];
    let mut schema = keys("Hostile intents (`id: intent`)", entries, &["intent"]);
    schema["additionalProperties"] = json!(true);
    schema
}

/// An attack of the suite's own.
fn attack() -> Value {
    let cwe = json!({"type": ["integer", "string", "array"], "description": "Numbers of weaknesses: 22, CWE-22"});
    let frameworks = json!({
        "description": "Entries of frameworks that it belongs to",
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
            ("form", scalar("What reports call it")),
            ("text", scalar("The text")),
            ("value", any("Any other value")),
        ],
        &[],
    );
    let payloads = format!("Hostile values. {}", names.join("; "));
    let entries = [
        ("id", json!({"type": "string", "pattern": "^[a-z0-9-]+$", "description": "Its name"})),
        ("summary", scalar("What is wrong if it works, in a few words")),
        ("description", scalar("More about it, for reports")),
        ("severity", severity("How bad it is [default: medium]")),
        ("cwe", cwe),
        ("frameworks", frameworks),
        ("numTests", count("Places that it is tried on at most")),
        ("aim", aim()),
        ("payloads", either(&payloads, [list("", either("", [payload, any("")])), any("")])),
        ("probes", calls("Whole calls, in the place of payloads")),
        ("proof", proofs()),
        ("oracle", proofs()),
    ];
    let mut schema = keys("An attack of your own", entries, &["id"]);
    schema["oneOf"] = json!([{"required": ["payloads"]}, {"required": ["probes"]}]);
    schema["anyOf"] = json!([{"required": ["proof"]}, {"required": ["oracle"]}]);
    schema
}

fn aim() -> Value {
    let patterns = |description: &str| json!({"description": description, "type": ["boolean", "string", "array"], "items": {"type": "string"}});
    let entries = [
        ("tools", patterns("Names of tools, as patterns with `*`")),
        ("resources", patterns("Templates of resources, as patterns")),
        ("prompts", patterns("Names of prompts, as patterns")),
        ("arguments", patterns("Names of arguments or JSON pointers into them, as patterns")),
        (
            "kinds",
            json!({
                "description": "What values seem to mean",
                "type": ["string", "array"],
                "items": {"enum": KINDS.map(|(word, _)| word)},
            }),
        ),
    ];
    let what = "Which places it is tried on; everything that takes text if nothing is said";
    either(what, [keys("", entries, &[]), words("", ["all"])])
}

fn proofs() -> Value {
    let one = [words("", WORDS), proof()];
    either(
        "What shows that it worked; any of several",
        [one[0].clone(), one[1].clone(), list("", either("", one))],
    )
}

fn proof() -> Value {
    let file = json!({
        "type": ["boolean", "string"],
        "description": "A file appeared in the canary ground, for instance `{{marker}}`",
    });
    let program = json!({
        "type": ["boolean", "string"],
        "description": "A program was started, by its name as a pattern",
    });
    let error = json!({
        "description": "It ended in an error of this kind, or with this code",
        "anyOf": [{"enum": FAULTS.map(|(word, _)| word)}, {"type": "integer"}],
    });
    let detectors = attacks::all().iter().map(|attack| attack.meta().id);
    let entries = [
        ("answer", scalar("The answer holds this text, and the request does not")),
        ("matches", scalar("The answer matches, and that of the innocent call does not")),
        ("listener", flag("The listener was called")),
        ("file", file),
        ("program", program),
        ("argument", scalar("An argument of the program, as a pattern")),
        ("exit", flag("The server ended")),
        ("error", error),
        ("accepted", flag("The server did as it was asked")),
        (
            "differs",
            flag(
                "The answer is another than that of the innocent call; never more than a suspicion",
            ),
        ),
        ("detector", words("A built-in attack sees what it looks for", detectors)),
        ("assert", list("What must hold for the answer, and does not", refer("assertion"))),
        ("confidence", words("How sure it may be", ["confirmed", "suspected"])),
    ];
    keys("Signs that must be seen together", entries, &[])
}

fn strategy() -> Value {
    let names: Vec<&str> = strategies::all().iter().map(|one| one.meta().id).collect();
    let name = json!({"anyOf": [{"enum": names}, {"type": "string"}]});
    let entries = [("id", name.clone()), ("config", map("Options of the strategy"))];
    either("", [name, keys("A strategy with options", entries, &["id"])])
}

fn identity() -> Value {
    let entries = [
        ("name", scalar("What reports call them")),
        ("role", scalar("`admin`, `user`, ...")),
        ("env", map_of("Variables of the process that is started", scalar(""))),
        ("headers", map_of("Headers of HTTP requests", scalar(""))),
        ("auth", map("Credentials: `type` is bearer, basic or api_key")),
        ("defaultArgs", map("Laid under the arguments of every call")),
    ];
    keys("Somebody with credentials", entries, &["name"])
}

fn provider() -> Value {
    let id = json!({
        "type": "string",
        "pattern": "^[a-z]+:",
        "description": "`openai:chat:MODEL` or `ollama:chat:MODEL`",
    });
    let config = [
        ("apiBaseUrl", text("Its address up to and without `/chat/completions`")),
        ("apiHost", text("Its host, if it is reached at `https://HOST/v1`")),
        ("apiKey", scalar("Its key")),
        ("apiKeyEnvar", text("The variable that holds its key [default: OPENAI_API_KEY]")),
        ("model", scalar("The model, if it is another than that of the id")),
        ("temperature", number("How freely it writes [default: 0.7]")),
        ("max_tokens", count("How much it writes at most [default: 1024]")),
        ("headers", map_of("Headers of requests to it", scalar(""))),
    ];
    let others = || provider_options().map(|name| (name, any("Has no effect")));
    let config = keys("Where it is, and how it is asked", config.into_iter().chain(others()), &[]);
    let entries = [("id", id.clone()), ("config", config)];
    let whole = keys("A model with options", entries.into_iter().chain(others()), &["id"]);
    either("A model that proposes calls; what they prove is not its to say", [id, whole])
}

fn tokens() -> Value {
    let meaning = |given: &Given| match given {
        Given::Expired => "Well signed, and too old",
        Given::OtherAudience => "Well signed, and meant for another server",
        Given::ReadOnly => "Well signed, and good for reading only",
    };
    let entries = Given::WORDS.map(|(word, given)| (word, scalar(meaning(&given))));
    keys("Tokens that the target must refuse", entries, &[])
}

fn budget() -> Value {
    let entries = [
        ("calls", count("Calls of the whole run")),
        ("seconds", number("Seconds of the whole run [default: 300]")),
    ];
    keys("When to end early", entries, &[])
}
