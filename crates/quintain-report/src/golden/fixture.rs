//! A fixed run that contains difficult cases for reporters.

use std::collections::BTreeMap;
use std::time::Duration;

use quintain_evidence::event::{Column, RunInfo};
use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use quintain_evidence::response::Response;
use quintain_evidence::result::{
    CaseResult, CaseStatus, Component, Grade, PromptText, SourcePlace, TargetName,
};
use quintain_evidence::verdict::Verdict;
use serde_json::{Map, Value, json};

pub(super) const HOSTILE: &str = "</script><script>alert(1)</script> | `x` <b>&amp; \
    \"q\" 'r' ]]> \u{1b}[31m\u{202e}evil\u{202c} \u{0} =1+1, www.x.y http://x.y @all\r\n- a: b\n# c";

pub(super) fn server() -> TargetName {
    TargetName { id: "mcp".into(), label: Some("payments".into()) }
}

fn other() -> TargetName {
    TargetName { id: "echo".into(), label: None }
}

pub(super) fn run(planned: usize) -> RunInfo {
    let column = |target: TargetName, prompt_idx| Column {
        target,
        prompt_idx,
        raw: "{{prompt}}".into(),
        label: "{{prompt}}".into(),
    };
    RunInfo {
        id: "eval-2026-01-02T03:04:05-abc".into(),
        created: "2026-01-02T03:04:05.678Z".into(),
        description: Some("Payments <&> \u{202e}suite".into()),
        config: json!({"prompts": ["{{prompt}}"], "tests": [{"vars": {"yes": "no"}}]}),
        columns: vec![column(server(), 0), column(other(), 1)],
        planned,
        options: Map::from_iter([("maxConcurrency".to_owned(), json!(4))]),
        tags: BTreeMap::from([("env".to_owned(), "test".to_owned())]),
        version: "0.1.0".into(),
        of_traces: false,
    }
}

fn place(line: usize) -> SourcePlace {
    SourcePlace { file: "suite.yaml".into(), line, column: 9 }
}

/// A result, and the weights of its named scores.
pub(super) struct Case(pub(super) CaseResult, BTreeMap<String, f64>);

impl Case {
    pub(super) fn new(ordinal: usize, test_idx: usize) -> Self {
        Self(
            CaseResult {
                ordinal,
                test_idx,
                group: test_idx,
                prompt_idx: 0,
                repeat: 0,
                target: server(),
                prompt: PromptText { raw: "hello".into(), label: "{{prompt}}".into() },
                description: None,
                vars: Map::from_iter([("prompt".to_owned(), json!("hello"))]),
                test: json!({"vars": {"prompt": "hello"}, "assert": [], "options": {}, "metadata": {}}),
                place: Some(place(10 + test_idx)),
                status: CaseStatus::Passed,
                score: 1.0,
                named_scores: BTreeMap::new(),
                response: Response::text("hello"),
                evidence: Evidence::default(),
                grade: None,
                error: None,
                latency_ms: 12.345_678,
                attempts: 1,
                graded: None,
            },
            BTreeMap::new(),
        )
    }

    pub(super) fn named(mut self, description: &str) -> Self {
        self.0.description = Some(description.into());
        self
    }

    pub(super) fn prompt(mut self, text: &str) -> Self {
        self.0.prompt.raw = text.into();
        self.0.vars.insert("prompt".into(), json!(text));
        self
    }

    fn output(mut self, text: &str) -> Self {
        self.0.response.output = json!(text);
        self
    }

    fn on_echo(mut self) -> Self {
        self.0.target = other();
        self.0.prompt_idx = 1;
        self.0.latency_ms = 0.4;
        self
    }

    fn took(mut self, millis: f64) -> Self {
        self.0.latency_ms = millis;
        self
    }

    pub(super) fn exchange(mut self, sent: Value, outcome: Outcome) -> Self {
        let exchange = Exchange::new("payments", "tools/call", sent, outcome);
        self.0.evidence.exchanges.push(exchange.within(Duration::from_micros(12_345)));
        self
    }

    pub(super) fn graded(mut self, components: Vec<Component>) -> Self {
        let failed = components.iter().find(|one| !one.verdict.passed() && one.set.is_none());
        let reason = failed.map(|component| component.verdict.reason.clone());
        let pass = reason.is_none();
        self.0.status = if pass { CaseStatus::Passed } else { CaseStatus::Failed };
        self.0.score = if pass { 1.0 } else { 0.5 };
        self.0.error.clone_from(&reason);
        self.0.grade = Some(Grade {
            pass,
            score: self.0.score,
            reason: reason.unwrap_or_else(|| "All assertions passed".into()),
            named_scores: self.0.named_scores.clone(),
            named_weights: std::mem::take(&mut self.1),
            components,
        });
        self
    }

    /// Name, score and weight of each.
    fn scores(mut self, scores: &[(&str, f64, f64)]) -> Self {
        let named = scores.iter().map(|(name, score, _)| ((*name).to_owned(), *score));
        self.0.named_scores = named.collect();
        let weights = scores.iter().map(|(name, _, weight)| ((*name).to_owned(), *weight));
        self.1 = weights.collect();
        self
    }

    fn errored(mut self, error: &str) -> Self {
        self.0.status = CaseStatus::Errored;
        self.0.score = 0.0;
        self.0.error = Some(error.into());
        self.0.response = Response::failed(error);
        self
    }

    /// A repetition is a separate test in the group of the first.
    fn again(mut self, repeat: u32) -> Self {
        self.0.test_idx += repeat as usize;
        self.0.repeat = repeat;
        self
    }
}

fn check(line: usize, assertion: Value, verdict: Verdict) -> Component {
    Component { assertion, place: Some(place(line)), verdict, set: None }
}

pub(super) fn cases() -> Vec<CaseResult> {
    let call = json!({"name": "transfer", "arguments": {"amount": 5, "to": "DE 漢字 😀"}});
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    let contains = |value: &str| json!({"type": "contains", "value": value});
    let mut script = Verdict::new(false, 0.3, "parts");
    script.named_scores.insert("a".into(), 0.5);
    script.components.push(Verdict::pass("x"));
    let mut set = Verdict::new(true, 0.5, "Aggregate score 0.50 ≥ 0.5 threshold");
    set.named_scores.insert("inner".into(), 0.0);
    let member = |verdict: Verdict, assertion: Value| Component {
        set: Some(0),
        ..check(31, assertion, verdict)
    };
    let flaky = |repeat: u32, answer: &str| {
        let verdict =
            Verdict::of(answer == "4", format!("Expected output \"{answer}\" to equal 4"));
        let check = check(40, json!({"type": "equals", "value": 4}), verdict);
        Case::new(10 + repeat as usize, 6)
            .again(repeat)
            .named("sometimes")
            .output(answer)
            .graded(vec![check])
    };
    let cases = [
        Case::new(0, 0).named("transfers money")
            .prompt("{\"tool\":\"transfer\",\"args\":{\"amount\":5}}")
            .output("[{\"type\":\"text\",\"text\":\"ok 漢字 😀\"}]")
            .exchange(call.clone(), Outcome::Reply(text("ok 漢字 😀")))
            .scores(&[("greet", 1.0, 4.0)])
            .graded(vec![
                check(12, json!({"type": "contains", "value": "ok", "metric": "greet"}), Verdict::pass("Assertion passed")),
                check(13, json!({"type": "contains", "value": "漢", "metric": "greet", "weight": 3}), Verdict::pass("Assertion passed")),
            ]),
        Case::new(1, 0).named("transfers money").on_echo().output("echo"),
        Case::new(2, 1).named(HOSTILE).prompt(HOSTILE).output(HOSTILE)
            .exchange(json!({"name": HOSTILE}), Outcome::ToolError(text(HOSTILE)))
            .graded(vec![
                check(20, json!({"type": "equals", "value": HOSTILE}), Verdict::fail(format!("Expected {HOSTILE}")).proof(0, "/content/0/text")),
                check(21, contains("b"), Verdict::pass("Assertion passed")),
            ]),
        Case::new(3, 1).named(HOSTILE).on_echo().errored(HOSTILE),
        Case::new(4, 2).named("a lot").output(&"lorem ipsum ".repeat(20_000)).took(2_345.6)
            .exchange(call.clone(), Outcome::Reply(text(&"x".repeat(300_000))))
            .graded(vec![check(25, contains("nothing"), Verdict::fail(format!("Expected output to contain {}", "y".repeat(50_000))))]),
        Case::new(5, 3).named("a set").scores(&[("setm", 0.5, 2.0), ("inner", 0.0, 2.0)])
            .graded(vec![
                check(30, json!({"type": "assert-set", "threshold": 0.5, "weight": 2, "metric": "setm", "assert": []}), set),
                member(Verdict::pass("Assertion passed"), contains("hello")),
                member(Verdict::fail("Expected output to contain \"nope\""), json!({"type": "contains", "value": "nope", "metric": "inner"})),
            ]),
        Case::new(6, 4).prompt("{\"tool\":\"nosuch\"}")
            .exchange(json!({"name": "nosuch", "arguments": {}}), Outcome::RpcError { code: -32602, message: "Unknown tool: nosuch".into(), data: Some(json!([1])) })
            .errored("MCP tool error: MCP error -32602: Unknown tool: nosuch"),
        Case::new(7, 4).prompt("{\"tool\":\"slow\"}")
            .on_echo()
            .exchange(json!({"name": "slow"}), Outcome::TimedOut { after: Duration::from_mins(1) })
            .exchange(json!({"name": "slow"}), Outcome::Garbled { why: "not JSON".into(), bytes: vec![0, 255, b'x'] })
            .errored("MCP tool error: MCP error -32001: Request timed out after 60000 ms")
            .took(60_001.0),
        Case::new(8, 5).named("a script").scores(&[("a", 0.5, 1.0)])
            .graded(vec![check(35, json!({"type": "javascript", "value": "({})"}), script)]),
        flaky(0, "4"),
        flaky(1, "5"),
        flaky(2, "4"),
    ];
    let mut cases: Vec<CaseResult> = cases.into_iter().map(|case| case.0).collect();
    cases[6].attempts = 3;
    cases[8].response.token_usage = Some(json!({"total": 7, "prompt": 3, "completion": 4}));
    cases
}
