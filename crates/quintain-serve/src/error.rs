//! Failures of tools and resources that the caller can do something about.

use serde_json::{Value, json};

/// A failure that the caller can do something about: a tool error, not an error of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    pub code: ErrorCode,
    pub message: String,
    pub hint: Option<String>,
}

/// The kind of a [`ToolError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    NotFound,
    Conflict,
    InUse,
    TargetUnreachable,
    TargetAuth,
    Timeout,
    BudgetExceeded,
    ConfirmationRequired,
    UnsupportedCapability,
    /// The policy of the principal does not allow it.
    NotAllowed,
    InvalidConfiguration,
    Cancelled,
    Internal,
}

impl ErrorCode {
    pub fn word(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::InUse => "in_use",
            Self::TargetUnreachable => "target_unreachable",
            Self::TargetAuth => "target_auth",
            Self::Timeout => "timeout",
            Self::BudgetExceeded => "budget_exceeded",
            Self::ConfirmationRequired => "confirmation_required",
            Self::UnsupportedCapability => "unsupported_capability",
            Self::NotAllowed => "not_allowed",
            Self::InvalidConfiguration => "invalid_configuration",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::TargetUnreachable | Self::Timeout | Self::BudgetExceeded)
    }
}

impl ToolError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The structured content of the error.
    pub fn structured(&self) -> Value {
        let Self { code, message, hint } = self;
        let mut error =
            json!({"code": code.word(), "message": message, "retryable": code.is_retryable()});
        if let Some(hint) = hint {
            error["hint"] = json!(hint);
        }
        json!({"error": error})
    }
}
