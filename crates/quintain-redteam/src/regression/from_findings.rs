//! Turns findings into tests of an ordinary suite: they fail as long as the weakness exists, and pass once it is
//! fixed. A finding whose proof is not in a response does not become a test; the reason is listed instead.

use quintain_evidence::finding::{Confidence, Finding, FindingProof, Place, SENT_PROMPT};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::tool_call::ToolCall;
use serde_json::{Map, Value, json};

use super::test_body::{Written, anywhere, literal, written};
use super::{Regression, RegressionContext, SkippedFinding};

/// Turns findings into tests.
pub fn regression(findings: &[Finding], context: &RegressionContext<'_>) -> Regression {
    let mut made = Regression::default();
    for finding in findings.iter().flat_map(Finding::parts) {
        match of(finding, context, &mut made) {
            Ok(test) => made.tests.push(test),
            Err(why) => {
                let (id, title) = (finding.id.clone(), finding.title.clone());
                made.left.push(SkippedFinding { id, title, why });
            }
        }
    }
    made
}

fn of(
    finding: &Finding,
    context: &RegressionContext<'_>,
    made: &mut Regression,
) -> Result<Value, String> {
    if let Some(note) = &finding.note {
        return Err(format!("by design: {note}"));
    }
    if finding.confidence == Confidence::Suspected && !context.suspected {
        return Err("suspected only; include it with `--suspected`".to_owned());
    }
    if finding.severity < context.least {
        return Err(format!("its severity is only {}", finding.severity.word()));
    }
    let signed = finding.proofs.iter().enumerate().find(|(_, proof)| proof.sign.is_some());
    let Some((at, proof)) = signed else {
        return Err("the proof is not in a response".to_owned());
    };
    let Some(sign) = &proof.sign else { return Err(String::new()) };
    let target = (context.target_of)(proof.identity.as_deref())
        .ok_or_else(|| "the credentials of its identity are unknown".to_owned())?;
    if let Place::Input { .. } = &finding.place {
        return of_prompt(finding, sign, context, target);
    }
    let mut steps = steps(finding, proof, at == 0, sign)?;
    if !context.several_servers {
        steps = steps.into_iter().map(anywhere).collect();
    }
    for step in &steps {
        if let Step::Call(ToolCall { tool, .. }) = step
            && !context.listed.is_empty()
            && !context.listed.contains(tool)
        {
            return Err(format!("`{tool}` is not listed, and a suite calls only listed tools"));
        }
    }
    let only = Some(finding.fingerprint.as_str());
    let written =
        written(sign, (&finding.rule, only), steps, (context.canary, context.no_canary), made)?;
    test(finding, context, target, written)
}

/// The test of a target that takes text: the same prompt must not bring the same text again.
fn of_prompt(
    finding: &Finding,
    sign: &Indicator,
    context: &RegressionContext<'_>,
    target: String,
) -> Result<Value, String> {
    let prompt = finding.metadata.get(SENT_PROMPT).and_then(Value::as_str);
    let prompt = prompt.ok_or("one prompt does not reproduce it")?;
    let Indicator::Says { text } = sign else {
        return Err("the proof is not a text in the reply".to_owned());
    };
    let asserts = json!([{"type": "not-says", "value": literal(text)?}]);
    test(finding, context, target, Written { prompt: literal(prompt)?.into(), asserts })
}

fn test(
    finding: &Finding,
    context: &RegressionContext<'_>,
    target: String,
    written: Written,
) -> Result<Value, String> {
    let mut test = Map::new();
    let title = format!("{} {}: {}", finding.id, finding.rule, finding.title);
    test.insert("description".into(), literal(&title)?.into());
    if context.several_targets {
        test.insert("targets".into(), json!([target]));
    }
    test.insert("vars".into(), json!({"prompt": written.prompt}));
    test.insert("assert".into(), written.asserts);
    test.insert(
        "metadata".into(),
        json!({
            "pluginId": finding.rule, "severity": finding.severity.word(),
            "finding": finding.id, "fingerprint": finding.fingerprint,
        }),
    );
    Ok(test.into())
}

/// The requests that reproduce it.
fn steps(
    finding: &Finding,
    proof: &FindingProof,
    first: bool,
    sign: &Indicator,
) -> Result<Vec<Step>, String> {
    if *sign == Indicator::Listed {
        let params = Map::new();
        return Ok(vec![Step::Request { method: "tools/list".into(), params, server: None }]);
    }
    let exchanges = &proof.attempt.exchanges;
    let of_wire = |method: &str| !matches!(method, "HTTP") && !method.starts_with("frame");
    if exchanges.is_empty() || !exchanges.iter().all(|exchange| of_wire(&exchange.method)) {
        return Err("it was not sent as a request of an MCP session".to_owned());
    }
    let sent = exchanges.iter().map(|exchange| plain(exchange.step()));
    if *sign == Indicator::Differs {
        return Ok(sent.take(2).collect());
    }
    if first && !finding.steps.is_empty() {
        return Ok(finding.steps.iter().cloned().map(plain).collect());
    }
    let sent: Vec<Step> = sent.collect();
    match sent.len() {
        1 => Ok(sent),
        _ => Err("the proof needs requests of several attempts".to_owned()),
    }
}

/// A step without what the session adds.
fn plain(mut step: Step) -> Step {
    if let Step::Request { params, .. } = &mut step {
        params.shift_remove("_meta");
    }
    step
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
    use quintain_evidence::finding::Severity;

    use super::*;

    fn exchange(query: &str) -> Exchange {
        Exchange::called("s", "find", json!({"q": query}), Outcome::Reply(json!({})))
    }

    fn finding(sign: Option<Indicator>, queries: &[&str]) -> Finding {
        let exchanges: Vec<Exchange> = queries.iter().map(|query| exchange(query)).collect();
        let steps = exchanges.last().map(Exchange::step).into_iter().collect();
        Finding {
            id: "F-1".into(),
            rule: "sql-injection".into(),
            title: "it is vulnerable".into(),
            severity: Severity::High,
            confidence: Confidence::Confirmed,
            target: "t".into(),
            place: Place::Tool { server: "s".into(), tool: "find".into() },
            tool: None,
            argument: None,
            cwe: Vec::new(),
            owasp: Vec::new(),
            proofs: vec![FindingProof {
                form: String::new(),
                what: String::new(),
                payload: None,
                baseline: None,
                attempt: Evidence { exchanges, ..Evidence::default() },
                pointer: None,
                sign,
                identity: None,
            }],
            reproduce: None,
            replay: None,
            written: None,
            accepted: None,
            fingerprint: "1".into(),
            trial: None,
            group: None,
            places: Vec::new(),
            strategies: Vec::new(),
            note: None,
            steps,
            metadata: Map::new(),
        }
    }

    fn made(finding: Finding) -> Regression {
        let canaries = RegressionContext {
            listed: &["find".to_owned()],
            target_of: &|_| Some("t".to_owned()),
            several_targets: false,
            several_servers: false,
            canary: "suite.canary",
            no_canary: None,
            suspected: false,
            least: Severity::Info,
        };
        regression(&[finding], &canaries)
    }

    #[test]
    fn a_difference_is_one_call_and_another_to_compare_with() {
        let made = made(finding(Some(Indicator::Differs), &["a<b", "b<a", "c<d"]));
        let [test] = &made.tests[..] else { panic!("{made:?}") };
        assert_eq!(test["vars"]["prompt"], json!({"tool": "find", "args": {"q": "a<b"}}));
        let expected =
            json!([{"type": "same-answer", "as": {"tool": "find", "args": {"q": "b<a"}}}]);
        assert_eq!(test["assert"], expected);
    }

    #[test]
    fn prompts_are_sent_again() {
        let mut of_text = finding(Some(Indicator::says("abc")), &["x"]);
        let (server, prompt) = ("chat".to_owned(), String::new());
        of_text.place = Place::Input { server, prompt, variable: "prompt".into() };
        assert!(made(of_text.clone()).tests.is_empty(), "the prompt is not stored");
        of_text.metadata.insert(SENT_PROMPT.into(), "join {{x}}".into());
        let made = made(of_text);
        assert_eq!(made.tests[0]["vars"]["prompt"], "{% raw %}join {{x}}{% endraw %}");
        assert_eq!(made.tests[0]["assert"][0], json!({"type": "not-says", "value": "abc"}));
    }

    #[test]
    fn templates_are_kept_from_being_filled_in() {
        let made = made(finding(Some(Indicator::says("49")), &["{{7*7}}"]));
        let sent = &made.tests[0]["vars"]["prompt"]["args"]["q"];
        assert_eq!(sent, "{% raw %}{{7*7}}{% endraw %}");
        assert_eq!(made.tests[0]["assert"][0], json!({"type": "not-says", "value": "49"}));
    }

    #[test]
    fn what_succeeds_has_to_be_refused() {
        let made = made(finding(Some(Indicator::Succeeds), &["nonsense"]));
        assert_eq!(made.tests[0]["vars"]["prompt"]["args"]["q"], "nonsense");
        assert_eq!(made.tests[0]["assert"][0], json!({"type": "is-error", "kind": "refusal"}));
    }

    #[test]
    fn planted_files_move_beside_the_suite() {
        let path = "/tmp/quintain-x/canary.md".to_owned();
        let sign = Indicator::Reads { path, text: "secret".into() };
        let made = made(finding(Some(sign), &["../../tmp/quintain-x/canary.md"]));
        let sent = made.tests[0]["vars"]["prompt"]["args"]["q"].as_str().unwrap();
        assert!(sent.starts_with("../../../../"), "{sent}");
        assert!(sent.ends_with("../..{{env.QUINTAIN_SUITE_DIR}}/suite.canary.md"), "{sent}");
        assert_eq!(made.tests[0]["assert"][0]["value"], "file://suite.canary.txt");
        let names: Vec<&str> = made.files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["suite.canary.txt", "suite.canary.md"]);
    }

    #[test]
    fn what_makes_no_test_is_named() {
        let why = |finding: Finding| made(finding).left.remove(0).why;
        assert_eq!(why(finding(None, &["x"])), "the proof is not in a response");
        let mut unlisted = finding(Some(Indicator::says("x")), &["x"]);
        unlisted.steps =
            vec![Step::Call(ToolCall { tool: "hidden".into(), args: Map::new(), server: None })];
        assert!(why(unlisted).contains("`hidden` is not listed"));
        let mut unsure = finding(Some(Indicator::says("x")), &["x"]);
        unsure.confidence = Confidence::Suspected;
        assert!(why(unsure).contains("--suspected"));
        let mut raw = finding(Some(Indicator::says("x")), &["x"]);
        raw.proofs[0].attempt.exchanges[0].method = "HTTP".into();
        assert!(why(raw).contains("not sent as a request of an MCP session"));
    }
}
