//! What was sent and what came back. Only facts; verdicts are derived from them elsewhere.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answer_record::{AnswerRecord, KeptAnswer};
use crate::probe::Step;
use crate::question::{Answer, Question};
use crate::trace::Trace;

pub use crate::exchange::{Exchange, Outcome};

/// Everything that a probe brought to light. Verdicts are derived from this alone, so a stored run can be judged
/// again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The exchanges of the probe in the order of sending.
    pub exchanges: Vec<Exchange>,
    /// Calls that a check requested in addition to the probe (the same call again, an invalid argument, ...).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<Extra>,
    /// Questions of checks and of the suite's code, with their answers. A question that is answered here is not asked
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerRecord>,
    /// What was observed outside the wire while the probe ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// The recorded conversation that is graded; then nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Arc<Trace>>,
}

/// Something that happened outside the wire and carries the probe's mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Observation {
    /// A client connected to the listener.
    Connection {
        /// The request line, or the first bytes if it is not HTTP.
        request: String,
        /// Header lines as received.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        headers: Vec<String>,
    },
    /// A file appeared or changed in the canary folder.
    File { path: PathBuf, content: String },
    /// A decoy program was started: a shim that records its arguments.
    Program { program: String, arguments: Vec<String> },
    /// A file in a folder given to the target was changed, created or deleted during a step.
    Changed {
        path: PathBuf,
        /// The number of the step, from 0.
        step: usize,
        gone: bool,
    },
    /// The process of the target ended.
    Exit { why: String },
}

/// A call that a check requested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extra {
    pub step: Step,
    pub exchange: Exchange,
}

impl Evidence {
    /// The exchange that the case is about: the probe's last one.
    pub fn last(&self) -> Option<&Exchange> {
        self.exchanges.last()
    }

    /// What the models cost that answered questions, in US dollars.
    pub fn model_cost(&self) -> f64 {
        let of_models = self.answers.iter().filter(|record| record.question.is_for_model());
        of_models.filter_map(|record| record.cost.price).fold(0.0, |sum, price| sum + price)
    }

    /// The exchange of a call that a check requested. A check that requests the same call several times gets as many
    /// exchanges; `nth` counts from 0.
    pub fn of_step(&self, step: &Step, nth: usize) -> Option<&Exchange> {
        let mut same = self.extra.iter().filter(|extra| extra.step == *step);
        same.nth(nth).map(|extra| &extra.exchange)
    }

    /// The answer to a question that was asked before. Runs that were stored without answers contain only calls.
    pub fn answer(&self, key: &str, question: &Question) -> Option<Answer> {
        if let Some(record) = self.answers.iter().find(|record| record.key == key) {
            return match &record.answer {
                KeptAnswer::Value(value) => Some(Answer::Value(value.clone())),
                KeptAnswer::Reply(reply) => Some(Answer::Reply(reply.clone())),
                KeptAnswer::Failed(why) => Some(Answer::Failed(why.clone())),
                KeptAnswer::Call { extra } => {
                    let extra = self.extra.get(*extra)?;
                    Some(Answer::Exchange(Box::new(extra.exchange.clone())))
                }
            };
        }
        let Question::Call { step, nth } = question else { return None };
        let exchange = self.of_step(step, *nth)?;
        Some(Answer::Exchange(Box::new(exchange.clone())))
    }

    /// The index of such a call for a proof: these calls follow the probe's exchanges.
    pub fn index_of_step(&self, step: &Step, nth: usize) -> Option<usize> {
        let mut same = self.extra.iter().enumerate().filter(|(_, extra)| extra.step == *step);
        same.nth(nth).map(|(at, _)| self.exchanges.len() + at)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn evidence_survives_storage() {
        let exchange = |outcome| Exchange {
            server: "s".into(),
            method: "tools/call".into(),
            sent: json!({"name": "t"}),
            outcome,
            took: Duration::from_micros(1_500),
            notices: vec![json!({"method": "notifications/progress"})],
        };
        let outcomes = [
            Outcome::Reply(json!({"content": []})),
            Outcome::RpcError { code: -32602, message: "no".into(), data: Some(json!([1])) },
            Outcome::TimedOut { after: Duration::from_secs(1) },
            Outcome::Garbled { why: "not JSON".into(), bytes: vec![0, 255, b'x'] },
        ];
        let evidence = Evidence { exchanges: outcomes.map(exchange).into(), ..Evidence::default() };
        let stored = serde_json::to_string(&evidence).unwrap();
        assert_eq!(serde_json::from_str::<Evidence>(&stored).unwrap(), evidence);
    }
}
