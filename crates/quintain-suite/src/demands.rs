//! Assertions as proofs of attacks: a response that violates one proves the attack.

use std::path::Path;

use quintain_evidence::demands::{Around, Breach, Demands, ReadDemands};
use quintain_evidence::evidence::Evidence;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::response::Response;
use quintain_evidence::verdict::{Status, Verdict};
use quintain_source::{Diagnostic, Diagnostics, Node, Nunjucks, Severity};
use serde_json::Value;

use crate::check::{Check, Scene, View};
use crate::suite::{Assert, AssertReader, Files, Rule, Test};

/// Reads assertions that need nothing but the evidence.
pub struct DemandReader<'a> {
    pub files: &'a dyn Files,
}

/// Assertions that need nothing but the evidence.
#[derive(Debug)]
struct Decidable(Vec<Assert>);

impl ReadDemands for DemandReader<'_> {
    fn read(
        &self,
        node: &Node,
        base_dir: &Path,
        strictness: Severity,
        dx: &mut Diagnostics,
    ) -> Option<Box<dyn Demands>> {
        let asserts = AssertReader { base_dir, files: self.files, strictness, is_literal: false }
            .list(node, dx);
        let mut is_decidable = true;
        for assert in &asserts {
            let Some(why) = needs(assert) else { continue };
            is_decidable = false;
            let title = format!("`{}` needs more than the response", assert.kind);
            let diagnostic = Diagnostic::error("config::unprovable", title).at(assert.span, why);
            dx.push(diagnostic.help("use an assertion that judges the response alone"));
        }
        is_decidable.then(|| Box::new(Decidable(asserts)) as Box<dyn Demands>)
    }
}

impl Demands for Decidable {
    fn broken(&self, evidence: &Evidence, around: Around<'_>) -> Option<Breach> {
        self.0.iter().find_map(|assert| breach(assert, evidence, around))
    }
}

fn breach(assert: &Assert, evidence: &Evidence, around: Around<'_>) -> Option<Breach> {
    if assert.weight == 0.0 {
        return None;
    }
    let check = match &assert.rule {
        Rule::Check(check) => check,
        Rule::Set { asserts, .. } => {
            return asserts.iter().find_map(|assert| breach(assert, evidence, around));
        }
    };
    let verdict = judged(assert, &**check, evidence, around)?;
    (verdict.status == Status::Fail).then(|| Breach {
        what: format!("`{}` failed: {}", assert.kind, verdict.reason),
        pointer: verdict.proofs.first().map(|proof| proof.pointer.clone()),
    })
}

fn judged(
    assert: &Assert,
    check: &dyn Check,
    evidence: &Evidence,
    around: Around<'_>,
) -> Option<Verdict> {
    let response = Response::of_mcp(evidence);
    // An error response proves nothing, unless the assertion judges errors.
    if response.error.is_some() && !assert.wants_errors() {
        return None;
    }
    let view = assert.view.unwrap_or_default();
    let output = match view.of(&response.output, &response, evidence) {
        Ok(_) if view == View::Output && response.error.is_some() => {
            Value::String(response.error.clone().unwrap_or_default())
        }
        Ok(output) => output.into_owned(),
        Err(_) => return None,
    };
    let sent = evidence.last().map(|exchange| exchange.sent.to_string()).unwrap_or_default();
    let scene = Scene {
        output: &output,
        response: &response,
        evidence,
        surfaces: around.surfaces,
        vars: around.vars,
        prompt: &sent,
        test: &Test::default(),
        target: "",
        definition: None,
        latency_ms: evidence.last().map(|exchange| exchange.took.as_secs_f64() * 1e3),
        templates: &Nunjucks::default(),
        script_value: None,
    };
    match check.next(&scene, &Rounds::default()) {
        Next::Done(verdict) => Some(verdict),
        Next::Ask(_) => None,
    }
}

/// What an assertion needs that is not available to an attack.
fn needs(assert: &Assert) -> Option<&'static str> {
    let check = match &assert.rule {
        Rule::Check(check) => check,
        Rule::Set { asserts, .. } => return asserts.iter().find_map(needs),
    };
    if assert.script.is_some() || assert.transform.is_some() {
        return Some("it runs a script first");
    }
    if check.comparison().is_some() {
        return Some("it compares several responses");
    }
    check.asks().then_some("it needs a model, an interpreter, a file or another call")
}
