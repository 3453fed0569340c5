//! The replies of judges. A judge that cannot answer ends the assertion with an error: it neither passes nor fails.

use quintain_content::json_text::{self, FoundObject};
use quintain_content::text::short;
use quintain_evidence::inquiry::Rounds;
use quintain_evidence::model_reply::{ModelReply, NoReply};
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use super::failure::error;
use super::opinion::Opinion;
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

    /// The first JSON object in a reply. A pass that the judge contradicts later, or whose object the end of the reply cuts
    /// off, is an error: the judge may only quote it from what it judges, or take it back. As in promptfoo, a fail is
    /// final, and what follows an object without a verdict does not count.
    pub(super) fn object(&self, at: usize) -> Result<Value, Box<Verdict>> {
        let text = self.text(at)?;
        if let object @ Value::Object(_) = self.reply(at)?.output {
            return Ok(object);
        }
        let objects = json_text::found_objects(&text);
        let is_verdict = |found: &&FoundObject| {
            found.value.get("pass").is_some() || found.value.get("score").is_some()
        };
        let opinion = |found: &FoundObject| {
            let Opinion { pass, score, .. } = Opinion::read(&found.value, None);
            (pass, score)
        };
        let mut verdicts = objects.iter().filter(is_verdict);
        if let Some(first) = verdicts.next().filter(|first| opinion(first).0) {
            if verdicts.any(|other| opinion(other) != opinion(first)) {
                return self.malformed("contains several verdicts", &text);
            }
            if first.is_cut {
                return self.malformed("ends before its verdict does", &text);
            }
        }
        let found = objects.into_iter().next().map(|found| found.value).filter(Value::is_object);
        found.map_or_else(|| self.malformed("contains no JSON object", &text), Ok)
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
