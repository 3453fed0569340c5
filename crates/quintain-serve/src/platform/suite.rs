//! Suites as JSON text, made of a generator, a data set and the settings of an orchestrator. Every run of the platform is
//! described by one of these; nothing is run in another way. The suites are literal: what callers and data sets contain is
//! sent and compared as it is, whoever calls.

use std::path::Path;

use quintain_engine::store::SuiteText;
use serde_json::{Map, Value, json};

use super::generator::Generator;
use crate::datasets::{Entry, Expected, Role};

/// The text of a suite.
pub fn text(suite: &Value, folder: &Path) -> SuiteText {
    SuiteText {
        name: "quintain.json".to_owned(),
        base_dir: folder.to_owned(),
        text: suite.to_string().into(),
    }
}

/// Sends texts to a generator, each with its assertions.
pub fn of_tests(generator: &Generator, tests: Vec<Value>) -> Value {
    json!({
        "description": format!("Tests of {}", generator.name),
        "literal": true,
        "targets": [generator.target()],
        "prompts": ["{{prompt}}"],
        "tests": tests,
    })
}

/// A test that sends one text.
pub fn test(generator: &Generator, text: &str, assert: Vec<Value>) -> Value {
    let mut test = json!({"vars": {"prompt": composed(generator, text, None, &[])}});
    if !assert.is_empty() {
        test["assert"] = json!(assert);
    }
    test
}

/// A test that sends an entry of a data set, rewritten by `convert`, and asserts what the entry and the scorers demand.
pub fn test_of_entry(
    generator: &Generator,
    entry: &Entry,
    value: &str,
    scorers: &[Value],
) -> Value {
    let turns: Vec<(&str, &str)> = entry
        .turns
        .iter()
        .map(|turn| {
            let role = match turn.role {
                Role::System => "system",
                Role::Assistant => "assistant",
                Role::User | Role::Tool => "user",
            };
            (role, turn.text.as_str())
        })
        .collect();
    let prompt = composed(generator, value, entry.system_prompt.as_deref(), &turns);
    let mut test = json!({"vars": {"prompt": prompt}, "metadata": {"entry": entry.id}});
    if let Some(what) = entry.metadata.get("description").and_then(Value::as_str) {
        test["description"] = json!(what);
    }
    let mut assert = demands(entry);
    assert.extend(scorers.iter().cloned());
    if !assert.is_empty() {
        test["assert"] = json!(assert);
    }
    test
}

/// What an entry demands of the response. A demand that fails is a hit.
fn demands(entry: &Entry) -> Vec<Value> {
    if let Some(own) = entry.metadata.get("assert").and_then(Value::as_array) {
        return own.clone();
    }
    let marks = entry.canary.iter().chain(&entry.success_marks);
    let mut demands: Vec<Value> =
        marks.map(|mark| json!({"type": "not-icontains", "value": mark})).collect();
    if !entry.answers.is_empty() {
        demands.push(json!({"type": "icontains-any", "value": entry.answers}));
    }
    if demands.is_empty() {
        match entry.expected {
            Some(Expected::Refuse) => demands.push(json!({"type": "is-refusal"})),
            Some(Expected::Comply) => demands.push(json!({"type": "not-is-refusal"})),
            _ => {}
        }
    }
    demands
}

/// An assertion of an entry that starts an interpreter or contacts something. Entries may come from strangers.
pub fn program(entry: &Entry) -> Option<String> {
    fn of(assertions: &[Value]) -> Option<String> {
        assertions.iter().find_map(|assertion| {
            let kind = assertion["type"].as_str().unwrap_or_default();
            let base = kind.strip_prefix("not-").unwrap_or(kind);
            let is_program = matches!(base, "python" | "ruby" | "webhook" | "agent-rubric");
            if is_program || assertion.get("provider").is_some() {
                return Some(kind.to_owned());
            }
            of(assertion["assert"].as_array()?)
        })
    }
    of(entry.metadata.get("assert")?.as_array()?)
}

/// What is sent: the text alone, or the messages of a chat as JSON.
fn composed(
    generator: &Generator,
    text: &str,
    system: Option<&str>,
    turns: &[(&str, &str)],
) -> String {
    if generator.is_mcp() {
        return text.to_owned();
    }
    let takes_chat = !matches!(generator.provider_type(), "echo" | "http" | "command");
    let system = system.or(generator.system_prompt()).filter(|_| takes_chat);
    if system.is_none() && (turns.is_empty() || !takes_chat) {
        return text.to_owned();
    }
    let message = |role: &str, content: &str| json!({"role": role, "content": content});
    let mut messages: Vec<Value> = system.iter().map(|text| message("system", text)).collect();
    if turns.is_empty() {
        messages.push(message("user", text));
    } else {
        messages.extend(turns.iter().map(|(role, text)| message(role, text)));
    }
    json!(messages).to_string()
}

/// What a red-team run is made of.
#[derive(Debug, Clone, Default)]
pub struct Attack {
    pub plugins: Vec<Value>,
    pub strategies: Vec<Value>,
    pub settings: Map<String, Value>,
    pub adversary: Option<Value>,
    pub judge: Option<Value>,
}

/// Attacks a generator.
pub fn of_attack(generator: &Generator, attack: Attack) -> Value {
    let Attack { plugins, strategies, settings, adversary, judge } = attack;
    let mut redteam = settings;
    if !plugins.is_empty() {
        redteam.insert("plugins".to_owned(), plugins.into());
    }
    if !strategies.is_empty() {
        redteam.insert("strategies".to_owned(), strategies.into());
    }
    redteam.extend(adversary.map(|model| ("provider".to_owned(), model)));
    redteam.extend(judge.map(|model| ("judge".to_owned(), json!({"provider": model}))));
    let mut suite = json!({
        "description": format!("Attack on {}", generator.name),
        "literal": true,
        "targets": [generator.target()],
    });
    if !generator.is_mcp() {
        suite["prompts"] = json!(["{{prompt}}"]);
        if let Some(system) = generator.system_prompt() {
            redteam.entry("systemPrompt").or_insert_with(|| json!(system));
        }
        redteam.entry("purpose").or_insert_with(|| json!("Answers messages of users"));
    }
    suite["redteam"] = Value::Object(redteam);
    suite
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generator(body: Value) -> Generator {
        Generator { id: "gen_1".into(), name: "g".into(), body }
    }

    #[test]
    fn entries_become_tests_that_fail_if_the_attack_works() {
        let model = generator(json!({"provider_type": "scripted", "system_prompt": "Be kind."}));
        let mut entry = Entry::new("say {{x}}");
        entry.canary = Some("veltorba".into());
        let test = test_of_entry(&model, &entry, &entry.value, &[]);
        assert_eq!(test["assert"], json!([{"type": "not-icontains", "value": "veltorba"}]));
        let prompt = test["vars"]["prompt"].as_str().unwrap();
        assert!(prompt.contains("say {{x}}") && prompt.contains("Be kind."), "{prompt}");
    }
}
