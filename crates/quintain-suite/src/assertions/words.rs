//! A text, or a regular expression after `regex:`, that a response is searched for.

use quintain_evidence::verdict::Verdict;
use quintain_script::Pattern;
use serde_json::Value;

/// The text or pattern to search for.
#[derive(Clone)]
pub(super) enum Words {
    Text(String),
    Pattern { pattern: Pattern, source: String },
}

impl Words {
    /// Reads `value` of an assertion of this type.
    pub(super) fn read(kind: &str, value: Option<&Value>) -> Result<Self, String> {
        let Some(Value::String(text)) = value else {
            return Err(format!("\"{kind}\" needs a text in `value`"));
        };
        let Some(source) = text.strip_prefix("regex:") else {
            return match text.as_str() {
                // Every response contains the empty text.
                "" => Err(format!("\"{kind}\" needs a text that is not empty")),
                _ => Ok(Self::Text(text.clone())),
            };
        };
        let slashed = source.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
        let (body, flags) = slashed.unwrap_or((source, ""));
        match Pattern::new(body, flags) {
            Ok(pattern) => Ok(Self::Pattern { pattern, source: source.to_owned() }),
            Err(error) => Err(format!("invalid regular expression: {error}")),
        }
    }

    pub(super) fn occur_in(&self, text: &str) -> Result<bool, Box<Verdict>> {
        match self {
            Self::Text(wanted) => Ok(text.contains(wanted.as_str())),
            Self::Pattern { pattern, .. } => {
                pattern.is_match(text).map_err(|error| Box::new(Verdict::error(error.to_string())))
            }
        }
    }

    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) => format!("{text:?}"),
            Self::Pattern { source, .. } => source.clone(),
        }
    }
}
