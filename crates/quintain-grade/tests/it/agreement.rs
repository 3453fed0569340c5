//! The verdict without a model against labels of people: public traces of LiveMCPBench, if they are there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use quintain_evidence::surface::Tool;
use quintain_evidence::trace::{
    Args, Call, CallKind, CallOutcome, Listing, Role, Trace, TraceServer,
};
use quintain_grade::evaluate::Grading;
use quintain_grade::meta_eval::{Agreement, Label, MetaEvaluator, Verdict, read_labels};
use quintain_grade::metrics;
use serde_json::{Map, Value, json};

fn folder() -> Option<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let known = manifest.ancestors().map(|folder| folder.join("../shared/data/livemcpbench"));
    let given = std::env::var_os("QUINTAIN_LIVEMCPBENCH").map(PathBuf::from);
    given.into_iter().chain(known).find(|folder| folder.join("traces.jsonl").exists())
}

#[test]
fn the_verdict_without_a_model_agrees_with_people() {
    let Some(folder) = folder() else {
        eprintln!(
            "SKIPPED: ../shared/data/livemcpbench is missing; set QUINTAIN_LIVEMCPBENCH to its folder"
        );
        return;
    };
    let judged = judged(&folder);
    let verdicts: Vec<Verdict> = judged.iter().map(|(verdict, _)| *verdict).collect();
    let whole = Agreement::of(&verdicts);
    println!("mcp-task-completion at 0.5: {}", serde_json::to_string(&whole).unwrap());
    let kappa = cross_validated(&verdicts);
    println!("kappa with a threshold from other traces (5 folds, 40 repetitions): {kappa:.3}");
    assert!(kappa >= 0.45, "{kappa}");
    let shaken = shaken(&judged);
    println!(
        "kappa with weights changed at random by up to a half: at least {shaken:.3} in 95 of 100 tries"
    );
    assert!(shaken >= 0.45, "{shaken}");
    assert!(whole.kappa.unwrap() >= 0.45);
    assert!(whole.kappa_ci.unwrap().0 > 0.2);
}

/// The verdicts with the signs that led to them: words and weight.
fn judged(folder: &Path) -> Vec<(Verdict, Vec<(String, f64)>)> {
    let open = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let (labels, errors) = read_labels(open("labels.jsonl").as_bytes());
    assert!(errors.is_empty(), "{errors:?}");
    let metric = metrics::compile("MCPTaskCompletionMetric", &Map::new()).unwrap();
    let grading = Grading { metrics: vec![metric], ..Grading::default() };
    let servers = servers(&serde_json::from_str(&open("tools.json")).unwrap());
    let mut verdicts = Vec::new();
    let mut evaluator = MetaEvaluator::new(labels.clone());
    for line in open("traces.jsonl").lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let trace = Trace { servers: servers.clone(), ..trace(&record) };
        let id = record["id"].as_str().unwrap();
        let graded = grading.grade(&trace, || id.to_owned()).trace;
        evaluator.add(id, &graded.metrics);
        let label = labels.iter().find(|label: &&Label| label.id == id).unwrap().success;
        let found = &graded.metrics[0];
        if found.success != Some(label) {
            println!(
                "{id}: person {label}, metric {:?}: {}",
                found.score,
                found.reason.as_deref().unwrap()
            );
        }
        let signs = found.details["tasks"][0]["signs"].as_array().unwrap().iter();
        let signs = signs.map(|sign| {
            (sign["sign"].as_str().unwrap().to_owned(), sign["weight"].as_f64().unwrap())
        });
        let verdict =
            Verdict { label, success: found.success.unwrap(), score: found.score.unwrap() };
        verdicts.push((verdict, signs.collect()));
    }
    assert_eq!((evaluator.unlabelled(), evaluator.unseen()), (0, 0));
    verdicts
}

/// The agreement on each fold with the threshold that is best on the others. Weights are fixed, so nothing else is fitted.
fn cross_validated(verdicts: &[Verdict]) -> f64 {
    const FOLDS: usize = 5;
    const REPETITIONS: u64 = 40;
    let mut random = generator();
    let mut sum = 0.0;
    for _ in 0..REPETITIONS {
        let mut order: Vec<usize> = (0..verdicts.len()).collect();
        for index in (1..order.len()).rev() {
            order.swap(index, random(index + 1));
        }
        let mut held = Vec::new();
        for fold in 0..FOLDS {
            let (test, training): (Vec<usize>, Vec<usize>) =
                (0..order.len()).partition(|place| place % FOLDS == fold);
            let training: Vec<Verdict> =
                training.iter().map(|place| verdicts[order[*place]]).collect();
            let threshold = best_threshold(&training);
            held.extend(test.iter().map(|place| at(verdicts[order[*place]], threshold)));
        }
        sum += kappa(&held);
    }
    sum / REPETITIONS as f64
}

/// Repeatable random numbers below a bound.
fn generator() -> impl FnMut(usize) -> usize {
    let mut state = 7_u64;
    move |bound| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    }
}

/// The agreement that 95 of 100 sets of weights reach, each weight between half and one and a half of its value.
fn shaken(judged: &[(Verdict, Vec<(String, f64)>)]) -> f64 {
    const TRIES: usize = 1_000;
    let mut random = generator();
    let mut found: Vec<f64> = (0..TRIES)
        .map(|_| {
            let mut factors: HashMap<&str, f64> = HashMap::new();
            let moved: Vec<Verdict> = judged
                .iter()
                .map(|(verdict, signs)| {
                    let mut risk = 0.0;
                    for (sign, weight) in signs {
                        let factor = factors
                            .entry(sign)
                            .or_insert_with(|| 0.5 + random(1_001) as f64 / 1_000.0);
                        risk += weight * *factor;
                    }
                    Verdict { success: risk <= 0.5, ..*verdict }
                })
                .collect();
            kappa(&moved)
        })
        .collect();
    found.sort_by(f64::total_cmp);
    found[TRIES / 20]
}

fn at(verdict: Verdict, threshold: f64) -> Verdict {
    Verdict { success: verdict.score >= threshold, ..verdict }
}

fn best_threshold(verdicts: &[Verdict]) -> f64 {
    let candidates = (1..20).map(|step| f64::from(step) / 20.0);
    let scored = candidates.map(|threshold| {
        let moved: Vec<Verdict> = verdicts.iter().map(|verdict| at(*verdict, threshold)).collect();
        (kappa(&moved), threshold)
    });
    // Of equally good thresholds the one nearest to the default.
    let better = |best: (f64, f64), one: (f64, f64)| {
        let nearer = (one.1 - 0.5).abs() < (best.1 - 0.5).abs();
        if one.0 > best.0 + 1e-9 || (one.0 > best.0 - 1e-9 && nearer) { one } else { best }
    };
    scored.reduce(better).map_or(0.5, |(_, threshold)| threshold)
}

fn kappa(verdicts: &[Verdict]) -> f64 {
    let n = verdicts.len() as f64;
    let share =
        |is: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count() as f64 / n;
    let (right, label, success) =
        (share(Verdict::is_right), share(|v| v.label), share(|v| v.success));
    let chance = label * success + (1.0 - label) * (1.0 - success);
    if chance < 1.0 { (right - chance) / (1.0 - chance) } else { 0.0 }
}

fn servers(listed: &Value) -> Vec<TraceServer> {
    let entries = listed.as_array().unwrap().iter().filter_map(|entry| entry["tools"].as_object());
    let server = |(name, server): (&String, &Value)| {
        let tools = server["tools"].as_array().unwrap().iter().cloned().map(Tool).collect();
        let listing = Listing { tools: Some(tools), ..Listing::default() };
        TraceServer { name: Some(name.clone()), listings: vec![listing], ..TraceServer::default() }
    };
    entries.flatten().map(server).collect()
}

/// A chat log whose calls go through a tool `execute-tool`.
fn trace(record: &Value) -> Trace {
    let mut trace = Trace { id: record["id"].as_str().map(ToOwned::to_owned), ..Trace::default() };
    let messages = record["messages"].as_array().unwrap();
    let result = |id: &Value| {
        let mut results = messages.iter().filter(|message| message["role"] == "tool");
        results
            .find(|message| message["tool_call_id"] == *id)
            .map(|message| text(&message["content"]))
    };
    for message in messages {
        let role = match message["role"].as_str().unwrap() {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => continue,
        };
        let said = text(&message["content"]);
        if !said.is_empty() {
            trace.say(role, said);
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let args = Args::from_text(call["function"]["arguments"].as_str().unwrap());
            let name = call["function"]["name"].as_str().unwrap();
            let inner = args.json().filter(|_| name == "execute-tool").cloned();
            let mut made = match &inner {
                Some(inner) => {
                    let name = inner["tool_name"].as_str().unwrap_or_default();
                    let mut made =
                        Call::tool(name, inner.get("params").cloned().unwrap_or(json!({})));
                    made.server = inner["server_name"].as_str().map(ToOwned::to_owned);
                    made
                }
                None => Call::new(CallKind::Tool, name, args),
            };
            if let Some(result) = result(&call["id"]) {
                made.outcome = CallOutcome::Result(unwrapped(&result));
            }
            trace.call(made);
        }
    }
    trace
}

fn text(content: &Value) -> String {
    content.as_str().map_or_else(String::new, ToOwned::to_owned)
}

/// The log has Python's notation of a result, with the result of the inner server as JSON in its text.
fn unwrapped(written: &str) -> Value {
    let failed = written.trim_end().ends_with("isError=True");
    let inner = written.split_once("text=").and_then(|(_, rest)| python_text(rest));
    let plain = inner.unwrap_or_else(|| written.to_owned());
    match serde_json::from_str::<Value>(&plain) {
        Ok(result) if result.get("content").is_some() && result.get("isError").is_some() => result,
        _ => json!({"content": [{"type": "text", "text": plain}], "isError": failed}),
    }
}

fn python_text(rest: &str) -> Option<String> {
    let mut letters = rest.chars();
    let quote = letters.next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                other => text.push(other),
            },
            end if end == quote => break,
            other => text.push(other),
        }
    }
    Some(text)
}
