//! The replies of judges. A judge that cannot answer ends the assertion with an error: it neither passes nor fails.

use quintain_content::json_text;
use quintain_content::text::short;
use quintain_evidence::inquiry::Rounds;
use quintain_evidence::model_reply::{ModelReply, NoReply};
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use super::failure::error;
use super::usage::Usage;

/// Longest part of a reply in a message.
const SHOWN: usize = 200;

/// The replies to the questions of an assertion so far, in order.
pub(super) struct Replies<'a> {
    answers: Vec<&'a Answer>,
    kind: &'a str,
    usage: Usage,
}

impl<'a> Replies<'a> {
    pub(super) fn of(rounds: &'a Rounds, kind: &'a str) -> Self {
        let mut usage = Usage::default();
        for (question, answer) in rounds.asked() {
            if let (Question::Model(_), Ok(reply)) = (question, ModelReply::of(answer)) {
                usage.add(&reply);
            }
        }
        Self { answers: rounds.answers().collect(), kind, usage }
    }

    /// Number of questions that were answered, failures included.
    pub(super) fn len(&self) -> usize {
        self.answers.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// The answer to a question that is not for a model.
    pub(super) fn answer(&self, at: usize) -> Option<&'a Answer> {
        self.answers.get(at).copied()
    }

    /// The reply of a model.
    pub(super) fn reply(&self, at: usize) -> Result<ModelReply, Box<Verdict>> {
        let kind = self.kind;
        let Some(answer) = self.answers.get(at) else {
            return error(format!("the judge for `{kind}` was not asked"));
        };
        let reply = ModelReply::of(answer).or_else(|none| match none {
            NoReply::Failed(why) => error(format!("the judge for `{kind}` failed: {why}")),
            NoReply::Unavailable(why) => error(format!("`{kind}` needs a model: {why}")),
        })?;
        match &reply.refusal {
            Some(why) => error(format!("the judge for `{kind}` refused: {}", shown(why))),
            None => Ok(reply),
        }
    }

    /// The text of a reply, which must not be empty.
    pub(super) fn text(&self, at: usize) -> Result<String, Box<Verdict>> {
        let reply = self.reply(at)?;
        match &reply.output {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            _ => return Ok(reply.text()),
        }
        error(format!("the judge for `{}` returned no output", self.kind))
    }

    /// The first JSON object in a reply. A judge that quotes a pass from what it judges may contradict it later: that is an
    /// error, since the pass may not be its own.
    pub(super) fn object(&self, at: usize) -> Result<Value, Box<Verdict>> {
        let text = self.text(at)?;
        if let object @ Value::Object(_) = self.reply(at)?.output {
            return Ok(object);
        }
        let objects = json_text::objects(&text);
        let mut verdicts = objects.iter().filter_map(|object| object.get("pass"));
        let first = verdicts.next();
        let is_pass = first == Some(&Value::Bool(true));
        if is_pass && verdicts.any(|other| Some(other) != first) {
            return self.malformed("contains several verdicts", &text);
        }
        let found = objects.into_iter().next().filter(Value::is_object);
        found.map_or_else(|| self.malformed("contains no JSON object", &text), Ok)
    }

    /// The object with the opinion of a judge. One that has none of its fields is no opinion; a missing field has a default.
    pub(super) fn opinion(&self, at: usize) -> Result<Value, Box<Verdict>> {
        let said = self.object(at)?;
        if ["pass", "score", "reason"].iter().all(|field| said.get(field).is_none()) {
            return self.malformed("has no `pass`, `score` or `reason`", &self.text(at)?);
        }
        Ok(said)
    }

    /// The error for a reply that has no verdict in it.
    pub(super) fn malformed<T>(&self, what: &str, text: &str) -> Result<T, Box<Verdict>> {
        error(format!("the reply of the judge for `{}` {what}: {}", self.kind, shown(text)))
    }

    /// The verdict with what the judges used for it.
    pub(super) fn counted(&self, verdict: Verdict) -> Verdict {
        Verdict { tokens_used: self.usage.report().or(verdict.tokens_used), ..verdict }
    }
}

fn shown(text: &str) -> String {
    short::one_line(text, SHOWN)
}
