//! Findings as tests of an ordinary suite: they fail as long as the weakness is there, and pass once it
//! is mended. A proof that is not in an answer makes no test; it is named instead.

use quintain_content::detect::{self, Family};
use quintain_evidence::finding::{Confidence, Finding, Proof, Severity};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::tool_call::ToolCall;
use serde_json::{Map, Value, json};

/// Enough to leave any folder.
const LEVELS: usize = 16;
/// Endings that servers add.
const ENDINGS: [&str; 5] = ["md", "json", "csv", "log", "html"];
/// The folder of the suite, in templates.
const FOLDER: &str = "{{env.QUINTAIN_SUITE_DIR}}";

/// What has to be known beside the findings.
pub struct Ground<'a> {
    /// Tools that are listed; a suite calls no others. All if nothing is known.
    pub listed: &'a [String],
    /// The target that is meant by the name of an identity, if it can be written.
    pub target_of: &'a dyn Fn(Option<&str>) -> Option<String>,
    /// Whether tests have to say which target they are for.
    pub several_targets: bool,
    /// Whether requests have to say which server they are for.
    pub several_servers: bool,
    /// How files that are planted for the tests begin: `regression.canary`.
    pub canary: &'a str,
    /// Why no file can be planted for the tests, if so.
    pub no_canary: Option<&'a str>,
    /// Findings that are not certain become tests too.
    pub suspected: bool,
    /// Lesser findings make no tests.
    pub least: Severity,
}

/// The tests, and what did not become one.
#[derive(Debug, Default)]
pub struct Regression {
    pub tests: Vec<Value>,
    pub left: Vec<Left>,
    /// Files that belong beside the suite, and what stands in them.
    pub files: Vec<(String, String)>,
    /// What has to stand in the environment of the server.
    pub environment: Option<String>,
}

/// A finding that is no test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub id: String,
    pub title: String,
    pub why: String,
}

/// Makes tests of findings.
pub fn regression(findings: &[Finding], ground: &Ground<'_>) -> Regression {
    let mut made = Regression::default();
    for finding in findings.iter().flat_map(Finding::parts) {
        match of(finding, ground, &mut made) {
            Ok(test) => made.tests.push(test),
            Err(why) => {
                let (id, title) = (finding.id.clone(), finding.title.clone());
                made.left.push(Left { id, title, why });
            }
        }
    }
    made
}

fn of(finding: &Finding, ground: &Ground<'_>, made: &mut Regression) -> Result<Value, String> {
    if let Some(note) = &finding.note {
        return Err(format!("by design: {note}"));
    }
    if finding.confidence == Confidence::Suspected && !ground.suspected {
        return Err("suspected only; `--suspected` makes it a test".to_owned());
    }
    if finding.severity < ground.least {
        return Err(format!("{} only", finding.severity.word()));
    }
    let signed = finding.proofs.iter().enumerate().find(|(_, proof)| proof.sign.is_some());
    let Some((at, proof)) = signed else {
        return Err("the proof is not in an answer".to_owned());
    };
    let Some(sign) = &proof.sign else { return Err(String::new()) };
    let target = (ground.target_of)(proof.identity.as_deref())
        .ok_or_else(|| "the credentials of its identity are not known".to_owned())?;
    let mut steps = steps(finding, proof, at == 0, sign)?;
    if !ground.several_servers {
        steps = steps.into_iter().map(anywhere).collect();
    }
    for step in &steps {
        if let Step::Call(ToolCall { tool, .. }) = step
            && !ground.listed.is_empty()
            && !ground.listed.contains(tool)
        {
            return Err(format!("`{tool}` is not listed, and a suite calls only what is"));
        }
    }
    let only = Some(finding.fingerprint.as_str());
    let written =
        written(sign, (&finding.rule, only), steps, (ground.canary, ground.no_canary), made)?;
    let mut test = Map::new();
    let title = format!("{} {}: {}", finding.id, finding.rule, finding.title);
    test.insert("description".into(), literal(&title)?.into());
    if ground.several_targets {
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

/// What is sent, and what is demanded.
pub(super) struct Written {
    pub(super) prompt: Value,
    pub(super) asserts: Value,
}

/// The part of a test that follows from its sign. `of` is the attack, and the finding if it is about one;
/// `canary` how planted files begin, and why there can be none.
pub(super) fn written(
    sign: &Indicator,
    of: (&str, Option<&str>),
    mut steps: Vec<Step>,
    (canary, no_canary): (&str, Option<&str>),
    made: &mut Regression,
) -> Result<Written, String> {
    if let Indicator::Reads { path, text } = sign {
        if let Some(why) = no_canary {
            return Err(why.to_owned());
        }
        for name in planted(path, canary, &mut steps)? {
            if !made.files.iter().any(|(known, _)| *known == name) {
                made.files.push((name, text.clone()));
            }
        }
    } else {
        for step in &mut steps {
            *step = literal_step(step)?;
        }
    }
    let asserts = asserts(sign, of, &steps, canary)?;
    if let Indicator::Environment { text } = sign {
        made.environment = Some(text.clone());
    }
    let sent = if *sign == Indicator::Differs { &steps[..1] } else { &steps[..] };
    Ok(Written { prompt: prompt(sent), asserts })
}

/// The requests that show it again.
fn steps(
    finding: &Finding,
    proof: &Proof,
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
        return Err("what was sent is no request of a session".to_owned());
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

/// A step for the only server there is.
pub(super) fn anywhere(mut step: Step) -> Step {
    let (Step::Call(ToolCall { server, .. }) | Step::Request { server, .. }) = &mut step;
    *server = None;
    step
}

/// A step without what the session adds.
fn plain(mut step: Step) -> Step {
    if let Step::Request { params, .. } = &mut step {
        params.shift_remove("_meta");
    }
    step
}

fn asserts(
    sign: &Indicator,
    (attack, only): (&str, Option<&str>),
    steps: &[Step],
    canary: &str,
) -> Result<Value, String> {
    Ok(match sign {
        Indicator::Says { text } | Indicator::Environment { text } => {
            json!([{"type": "not-says", "value": literal(text)?}])
        }
        Indicator::Reads { .. } => {
            json!([{"type": "not-says", "value": format!("file://{canary}.txt")}])
        }
        Indicator::Leaks { kinds } => {
            let of = |family: Family| -> Vec<&String> {
                let is = |kind: &&String| detect::find(kind).is_some_and(|d| d.family() == family);
                kinds.iter().filter(is).collect()
            };
            let mut asserts = vec![json!({"type": "is-answered"})];
            for (name, kinds) in [("no-pii", of(Family::Pii)), ("no-secrets", of(Family::Secret))] {
                if !kinds.is_empty() {
                    asserts.push(json!({"type": name, "types": kinds}));
                }
            }
            asserts.into()
        }
        Indicator::Tells { kinds } => json!([{"type": "no-internals", "types": kinds}]),
        Indicator::Succeeds => json!([{"type": "is-error", "kind": "refusal"}]),
        Indicator::Differs => {
            let other = steps.get(1).ok_or("there is no second answer to compare with")?;
            json!([{"type": "same-answer", "as": prompt(std::slice::from_ref(other))}])
        }
        Indicator::Listed => match only {
            Some(only) => json!([{"type": "surface-clean", "attacks": [attack], "only": [only]}]),
            None => json!([{"type": "surface-clean", "attacks": [attack]}]),
        },
    })
}

/// What stands in the variable `prompt`.
fn prompt(steps: &[Step]) -> Value {
    let all: Vec<Value> =
        steps.iter().map(|step| serde_json::to_value(step).unwrap_or_default()).collect();
    match <[Value; 1]>::try_from(all) {
        Ok([only]) => only,
        Err(all) => json!({"steps": all}),
    }
}

/// Puts the place of a file beside the suite where the planted one was; returns the names of the files
/// that must be there.
fn planted(path: &str, canary: &str, steps: &mut [Step]) -> Result<Vec<String>, String> {
    let named = |ending: &str| format!("{canary}.{ending}");
    let ending = std::path::Path::new(path).extension().and_then(|ending| ending.to_str());
    let name = ending.map_or(canary.to_owned(), named);
    // A name without an ending may be one that the server gives an ending.
    let mut names = vec![named("txt"), name.clone()];
    if ending.is_none() {
        names.extend(ENDINGS.map(named));
    }
    let there = format!("{FOLDER}/{name}");
    let relative = path.trim_start_matches('/');
    let mut found = false;
    for step in steps.iter_mut() {
        *step = mapped(step, &mut |text| {
            let old = if text.contains(path) { path } else { relative };
            let Some((before, behind)) = text.split_once(old) else { return literal(text) };
            found = true;
            Ok(format!("{}{there}{}", literal(&deeper(before))?, literal(behind)?))
        })?;
    }
    if found { Ok(names) } else { Err("the path is written in a way of its own".to_owned()) }
}

/// `../` as often as needed wherever the folder is: more do no harm.
fn deeper(before: &str) -> String {
    let plain = before.strip_suffix('/').unwrap_or(before);
    // Only plain steps upwards; other forms are kept as they are.
    if !plain.ends_with("..") || plain.contains("...") {
        return before.to_owned();
    }
    let more = "../".repeat(LEVELS.saturating_sub(plain.matches("..").count()));
    let (head, last) = before.split_at(plain.len() - 2);
    format!("{head}{more}{last}")
}

fn literal_step(step: &Step) -> Result<Step, String> {
    mapped(step, &mut |text| literal(text))
}

/// The same step with every text of its arguments changed.
fn mapped(
    step: &Step,
    change: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Step, String> {
    Ok(match step {
        Step::Call(call) => Step::Call(ToolCall { args: map(&call.args, change)?, ..call.clone() }),
        Step::Request { method, params, server } => Step::Request {
            method: method.clone(),
            params: map(params, change)?,
            server: server.clone(),
        },
    })
}

fn map(
    entries: &Map<String, Value>,
    change: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Map<String, Value>, String> {
    let mut changed = Map::new();
    for (key, value) in entries {
        changed.insert(literal(key)?, deep(value, change)?);
    }
    Ok(changed)
}

fn deep(
    value: &Value,
    change: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => change(text)?.into(),
        Value::Array(items) => {
            items.iter().map(|item| deep(item, change)).collect::<Result<Vec<_>, _>>()?.into()
        }
        Value::Object(entries) => map(entries, change)?.into(),
        other => other.clone(),
    })
}

/// A text that means itself where templates are filled in.
pub(super) fn literal(text: &str) -> Result<String, String> {
    if !["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) {
        return Ok(text.to_owned());
    }
    if text.contains("endraw") || text.contains("env") {
        return Err("its text would be filled in as a template".to_owned());
    }
    Ok(format!("{{% raw %}}{text}{{% endraw %}}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
    use quintain_evidence::finding::Place;

    use super::*;

    fn exchange(query: &str) -> Exchange {
        Exchange {
            server: "s".into(),
            method: "tools/call".into(),
            sent: json!({"name": "find", "arguments": {"q": query}}),
            outcome: Outcome::Reply(json!({})),
            took: Duration::ZERO,
            notices: Vec::new(),
        }
    }

    fn finding(sign: Option<Indicator>, queries: &[&str]) -> Finding {
        let exchanges: Vec<Exchange> = queries.iter().map(|query| exchange(query)).collect();
        let steps = exchanges.last().map(Exchange::step).into_iter().collect();
        Finding {
            id: "F-1".into(),
            rule: "sql-injection".into(),
            title: "it is weak".into(),
            severity: Severity::High,
            confidence: Confidence::Confirmed,
            target: "t".into(),
            place: Place::Tool { server: "s".into(), tool: "find".into() },
            tool: None,
            argument: None,
            cwe: Vec::new(),
            owasp: Vec::new(),
            proofs: vec![Proof {
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
            bout: None,
            group: None,
            places: Vec::new(),
            strategies: Vec::new(),
            note: None,
            steps,
            metadata: Map::new(),
        }
    }

    fn made(finding: Finding) -> Regression {
        let ground = Ground {
            listed: &["find".to_owned()],
            target_of: &|_| Some("t".to_owned()),
            several_targets: false,
            several_servers: false,
            canary: "suite.canary",
            no_canary: None,
            suspected: false,
            least: Severity::Info,
        };
        regression(&[finding], &ground)
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
        assert_eq!(why(finding(None, &["x"])), "the proof is not in an answer");
        let mut unlisted = finding(Some(Indicator::says("x")), &["x"]);
        unlisted.steps =
            vec![Step::Call(ToolCall { tool: "hidden".into(), args: Map::new(), server: None })];
        assert!(why(unlisted).contains("`hidden` is not listed"));
        let mut unsure = finding(Some(Indicator::says("x")), &["x"]);
        unsure.confidence = Confidence::Suspected;
        assert!(why(unsure).contains("--suspected"));
        let mut raw = finding(Some(Indicator::says("x")), &["x"]);
        raw.proofs[0].attempt.exchanges[0].method = "HTTP".into();
        assert!(why(raw).contains("no request of a session"));
    }
}
