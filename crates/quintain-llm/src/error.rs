//! Why a model did not answer, or not as asked.

use std::time::Duration;

use crate::network::NetworkError;

/// Texts of servers are cut to this many characters in errors.
const MAX_MESSAGE: usize = 600;

#[derive(Debug, Clone, thiserror::Error)]
pub enum ModelError {
    #[error("cannot reach the model: {0}")]
    Unreachable(String),
    /// The policy of the run forbids the destination; nothing was sent.
    #[error("{0}")]
    NotAllowed(String),
    #[error("the model did not answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("the model answered with status {status}: {message}")]
    Status { status: u16, message: String, retry_after: Option<Duration> },
    /// Status 429, or its equivalent in a stream.
    #[error("the model refuses more requests for now (status {status}): {message}")]
    RateLimited { status: u16, message: String, retry_after: Option<Duration> },
    /// The account has no credit or no quota left; waiting does not help.
    #[error("the quota of the account is used up: {0}")]
    Quota(String),
    #[error("the answer is longer than {limit} bytes")]
    TooLarge { limit: usize },
    /// The connection ended before the answer did.
    #[error("the answer is incomplete: {0}")]
    Cut(String),
    #[error("the answer is not valid JSON: {0}")]
    NotJson(String),
    #[error("the answer does not match the JSON schema: {0}")]
    WrongSchema(String),
    /// The answer has neither text nor tool calls.
    #[error("the answer is empty ({0})")]
    Empty(String),
    /// The model refused where structured output was required.
    #[error("the model refused to answer: {0}")]
    Refused(String),
    #[error("{0}")]
    Unsupported(String),
    #[error("{0}")]
    Config(String),
    /// Several attempts failed; the last one is the cause.
    #[error("{last} ({attempts} attempts)")]
    GaveUp { attempts: u32, last: Box<ModelError> },
}

impl ModelError {
    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::TimedOut(_) | Self::RateLimited { .. } | Self::Cut(_) => {
                true
            }
            // What is not implemented stays so: embeddings of a server that was started for chat.
            Self::Status { status, .. } => {
                matches!(status, 408 | 409 | 425)
                    || (*status >= 500 && !matches!(status, 501 | 505 | 511))
            }
            _ => false,
        }
    }

    /// The error without the number of attempts.
    pub fn root(&self) -> &Self {
        match self {
            Self::GaveUp { last, .. } => last.root(),
            other => other,
        }
    }

    /// How long the server asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.root() {
            Self::Status { retry_after, .. } | Self::RateLimited { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// The HTTP status of the answer, if there was one that failed.
    pub fn status(&self) -> Option<u16> {
        match self.root() {
            Self::Status { status, .. } | Self::RateLimited { status, .. } => Some(*status),
            _ => None,
        }
    }

    pub(crate) fn status_of(status: u16, message: &str, retry_after: Option<Duration>) -> Self {
        let message = shorten(message);
        match status {
            429 => Self::RateLimited { status, message, retry_after },
            402 => Self::Quota(message),
            _ => Self::Status { status, message, retry_after },
        }
    }
}

impl From<NetworkError> for ModelError {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::Unreachable(why) => Self::Unreachable(why),
            NetworkError::NotAllowed(why) => Self::NotAllowed(why),
            NetworkError::TimedOut(after) => Self::TimedOut(after),
            NetworkError::Broken(why) => Self::Cut(why),
            NetworkError::Unsupported(why) => Self::Unsupported(why),
        }
    }
}

/// One line of limited length.
pub(crate) fn shorten(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(MAX_MESSAGE) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_retried() {
        let status = |status| ModelError::status_of(status, "", None);
        for passing in [429, 500, 502, 503, 529, 408] {
            assert!(status(passing).is_retryable(), "{passing}");
        }
        for lasting in [400, 401, 402, 403, 404, 413, 422, 501] {
            assert!(!status(lasting).is_retryable(), "{lasting}");
        }
        assert!(ModelError::Cut(String::new()).is_retryable());
        assert!(!ModelError::Quota(String::new()).is_retryable());
        assert!(!ModelError::NotAllowed(String::new()).is_retryable());
    }

    #[test]
    fn long_texts_of_servers_are_cut() {
        let ModelError::Status { message, .. } =
            ModelError::status_of(500, &"ä\n".repeat(2_000), None)
        else {
            panic!("not a status");
        };
        assert!(message.chars().count() <= MAX_MESSAGE + 1);
        assert!(!message.contains('\n'));
    }
}
