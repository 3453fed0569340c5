//! Recorded verdicts: JSON lines `{key, question, answer}`, with which a run can be judged again without a model.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use quintain_evidence::answer_record::KeptAnswer;
use quintain_evidence::question::{Answer, Question};
use serde::{Deserialize, Serialize};

/// Longer lines are not verdicts.
const MAX_LINE: usize = 64 << 20;

/// One line of a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedVerdict {
    /// [`Question::key`], by which the answer is found.
    pub key: String,
    pub question: Question,
    pub answer: KeptAnswer,
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct LogError {
    /// Counted from 1.
    pub line: usize,
    pub message: String,
}

/// All recorded verdicts, by the keys of their questions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JudgeLog {
    answers: HashMap<String, KeptAnswer>,
}

impl JudgeLog {
    /// Reads a log, and reports the lines that cannot be read. Of several answers to a question the last one counts.
    pub fn read(mut input: impl BufRead) -> (Self, Vec<LogError>) {
        let (mut log, mut errors) = (Self::default(), Vec::new());
        for line in 1.. {
            let mut bytes = Vec::new();
            let mut limited = io::Read::take(&mut input, MAX_LINE as u64);
            let error = |message: String| LogError { line, message };
            match limited.read_until(b'\n', &mut bytes) {
                Ok(0) => break,
                Ok(MAX_LINE) => {
                    errors.push(error("the line is too long for a verdict".to_owned()));
                    break;
                }
                Ok(_) => {}
                Err(failed) => {
                    errors.push(error(failed.to_string()));
                    break;
                }
            }
            let text = bytes.trim_ascii();
            if text.is_empty() {
                continue;
            }
            match serde_json::from_slice::<RecordedVerdict>(text) {
                Ok(verdict) => {
                    log.answers.insert(verdict.key, verdict.answer);
                }
                Err(wrong) => errors.push(error(format!("not a recorded verdict: {wrong}"))),
            }
        }
        (log, errors)
    }

    pub fn len(&self) -> usize {
        self.answers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// The recorded answer to a question. Secrets must be masked in the question as they were when it was recorded.
    pub fn answer(&self, question: &Question) -> Answer {
        match self.answers.get(&question.key()) {
            Some(KeptAnswer::Value(value)) => Answer::Value(value.clone()),
            Some(KeptAnswer::Reply(reply)) => Answer::Reply(reply.clone()),
            Some(KeptAnswer::Failed(why)) => Answer::Failed(why.clone()),
            Some(KeptAnswer::Call { .. }) | None => Answer::Unavailable(
                "no verdict is recorded for this question; record it again with a judge".to_owned(),
            ),
        }
    }
}

/// Writes an answered question as a line. Questions that could not be asked are not written.
///
/// # Errors
/// If the line cannot be written.
pub fn write(mut out: impl Write, question: &Question, answer: &Answer) -> io::Result<()> {
    let answer = match answer {
        Answer::Value(value) => KeptAnswer::Value(value.clone()),
        Answer::Reply(reply) => KeptAnswer::Reply(reply.clone()),
        Answer::Failed(why) => KeptAnswer::Failed(why.clone()),
        Answer::Unavailable(_) | Answer::Exchange(_) => return Ok(()),
    };
    let verdict = RecordedVerdict { key: question.key(), question: question.clone(), answer };
    let mut line = serde_json::to_vec(&verdict)?;
    line.push(b'\n');
    out.write_all(&line)
}

#[cfg(test)]
mod tests {
    use quintain_evidence::question::{ModelQuestion, ModelRequest, ModelRole};
    use serde_json::json;

    use super::*;
    use crate::consultation::reply;

    fn question(prompt: &str) -> Question {
        Question::Model(ModelQuestion {
            role: ModelRole::Judge,
            asked_by: "g-eval".to_owned(),
            model: None,
            request: ModelRequest::Chat { prompt: prompt.to_owned(), schema: None },
            sample: 0,
            repetition: 0,
        })
    }

    #[test]
    fn what_was_recorded_is_answered_again() {
        let mut file = Vec::new();
        let (good, bad) = (reply(json!({"score": 1})), Answer::Failed("500".to_owned()));
        write(&mut file, &question("a"), &bad).unwrap();
        write(&mut file, &question("a"), &good).unwrap();
        write(&mut file, &question("b"), &bad).unwrap();
        write(&mut file, &question("c"), &Answer::Unavailable("none".to_owned())).unwrap();
        let (log, errors) = JudgeLog::read(file.as_slice());
        assert_eq!((log.len(), errors), (2, Vec::new()));
        assert_eq!(log.answer(&question("a")), good);
        assert_eq!(log.answer(&question("b")), bad);
        assert!(matches!(log.answer(&question("c")), Answer::Unavailable(_)));
    }

    #[test]
    fn bad_lines_do_not_hide_the_good_ones() {
        let mut file = b"{}\nnonsense\n\n".to_vec();
        write(&mut file, &question("a"), &reply("x")).unwrap();
        let (log, errors) = JudgeLog::read(file.as_slice());
        assert_eq!(log.len(), 1);
        assert_eq!(errors.iter().map(|error| error.line).collect::<Vec<_>>(), [1, 2]);
    }
}
