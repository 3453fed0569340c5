//! A small real model and real embeddings, on loopback. Plumbing is asserted, quality is not.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use super::endpoint::{Endpoint, Reply};
use super::{ensure, eval, folder};
use crate::budgets::quintain;
use crate::run::repository;

const PEER: &str = "QUINTAIN_PEER_PYTHON_MODEL";

pub(super) fn trials() -> Vec<Trial> {
    let is_missing = env::var_os(PEER).is_none() && env::var_os("CI").is_none();
    let trial = |name: &str, test: fn() -> Result<(), Failed>| {
        let skipped = if is_missing { " (SKIPPED: no QUINTAIN_PEER_PYTHON_MODEL)" } else { "" };
        Trial::test(format!("models::{name}{skipped}"), test).with_ignored_flag(is_missing)
    };
    vec![
        trial("a_real_model_answers_in_three_dialects", dialects),
        trial("a_real_model_judges_with_a_closed_rubric", judge),
        trial("real_embeddings_compare_texts", embeddings),
        trial("real_embeddings_measure_relevance", relevance),
        trial("a_real_model_leads_a_crescendo", crescendo),
        trial("a_real_model_is_attacked", attacked),
    ]
}

/// A server of `peers/model`, which ends with this value.
struct Peer {
    process: Child,
    origin: String,
}

impl Peer {
    fn start(script: &str) -> Result<Self, Failed> {
        let home = env::var_os(PEER).ok_or("run `cargo xtask peers`")?;
        let python = PathBuf::from(home).join("bin/python");
        let peers = repository().join("peers");
        let mut process = Command::new(&python)
            .arg(peers.join("serve.py"))
            .arg(&python)
            .arg(peers.join("model").join(script))
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let place: Value = serde_json::from_str(&line)?;
        let url = place["url"].as_str().ok_or("no URL")?;
        let origin = url.trim_end_matches("/mcp").to_owned();
        Ok(Self { process, origin })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The server answers 503 while it loads its weights, which Quintain waits out.
const PATIENT: &str = "apiKey: none, max_tokens: 24, maxRetries: 20";

fn dialects() -> Result<(), Failed> {
    let peer = Peer::start("chat.py")?;
    let origin = &peer.origin;
    let suite = format!(
        "targets:\n  - {{id: 'openai:chat:m', config: {{apiBaseUrl: '{origin}/v1', {PATIENT}}}}}\n\
         \x20 - {{id: 'openai:responses:m', config: {{apiBaseUrl: '{origin}/v1', {PATIENT}}}}}\n\
         \x20 - {{id: 'anthropic:messages:m', config: {{apiBaseUrl: '{origin}', {PATIENT}}}}}\n\
         \x20 - {{id: 'openai:chat:streamed', config: {{apiBaseUrl: '{origin}/v1', {PATIENT}, stream: true}}}}\n\
         prompts:\n  - 'Name the capital of {{{{country}}}}.'\n\
         tests:\n  - vars: {{country: France}}\n    assert: [{{type: javascript, value: output.length > 0}}]\n"
    );
    let folder = folder()?;
    let (output, rows) = eval(folder.path(), &suite, &["-j", "1"])?;
    ensure(output.status.code() == Some(0) && rows.len() == 4, (&output, &rows))?;
    for row in &rows {
        let total = row["tokenUsage"]["total"].as_u64().unwrap_or_default();
        ensure(total > 0, row)?;
    }
    Ok(())
}

fn judge() -> Result<(), Failed> {
    let peer = Peer::start("chat.py")?;
    let origin = &peer.origin;
    let suite = format!(
        "judge: {{id: 'openai:chat:j', config: {{apiBaseUrl: '{origin}/v1', apiKey: none, max_tokens: 120, maxRetries: 20}}}}\n\
         targets: [echo]\nprompts: ['Paris is the capital of France.']\n\
         tests:\n  - assert:\n      - {{type: llm-rubric, value: names a city, judge: {{samples: 3, levels: 3, abstain: true}}}}\n"
    );
    let folder = folder()?;
    let (output, rows) = eval(folder.path(), &suite, &[])?;
    // The verdict is the model's; that there is one, or an abstention, is ours.
    let reason = rows[0]["gradingResult"]["componentResults"][0]["reason"].as_str();
    let error = rows[0]["error"].as_str().unwrap_or_default();
    ensure(reason.is_some() || error.contains("abstain"), (&output, &rows))?;
    let stats = rows[0]["gradingResult"]["tokensUsed"]["total"].as_u64();
    ensure(stats.is_none_or(|total| total > 0), &rows)
}

fn embeddings() -> Result<(), Failed> {
    let peer = Peer::start("embeddings.py")?;
    let provider = format!(
        "{{id: 'openai:embedding:e', config: {{apiBaseUrl: '{}/v1', apiKey: none}}}}",
        peer.origin
    );
    let suite = format!(
        "targets: [echo]\nprompts: ['The payment was completed.']\ntests:\n\
         \x20 - assert: [{{type: similar, value: The payment was completed., threshold: 0.99, provider: {provider}}}]\n\
         \x20 - assert: [{{type: not-similar, value: Cats sleep on warm roofs, threshold: 0.6, provider: {{embedding: {provider}}}}}]\n"
    );
    let folder = folder()?;
    let (output, rows) = eval(folder.path(), &suite, &[])?;
    ensure(output.status.code() == Some(0) && rows.len() == 2, (&output, &rows))
}

/// A scripted model derives the questions; their distance to the prompt is measured with real embeddings.
fn relevance() -> Result<(), Failed> {
    const ASKED: &str = "What is the capital of France?";
    let peer = Peer::start("embeddings.py")?;
    let questions = [ASKED, "Which city is the capital of France?", "How do cats sleep?"];
    let writer = Endpoint::start(questions.map(Reply::text).to_vec())?;
    let suite = format!(
        "targets: [{{id: 'scripted:s', config: {{default: Paris is the capital of France.}}}}]\n\
         prompts: ['{ASKED}']\n\
         defaultTest:\n  options:\n    provider:\n\
         \x20     text: {{id: 'openai:chat:w', config: {{apiBaseUrl: '{}', apiKey: none}}}}\n\
         \x20     embedding: {{id: 'openai:embedding:e', config: {{apiBaseUrl: '{}/v1', apiKey: none, maxRetries: 20}}}}\n\
         tests:\n  - assert: [{{type: answer-relevance, threshold: 0.2}}]\n",
        writer.url(),
        peer.origin
    );
    let folder = folder()?;
    let (output, rows) = eval(folder.path(), &suite, &["--no-cache"])?;
    ensure(output.status.code() == Some(0) && writer.seen().len() == 3, (&output, &rows))?;
    let result = &rows[0]["gradingResult"]["componentResults"][0];
    let derived = result["metadata"]["generatedQuestions"].as_array().ok_or("no questions")?;
    let similarity = |question: &str| {
        let of = derived.iter().find(|one| one["question"] == question);
        of.and_then(|one| one["similarity"].as_f64()).unwrap_or(f64::NAN)
    };
    let [same, near, far] = questions.map(similarity);
    ensure((same - 1.0).abs() < 1e-6 && near > far && far < 0.9, derived)?;
    let score = result["score"].as_f64().unwrap_or_default();
    ensure((score - (same + near + far) / 3.0).abs() < 1e-6, result)
}

/// A red-team run of a suite, with its report.
fn redteam(place: &Path, suite: &str) -> Result<(Output, Value), Failed> {
    fs::write(place.join("suite.yaml"), suite)?;
    let args =
        ["redteam", "run", "-c", "suite.yaml", "-q", "--no-write", "-j", "1", "-o", "out.json"];
    let output = quintain(place, &args).output()?;
    let report = fs::read(place.join("out.json")).unwrap_or_default();
    Ok((output, serde_json::from_slice(&report).unwrap_or_default()))
}

/// The model writes the messages to a scripted target, which always answers.
fn crescendo() -> Result<(), Failed> {
    let peer = Peer::start("chat.py")?;
    let chat = repository().join("crates/quintain/tests/twins/models/chat.py");
    let suite = format!(
        "targets: [{{id: 'file://{}', label: chat, config: {{weak: echo}}}}]\n\
         redteam:\n  systemPrompt: You answer questions about invoices.\n\
         \x20 provider: {{id: 'openai:chat:a', config: {{apiBaseUrl: '{}/v1', apiKey: none, max_tokens: 60, maxRetries: 20}}}}\n\
         \x20 plugins: [pii]\n  numTests: 1\n\
         \x20 strategies: [{{id: basic, config: {{enabled: false}}}}, {{id: crescendo, config: {{adversary: model, maxTurns: 3}}}}]\n",
        chat.display(),
        peer.origin
    );
    let folder = folder()?;
    let (output, report) = redteam(folder.path(), &suite)?;
    // An echo proves nothing, whatever the model writes.
    let code = output.status.code();
    ensure(code == Some(0) && report["findings"].as_array().is_some_and(Vec::is_empty), &output)?;
    let attack = &report["coverage"]["attacks"][0];
    ensure(attack["attack"] == "model-pii" && attack["trials"] == 1, attack)?;
    let tokens = report["coverage"]["tokens"].as_u64().unwrap_or_default();
    ensure(tokens > 100, &report["coverage"])
}

/// Every form of one attack reaches the model, and its replies are counted.
fn attacked() -> Result<(), Failed> {
    let peer = Peer::start("chat.py")?;
    let suite = format!(
        "targets: [{{id: 'openai:chat:smol', label: smol, config: {{apiBaseUrl: '{}/v1', {PATIENT}}}}}]\n\
         redteam:\n  systemPrompt: You answer questions about invoices.\n  plugins: [pii]\n",
        peer.origin
    );
    let folder = folder()?;
    let (output, report) = redteam(folder.path(), &suite)?;
    let attack = &report["coverage"]["attacks"][0];
    ensure(
        matches!(output.status.code(), Some(0 | 100)) && attack["trials"] == 4,
        (&output, attack),
    )
}
