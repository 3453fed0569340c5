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
        summary: "The server reports progress",
        docs: r"# What it does
Every request has a progress token. Passes if the server sent at least `min` progress notifications
(default 1) with that token before it responded to the last request of the test. The number in `progress`
must never decrease; `total` must not change once it is set, and `progress` must not exceed it.

`not-progress-reported` passes if the server responded without reporting progress.

# What counts as proof
The exchange with its notifications; the reason names the notification that is wrong.

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
            None => quintain_source::wrong_type("min", "a number of at least 1", node, spec.dx),
        }
    }
    let negated = spec.negated;
    judging(move |scene| judge(scene, min, negated))
}

fn judge(scene: &Scene<'_>, min: u64, negated: bool) -> Result<Verdict, Box<Verdict>> {
    let (index, exchange) = views::last(scene)?;
    if let Some(why) = exchange.outcome.failure() {
        let reason = format!("the server did not respond: {why}");
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
        0 => "the server reported no progress".to_owned(),
        1 => "the server reported progress once".to_owned(),
        count => format!("the server reported progress {count} times"),
    }
}

fn reports(exchange: &Exchange) -> Vec<&Value> {
    let method = |notice: &Value| notice.get("method").and_then(Value::as_str).map(str::to_owned);
    let reports = exchange.notices.iter();
    let reports =
        reports.filter(|notice| method(notice).as_deref() == Some("notifications/progress"));
    reports.filter_map(|notice| notice.get("params")).collect()
}

/// The first violation of the protocol in the notifications, if there is one.
fn flaw(exchange: &Exchange, reports: &[&Value]) -> Option<String> {
    let own = exchange.sent.get("_meta").and_then(|meta| meta.get("progressToken"));
    let mut before = f64::NEG_INFINITY;
    let mut total = None;
    for (at, report) in reports.iter().enumerate() {
        let nth = at + 1;
        if own.is_some_and(|own| report.get("progressToken") != Some(own)) {
            return Some(format!(
                "progress notification {nth} has a different token than the request"
            ));
        }
        let Some(progress) = report.get("progress").and_then(Value::as_f64) else {
            return Some(format!("`progress` of progress notification {nth} is not a number"));
        };
        let words = js::number(progress);
        if progress < before {
            let before = js::number(before);
            return Some(format!("progress notification {nth} goes back from {before} to {words}"));
        }
        before = progress;
        let Some(told) = report.get("total").filter(|total| !total.is_null()) else { continue };
        let Some(told) = told.as_f64() else {
            return Some(format!("`total` of progress notification {nth} is not a number"));
        };
        if progress > told {
            let total = js::number(told);
            return Some(format!(
                "progress notification {nth} exceeds its total: {words} of {total}"
            ));
        }
        #[expect(clippy::float_cmp, reason = "the server repeats a number or it does not")]
        if let Some(total) = total.replace(told).filter(|total| *total != told) {
            let (from, to) = (js::number(total), js::number(told));
            return Some(format!(
                "progress notification {nth} changes the total from {from} to {to}"
            ));
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
            (json!([]), Some("the server reported no progress, expected at least once")),
            (
                json!([{"progress": 2}, {"progress": 1}]),
                Some("progress notification 2 goes back from 2 to 1"),
            ),
            (
                json!([{"progress": "x"}]),
                Some("`progress` of progress notification 1 is not a number"),
            ),
            (
                json!([{"progress": 3, "total": 2}]),
                Some("progress notification 1 exceeds its total: 3 of 2"),
            ),
            (
                json!([{"progress": 1, "total": 2}, {"progress": 2, "total": 5}]),
                Some("progress notification 2 changes the total from 2 to 5"),
            ),
        ] {
            let (passed, reason) = reason(reports, "progress-reported");
            assert_eq!(passed, expected.is_none(), "{reason}");
            assert_eq!(reason, expected.unwrap_or("the server reported progress 3 times"));
        }
        assert!(!reason(json!([{"progress": 1}]), "progress-reported, min: 2").0);
    }

    #[test]
    fn the_token_of_the_request_must_come_back() {
        let mut stage = stage(json!([{"progress": 1, "progressToken": "other"}]));
        stage.evidence.exchanges[0].sent = json!({"_meta": {"progressToken": "mine"}});
        let verdict = stage.judge("[{type: progress-reported}]");
        assert_eq!(
            verdict.reason,
            "progress notification 1 has a different token than the request"
        );
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
        assert!(complaints.contains("a number of at least 1"), "{complaints}");
    }
}
