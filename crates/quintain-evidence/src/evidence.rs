//! What was sent and what came back. Facts only; opinions are made from them elsewhere.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::answer_record::{AnswerRecord, KeptAnswer};
use crate::probe::Step;
use crate::question::{Answer, Question};

pub use crate::exchange::{Exchange, Outcome};

/// Everything that a probe brought to light. Verdicts are made from this and from nothing else, so
/// a stored run can be judged again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The exchanges of the probe in the order of sending.
    pub exchanges: Vec<Exchange>,
    /// Calls that a check asked for beyond the probe (the same call again, a bad argument, ...).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<Extra>,
    /// What checks and the code of the suite asked, with the answers. A question that is answered
    /// here is not asked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerRecord>,
    /// What was seen outside of the wire while the probe was under way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
}

/// Something that happened outside of the wire and carries the mark of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Observation {
    /// Somebody connected to the listener.
    Connection {
        /// The request line, or the first bytes of what is no HTTP.
        request: String,
        /// Header lines, as they came.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        headers: Vec<String>,
    },
    /// A file appeared or changed in the canary ground.
    File { path: PathBuf, content: String },
    /// A program was started that is not what it seems: a shim that writes down its arguments.
    Program { program: String, arguments: Vec<String> },
    /// A file in a folder that the target was given changed, appeared or went while it did a step.
    Changed {
        path: PathBuf,
        /// The number of the step, from zero.
        step: usize,
        gone: bool,
    },
    /// The process of the target ended.
    Exit { why: String },
}

/// A call that a check asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extra {
    pub step: Step,
    pub exchange: Exchange,
}

impl Evidence {
    /// The exchange that the case is about: the last one of the probe.
    pub fn last(&self) -> Option<&Exchange> {
        self.exchanges.last()
    }

    /// What came of a call that a check asked for. One that asks the same several times gets as many
    /// answers; `nth` counts from zero.
    pub fn of_step(&self, step: &Step, nth: usize) -> Option<&Exchange> {
        let mut same = self.extra.iter().filter(|extra| extra.step == *step);
        same.nth(nth).map(|extra| &extra.exchange)
    }

    /// The answer to a question that was asked before. Runs stored before answers were kept know their
    /// calls alone.
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

    /// The index of such a call for a proof: they follow the probe's own exchanges.
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
