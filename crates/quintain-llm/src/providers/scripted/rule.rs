//! When a reply of a script applies.

use regex::Regex;
use serde_json::Value;

use super::reply::Reply;
use crate::config::{ConfigError, Options};
use crate::conversation::text_of;

pub(super) struct Rule {
    pattern: Pattern,
    in_all: bool,
    pub(super) reply: Reply,
}

enum Pattern {
    Text(String),
    Regex(Regex),
}

impl Rule {
    pub(super) fn read_all(options: &mut Options<'_>) -> Vec<Self> {
        let rules = match options.get("rules") {
            None => return Vec::new(),
            Some(Value::Array(rules)) => rules,
            Some(_) => {
                let message = "`rules` must be a list of `{match, reply}`";
                options.fail(ConfigError::of("rules", message));
                return Vec::new();
            }
        };
        rules.iter().filter_map(|rule| Self::read(options, rule)).collect()
    }

    fn read(options: &mut Options<'_>, rule: &Value) -> Option<Self> {
        let (Some(pattern), Some(reply)) = (rule.get("match"), rule.get("reply")) else {
            options.fail(ConfigError::of("rules", "a rule needs `match` and `reply`"));
            return None;
        };
        let pattern =
            pattern.get("regex").and_then(Value::as_str).map(|text| (text, true)).or_else(|| {
                let text = pattern.as_str()?;
                let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
                Some(inner.map_or((text, false), |inner| (inner, true)))
            });
        let pattern = match pattern {
            Some((text, false)) => Pattern::Text(text.to_owned()),
            Some((text, true)) => match Regex::new(text) {
                Ok(regex) => Pattern::Regex(regex),
                Err(error) => {
                    let message = format!("invalid regular expression: {error}");
                    options.fail(ConfigError::of("rules", message));
                    return None;
                }
            },
            None => {
                options
                    .fail(ConfigError::of("rules", "`match` must be a text, or `{regex: TEXT}`"));
                return None;
            }
        };
        let in_all = rule.get("in").and_then(Value::as_str) == Some("all");
        Some(Self { pattern, in_all, reply: Reply::read(options, "rules", reply)? })
    }

    pub(super) fn applies(&self, messages: &[Value]) -> bool {
        let matches = |message: &Value| {
            let text = message.get("content").map(text_of).unwrap_or_default();
            match &self.pattern {
                Pattern::Text(part) => text.contains(part.as_str()),
                Pattern::Regex(regex) => regex.is_match(&text),
            }
        };
        if self.in_all {
            messages.iter().any(matches)
        } else {
            messages.last().is_some_and(matches)
        }
    }
}
