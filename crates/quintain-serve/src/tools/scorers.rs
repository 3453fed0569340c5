//! `list_scorers` and `score_text`.

use std::time::Duration;

use quintain_engine::jobs::{EvalWork, Work};
use quintain_engine::models::ModelSettings;
use quintain_evidence::event::Event;
use quintain_evidence::verdict::Status;
use quintain_suite::assertions;
use serde_json::{Value, json};

use super::definition::{
    Arguments, READ, flag, id, object, page_of, paged, reading, shape, tools, writing,
};
use crate::platform::generator::Generator;
use crate::platform::orchestrator::scorer;
use crate::platform::results::shown;
use crate::platform::runs::NewJob;
use crate::platform::suite;
use crate::principal::Group;
use crate::tool::{Call, ErrorCode, Reply, ToolError};

/// Assertions that ask a model.
const JUDGED: [&str; 14] = [
    "llm-rubric",
    "g-eval",
    "factuality",
    "model-graded-closedqa",
    "model-graded-factuality",
    "answer-relevance",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "similar",
    "classifier",
    "moderation",
    "select-best",
    "conversation-relevance",
];

/// Why a scorer has no measured rates.
const EXACT: &str = "n/a: an exact rule";
const DEPENDS: &str = "n/a: depends on the judge; `quintain meta-eval` measures yours";

tools! {
    ListScorers = {
        name: "list_scorers",
        title: "List scorers",
        description: "Lists the scorers: assertions and detectors that need no model, and judges that do. Every scorer also works with `not-` before its name.",
        core: false,
        scope: reading(Group::Texts),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(paged(json!({"offline_only": flag("Only scorers that need no model", false)})), &[]),
    output: page_of(shape(json!({
        "name": {"type": "string"},
        "description": {"type": "string"},
        "aliases": {"type": "array", "items": {"type": "string"}},
        "offline": {"type": "boolean"},
        "docs": {"type": "string"},
        "sensitivity": {"type": ["number", "null"]},
        "specificity": {"type": ["number", "null"]},
        "sample_size": {"type": "integer"},
        "measurement": {"type": "string", "description": "Where sensitivity and specificity come from, or why they are null"},
    }), &["name", "description", "offline", "sensitivity", "specificity", "sample_size", "measurement"])),
    call: list;

    ScoreText = {
        name: "score_text",
        title: "Score a text",
        description: "Judges a text with scorers. A scorer is a name, or a map with `name` and its options: {\"name\": \"icontains\", \"value\": \"secret\"}. `hit` means that the scorer does not accept the text.",
        core: false,
        scope: writing(Group::Texts),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(json!({
        "text": {"type": "string", "maxLength": 1_000_000, "description": "The response to judge"},
        "scorers": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}, "description": "Names, or maps with `name` and options"},
        "context": {"type": "object", "description": "prompt, objective, system_prompt, tool_call: variables for scorers that use them"},
        "judge_generator_id": id("The model for scorers that need one"),
    }), &["text", "scorers"]),
    output: shape(json!({
        "pass": {"type": "boolean"},
        "scores": {"type": "array", "items": shape(json!({
            "scorer": {"type": "string"},
            "value": {"type": "number"},
            "threshold": {"type": ["number", "null"]},
            "hit": {"type": "boolean"},
            "reason": {"type": "string"},
            "confidence": {"type": "string"},
        }), &["scorer", "value", "hit", "reason"])},
    }), &["pass", "scores"]),
    call: score;
}

#[expect(clippy::unused_async, reason = "all tools have one signature")]
async fn list(call: Call<'_>) -> Result<Reply, ToolError> {
    let arguments = Arguments(call.arguments);
    let items: Vec<Value> = assertions::all()
        .iter()
        .map(|assertion| {
            let meta = assertion.meta();
            let offline = !JUDGED.contains(&meta.id);
            let measurement = if offline { EXACT } else { DEPENDS };
            json!({
                "name": meta.id, "description": meta.summary, "aliases": meta.aliases, "offline": offline, "docs": meta.docs,
                "sensitivity": null, "specificity": null, "sample_size": 0, "measurement": measurement,
            })
        })
        .filter(|one| !arguments.flag("offline_only", false) || one["offline"] == true)
        .collect();
    let text = format!("{} scorers", items.len());
    Ok(Reply::new(arguments.page(items), text))
}

async fn score(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    // A target that answers with the text, so that a judgement is a run like every other.
    let echo = Generator {
        id: String::new(),
        name: "text".to_owned(),
        body: json!({"provider_type": "echo"}),
    };
    let scorers: Vec<Value> = arguments.list("scorers").iter().map(scorer).collect();
    let mut test = suite::test(&echo, arguments.required("text"), scorers);
    if let Some(context) = arguments.0.get("context").and_then(Value::as_object) {
        for (key, value) in context.iter().filter(|(key, _)| *key != "prompt") {
            test["vars"][key] = value.clone();
        }
    }
    let judge = match arguments.text("judge_generator_id") {
        Some(wanted) => {
            let mut judge = platform.generator(principal, wanted).await?;
            platform.confirm_contact(principal, host, &mut judge).await?;
            Some(judge)
        }
        None => None,
    };
    let generators: Vec<&Generator> = judge.iter().collect();
    let text = suite::text(&suite::of_tests(&echo, vec![test]), &platform.allowances.workspace);
    let models =
        ModelSettings { judge: judge.as_ref().map(Generator::target), ..ModelSettings::default() };
    let work = EvalWork { suite: vec![text], models, ..EvalWork::default() };
    let request =
        platform.request(principal, &generators, Work::Eval(Box::new(work)), NewJob::default());
    let mut scores = Vec::new();
    let mut pass = false;
    let mut failures: Vec<String> = Vec::new();
    let mut each = |event: &Event| {
        let Event::Case(case) = event else { return };
        let Some(grade) = &case.grade else {
            failures.push(case.error.clone().unwrap_or_else(|| "no verdict".to_owned()));
            return;
        };
        pass = grade.pass;
        let broken = grade.components.iter().filter(|one| one.verdict.status == Status::Error);
        failures.extend(broken.map(|one| {
            let name = one.assertion["type"].as_str().unwrap_or_default();
            format!("{name}: {}", one.verdict.reason)
        }));
        scores.extend(grade.components.iter().map(|one| {
            let name = one.assertion["type"].as_str().unwrap_or_default();
            let kind = if JUDGED.contains(&name) { "opinion" } else { "deterministic" };
            json!({
                "scorer": name, "value": one.verdict.score, "threshold": one.assertion.get("threshold"),
                "hit": !one.verdict.passed(), "reason": shown(&one.verdict.reason), "confidence": kind,
            })
        }));
    };
    platform.run(request, &generators, Duration::from_mins(2), host, &mut each).await?;
    // A scorer that cannot decide is neither a hit nor a pass.
    if scores.is_empty() && failures.is_empty() {
        failures.push("no scorer judged the text".to_owned());
    }
    if !failures.is_empty() {
        let what = format!("the text cannot be scored: {}", shown(&failures.join("; ")));
        let code = if what.contains("policy of this run") {
            ErrorCode::NotAllowed
        } else {
            ErrorCode::InvalidConfiguration
        };
        return Err(ToolError::new(code, what));
    }
    let hits = scores.iter().filter(|one| one["hit"] == true).count();
    let text = format!("{hits} of {} scorers hit", scores.len());
    Ok(Reply::new(json!({"pass": pass, "scores": scores}), text))
}
