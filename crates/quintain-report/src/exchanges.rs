//! Requests and responses for people: pretty JSON, truncated.

use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use quintain_evidence::result::CaseResult;
use serde::Serialize;
use serde_json::json;

use crate::text::{excerpt, json_excerpt, line};

/// Maximum number of exchanges to show per case; the others are counted.
const MAX_EXCHANGES: usize = 12;

#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    pub(crate) server: String,
    pub(crate) method: String,
    pub(crate) sent: String,
    /// `reply`, `tool error`, `error -32602`, `timed out`, ...
    pub(crate) outcome: String,
    pub(crate) received: String,
    pub(crate) millis: f64,
    /// A check made this call, not the test.
    pub(crate) extra: bool,
}

/// The exchanges of a probe, each side truncated to `max_bytes`.
pub(crate) fn shown(evidence: &Evidence, max_bytes: usize) -> Vec<Shown> {
    let own = evidence.exchanges.iter().map(|exchange| (exchange, false));
    let extra = evidence.extra.iter().map(|extra| (&extra.exchange, true));
    let all = own.chain(extra).take(MAX_EXCHANGES);
    all.map(|(exchange, extra)| show(exchange, extra, max_bytes)).collect()
}

/// The number of exchanges that are not shown.
pub(crate) fn left_out(evidence: &Evidence) -> usize {
    let all = evidence.exchanges.len() + evidence.extra.len();
    all.saturating_sub(MAX_EXCHANGES)
}

fn show(exchange: &Exchange, extra: bool, max_bytes: usize) -> Shown {
    let (outcome, received) = match &exchange.outcome {
        Outcome::Reply(result) => ("reply".to_owned(), json_excerpt(result, true, max_bytes)),
        Outcome::ToolError(result) => {
            ("tool error".to_owned(), json_excerpt(result, true, max_bytes))
        }
        Outcome::RpcError { code, message, data } => {
            let mut error = json!({"code": code, "message": message});
            if let (Some(data), Some(map)) = (data, error.as_object_mut()) {
                map.insert("data".to_owned(), data.clone());
            }
            (format!("error {code}"), json_excerpt(&error, true, max_bytes))
        }
        Outcome::TimedOut { after } => {
            ("timed out".to_owned(), format!("no response after {} ms", after.as_millis()))
        }
        Outcome::Closed { why } => ("closed".to_owned(), excerpt(why, max_bytes)),
        Outcome::Refused { why } => ("refused".to_owned(), excerpt(why, max_bytes)),
        Outcome::Garbled { why, bytes } => {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(max_bytes)]);
            let start = excerpt(&start, max_bytes);
            ("garbled".to_owned(), format!("{}\n{start}", excerpt(why, 500)))
        }
    };
    Shown {
        server: line(&exchange.server, 100),
        method: line(&exchange.method, 100),
        sent: json_excerpt(&exchange.sent, true, max_bytes),
        outcome,
        received,
        millis: exchange.took.as_secs_f64() * 1e3,
        extra,
    }
}

/// All exchanges as one text; prompt and output if there are none.
pub(crate) fn transcript(case: &CaseResult, max_bytes: usize) -> String {
    use std::fmt::Write as _;
    let mut text = of_wire(&case.evidence, max_bytes);
    if text.is_empty() {
        let _ = writeln!(text, "--> prompt\n{}", excerpt(&case.prompt.raw, max_bytes));
        let output = crate::gist::output(case, max_bytes);
        let _ = writeln!(text, "<-- output\n{}", excerpt(&output, max_bytes));
    }
    text
}

/// The exchanges as one text.
pub(crate) fn of_wire(evidence: &Evidence, max_bytes: usize) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for shown in shown(evidence, max_bytes) {
        let took = crate::text::duration(shown.millis);
        let Shown { server, method, sent, outcome, received, .. } = shown;
        let _ = writeln!(text, "--> {server} {method}\n{sent}\n<-- {outcome} ({took})\n{received}");
    }
    match left_out(evidence) {
        0 => {}
        more => {
            let _ = writeln!(text, "... and {more} more exchanges");
        }
    }
    text
}
