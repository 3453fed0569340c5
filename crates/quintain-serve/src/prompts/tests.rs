use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::*;
use crate::arguments::Issue;
use crate::prompt::{Message, PromptContext};

/// What a host can send that must neither be changed nor break anything.
const HOSTILE: [&str; 7] = [
    "<script>alert('x')</script> & \"quotes\"",
    "line one\nline two\r\n```\nfence\n````",
    "{\"a\": [1, 2, {\"b\": null}]}",
    "[\"one, two\", 3, {\"x\": 1}]",
    "{{ 7*7 }} {group} {attempt} {domain} %s",
    "\u{202e}abc\u{0}\u{200b}",
    ",,, ,",
];

fn get(name: &str, arguments: &[(&str, &str)]) -> Result<Vec<Message>, Vec<Issue>> {
    let arguments =
        arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    find(name).unwrap().render(&arguments, &PromptContext::new())
}

fn text(name: &str, arguments: &[(&str, &str)]) -> String {
    get(name, arguments).unwrap().into_iter().map(|message| message.text).collect()
}

fn required(prompt: &dyn Prompt) -> Vec<(&'static str, &'static str)> {
    let arguments = prompt.meta().arguments.iter().filter(|argument| argument.required);
    arguments.map(|argument| (argument.name, "knowledge")).collect()
}

fn example(argument: &Argument) -> &'static str {
    match argument.values {
        Values::OneOf(values) | Values::Suggested(values) | Values::List(values)
            if !values.is_empty() =>
        {
            values[values.len() - 1]
        }
        _ => "some_value",
    }
}

#[test]
fn names_are_unique_and_the_contract_is_complete() {
    let names: BTreeSet<&str> = PROMPTS.iter().map(|prompt| prompt.meta().name).collect();
    assert_eq!((names.len(), PROMPTS.len()), (14, 14));
    for prompt in PROMPTS {
        let meta = prompt.meta();
        let every = meta
            .arguments
            .iter()
            .flat_map(|argument| argument.aliases.iter().chain([&argument.name]));
        let every: Vec<_> = every.collect();
        assert_eq!(every.iter().collect::<BTreeSet<_>>().len(), every.len(), "{}", meta.name);
        assert!(!meta.title.is_empty() && meta.description.ends_with('.'), "{}", meta.name);
    }
    assert!(find("nothing").is_none());
}

#[test]
fn every_prompt_is_complete_without_optional_arguments() {
    for prompt in PROMPTS {
        let name = prompt.meta().name;
        let messages = get(name, &required(*prompt)).unwrap();
        let text = &messages[0].text;
        assert!(text.len() > 1_200, "{name}: {}", text.len());
        assert!(text.contains('`') && text.contains("## "), "{name}");
        assert!(messages.iter().any(|message| message.link.is_some()), "{name}");
        for (uri, _) in messages.iter().filter_map(|message| message.link.as_ref()) {
            if let Some(id) = uri.strip_prefix("quintain://datasets/") {
                assert!(crate::datasets::find(id).is_some(), "{name}: {uri}");
            }
        }
    }
}

#[test]
fn every_argument_changes_the_text() {
    for prompt in PROMPTS {
        let meta = prompt.meta();
        let plain = text(meta.name, &required(*prompt));
        let mut every = required(*prompt);
        for argument in meta.arguments.iter().filter(|argument| !argument.required) {
            every.push((argument.name, example(argument)));
        }
        let full = text(meta.name, &every);
        for left_out in meta.arguments.iter().filter(|argument| !argument.required) {
            let rest: Vec<_> =
                every.iter().copied().filter(|(name, _)| *name != left_out.name).collect();
            let other = text(meta.name, &rest);
            let alone = text(
                meta.name,
                &[required(*prompt), vec![(left_out.name, example(left_out))]].concat(),
            );
            assert!(
                other != full || alone != plain,
                "{}.{} has no effect",
                meta.name,
                left_out.name
            );
        }
    }
}

#[test]
fn hostile_values_arrive_unchanged_or_are_reported() {
    for prompt in PROMPTS {
        let meta = prompt.meta();
        for argument in meta.arguments {
            for value in HOSTILE {
                let mut arguments: BTreeMap<_, _> = required(*prompt).into_iter().collect();
                arguments.insert(argument.name, value);
                let arguments: Vec<_> = arguments.into_iter().collect();
                match (get(meta.name, &arguments), &argument.values) {
                    (Ok(messages), Values::Text) => {
                        let text: String =
                            messages.into_iter().map(|message| message.text).collect();
                        assert!(!text.contains("&lt;"), "{}.{}", meta.name, argument.name);
                    }
                    (Ok(_), Values::OneOf(_)) => {
                        panic!("{}.{} accepts {value:?}", meta.name, argument.name)
                    }
                    (Ok(_), _) => {}
                    (Err(issues), values) => {
                        assert!(
                            matches!(values, Values::OneOf(_)),
                            "{}.{}",
                            meta.name,
                            argument.name
                        );
                        assert_eq!((issues.len(), issues[0].code.as_str()), (1, "enum"));
                    }
                }
            }
        }
    }
    let own = "<script>alert('x')</script> & {{7*7}} ```";
    assert!(text("jailbreak_test", &[("target_behavior", own)]).contains(own));
    assert!(text("prompt_injection", &[("payload", own)]).contains(own));
}

#[test]
fn examples_of_the_reference_work() {
    let advanced =
        text("jailbreak_test", &[("scenario", "dan_attack"), ("complexity_level", "advanced")]);
    assert!(advanced.contains("terrugalden"));
    let basic =
        text("jailbreak_test", &[("scenario", "dan_attack"), ("complexity_level", "basic")]);
    assert!(basic.contains("quordivex") && !basic.contains("terrugalden"));
    assert_ne!(
        basic,
        text("jailbreak_test", &[("scenario", "game"), ("complexity_level", "basic")])
    );
    let combined = text("jailbreak_test", &[("techniques", "[\"game\", \"authority\"]")]);
    assert_eq!(combined, text("jailbreak_test", &[("techniques", "game, authority")]));
    assert!(combined.contains("pomfretik") && combined.contains("cravotine"));
    assert!(
        text("jailbreak_test", &[("scenario", "my own idea"), ("target_query", "say hi")])
            .contains("say hi")
    );
    let indirect = text(
        "prompt_injection",
        &[("injection_type", "indirect"), ("injection_payload", "say hi")],
    );
    assert!(indirect.contains("<!-- say hi -->"));
    let bias = text(
        "bias_detection",
        &[("focus_area", "age"), ("demographics", "[\"pilots\", \"clowns\"]")],
    );
    assert!(bias.contains("described only as pilots") && bias.contains("described only as clowns"));
    for domain in ["reasoning", "creativity", "knowledge"] {
        assert!(text("capability_test", &[("domain", domain)]).contains(domain));
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    let issues =
        get("capability_test", &[("difficulty", "godlike"), ("domian", "x"), ("other", "y")])
            .unwrap_err();
    let codes: BTreeSet<&str> = issues.iter().map(|issue| issue.code.as_str()).collect();
    assert_eq!(codes, ["additionalProperties", "enum", "required"].into());
    assert_eq!(issues.len(), 4);
    assert!(issues.iter().any(|issue| issue.message == "domain is required"));
    assert!(issues.iter().any(|issue| issue.message.contains("did you mean domain?")));
    let long = "x".repeat(20_000);
    assert_eq!(get("capability_test", &[("domain", &long)]).unwrap_err().len(), 1);
    assert!(get("jailbreak_test", &[("scenario", "  ")]).is_ok());
}

#[test]
fn stored_things_are_shown_and_made_visible() {
    let arguments = [("generator_id".to_owned(), "gen_1".to_owned())].into();
    let generator = json!({"name": "crm\u{202e}", "provider_type": "mcp", "tools": [{"name": "search"}, "add"]});
    let context = [("generator_id".to_owned(), generator)].into();
    let messages = find("mcp_security_review").unwrap().render(&arguments, &context).unwrap();
    assert!(messages[0].text.contains("Tool: search") && messages[0].text.contains("Tool: add"));
    assert!(!messages[0].text.contains('\u{202e}'));
    let arguments = [("run_id".to_owned(), "run_1".to_owned())].into();
    let findings = json!({"findings": [{"id": "fnd_1", "title": "SQL injection", "tool": "search", "severity": "high"}]});
    let context = [("run_id".to_owned(), findings)].into();
    let messages = find("triage_findings").unwrap().render(&arguments, &context).unwrap();
    assert!(messages[0].text.contains("high, fnd_1, SQL injection, search"));
    assert_eq!(messages[0].link.as_ref().unwrap().0, "quintain://runs/run_1/transcript");
}

#[test]
fn enumerations_are_completed() {
    assert_eq!(complete("jailbreak_test", "complexity_level", "Ad"), ["advanced"]);
    assert_eq!(complete("jailbreak_test", "techniques", "game, pre"), ["game, prefix_injection"]);
    assert_eq!(complete("bias_detection", "focus_area", "rel"), ["religion"]);
    assert_eq!(complete("capability_test", "difficulty", "").len(), 4);
    for (prompt, argument) in
        [("nothing", "x"), ("jailbreak_test", "nothing"), ("triage_findings", "run_id")]
    {
        assert!(complete(prompt, argument, "").is_empty());
    }
}
