//! Progress that a server reported while a request was open.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::evidence::Exchange;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Scene, Spec, judging};
use crate::views;

pub(super) static PROGRESS_REPORTED: Builtin = Builtin {
    meta: &Meta {
        id: "progress-reported",
        aliases: &[],
        summary: "The server reported its progress",
        docs: r"# What it does
Every request carries a progress token. While the last one of the test was open, at least `min`
notifications of progress (1 if not given) must have come with that token. Each must have a number in
`progress` that is not smaller than the one before; `total` must stay the same once it is told, and
progress must not exceed it.

`not-progress-reported` passes if the server answered and reported nothing.

# What counts as proof
The exchange with the notifications that came with it; the reason says which of them is wrong.

# Example
```yaml
- type: progress-reported
  min: 3
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let mut min = 1;
    if let Some(node) = spec.fields.get("min") {
        match node.as_u64().filter(|min| *min > 0) {
            Some(wanted) => min = wanted,
            None => quintain_source::wrong_type("min", "a number from 1", node, spec.dx),
        }
    }
    let negated = spec.negated;
    judging(move |scene| judge(scene, min, negated))
}

fn judge(scene: &Scene<'_>, min: u64, negated: bool) -> Result<Verdict, Box<Verdict>> {
    let (index, exchange) = views::last(scene)?;
    if let Some(why) = exchange.outcome.failure() {
        let reason = format!("no answer came from the server: {why}");
        return Ok(Verdict::fail(reason).proof(index, ""));
    }
    let reports = reports(exchange);
    let count = reports.len() as u64;
    let verdict = match flaw(exchange, &reports) {
        _ if negated => Verdict::of(count == 0, reported(count)),
        Some(flaw) => Verdict::fail(flaw),
        None if count >= min => Verdict::pass(reported(count)),
        None => {
            let wanted = if min == 1 { "once".to_owned() } else { format!("{min} times") };
            Verdict::fail(format!("{}, expected at least {wanted}", reported(count)))
        }
    };
    Ok(verdict.proof(index, ""))
}

fn reported(count: u64) -> String {
    match count {
        0 => "progress was never reported".to_owned(),
        1 => "progress was reported once".to_owned(),
        count => format!("progress was reported {count} times"),
    }
}

fn reports(exchange: &Exchange) -> Vec<&Value> {
    let method = |notice: &Value| notice.get("method").and_then(Value::as_str).map(str::to_owned);
    let reports = exchange.notices.iter();
    let reports =
        reports.filter(|notice| method(notice).as_deref() == Some("notifications/progress"));
    reports.filter_map(|notice| notice.get("params")).collect()
}

/// What is wrong with the reports, if anything.
fn flaw(exchange: &Exchange, reports: &[&Value]) -> Option<String> {
    let own = exchange.sent.get("_meta").and_then(|meta| meta.get("progressToken"));
    let mut before = f64::NEG_INFINITY;
    let mut total = None;
    for (at, report) in reports.iter().enumerate() {
        let nth = at + 1;
        if own.is_some_and(|own| report.get("progressToken") != Some(own)) {
            return Some(format!("report {nth} has another token than the request"));
        }
        let Some(progress) = report.get("progress").and_then(Value::as_f64) else {
            return Some(format!("report {nth} has no number in `progress`"));
        };
        let words = js::number(progress);
        if progress < before {
            return Some(format!("report {nth} goes back from {} to {words}", js::number(before)));
        }
        before = progress;
        let Some(told) = report.get("total").filter(|total| !total.is_null()) else { continue };
        let Some(told) = told.as_f64() else {
            return Some(format!("report {nth} has something else than a number in `total`"));
        };
        if progress > told {
            return Some(format!("report {nth} is {words} of {}", js::number(told)));
        }
        #[expect(clippy::float_cmp, reason = "the server repeats a number or it does not")]
        if let Some(total) = total.replace(told).filter(|total| *total != told) {
            let (from, to) = (js::number(total), js::number(told));
            return Some(format!("report {nth} changes the total from {from} to {to}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Outcome;
    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use super::*;
    use crate::suite::NoFiles;
    use crate::testing::{TestScene, compile_with};

    fn stage(reports: Value) -> TestScene {
        let mut stage = TestScene::called("t", json!({}), Outcome::Reply(json!({"content": []})));
        let notices = reports.as_array().unwrap().iter();
        let notices =
            notices.map(|params| json!({"method": "notifications/progress", "params": params}));
        stage.evidence.exchanges[0].notices = notices.collect();
        stage.evidence.exchanges[0].notices.push(json!({"method": "notifications/message"}));
        stage.evidence.exchanges[0].notices.push(json!({"stray": 7}));
        stage
    }

    fn reason(reports: Value, options: &str) -> (bool, String) {
        let verdict = stage(reports).judge(&format!("[{{type: {options}}}]"));
        (verdict.passed(), verdict.reason)
    }

    #[test]
    fn progress_goes_forward_and_keeps_its_total() {
        for (reports, expected) in [
            (json!([{"progress": 1}, {"progress": 1, "total": 2}, {"progress": 2}]), None),
            (json!([]), Some("progress was never reported, expected at least once")),
            (json!([{"progress": 2}, {"progress": 1}]), Some("report 2 goes back from 2 to 1")),
            (json!([{"progress": "x"}]), Some("report 1 has no number in `progress`")),
            (json!([{"progress": 3, "total": 2}]), Some("report 1 is 3 of 2")),
            (
                json!([{"progress": 1, "total": 2}, {"progress": 2, "total": 5}]),
                Some("report 2 changes the total from 2 to 5"),
            ),
        ] {
            let (passed, reason) = reason(reports, "progress-reported");
            assert_eq!(passed, expected.is_none(), "{reason}");
            assert_eq!(reason, expected.unwrap_or("progress was reported 3 times"));
        }
        assert!(!reason(json!([{"progress": 1}]), "progress-reported, min: 2").0);
    }

    #[test]
    fn the_token_of_the_request_must_come_back() {
        let mut stage = stage(json!([{"progress": 1, "progressToken": "other"}]));
        stage.evidence.exchanges[0].sent = json!({"_meta": {"progressToken": "mine"}});
        let verdict = stage.judge("[{type: progress-reported}]");
        assert_eq!(verdict.reason, "report 1 has another token than the request");
    }

    #[test]
    fn the_opposite_needs_an_answer_without_reports() {
        assert!(reason(json!([]), "not-progress-reported").0);
        assert!(!reason(json!([{"progress": "x"}]), "not-progress-reported").0);
        let closed = Outcome::Closed { why: "it ended".to_owned() };
        let verdict =
            TestScene::called("t", json!({}), closed).judge("[{type: not-progress-reported}]");
        assert!(!verdict.passed());
        let verdict = TestScene::output("x").judge("[{type: not-progress-reported}]");
        assert_eq!(verdict.status, Status::Error);
    }

    #[test]
    fn mistakes_are_reported() {
        let (_, complaints) = compile_with("[{type: progress-reported, min: 0}]", &NoFiles);
        assert!(complaints.contains("a number from 1"), "{complaints}");
    }
}
