//! Log messages to the client. The protocol deprecates them, but clients still use them.

#![expect(deprecated, reason = "a test target offers what clients in the field ask for")]

use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::{
    RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam},
    service::RequestContext,
};
use serde_json::Value;

/// The lowest log level of a session; none until the client requests one.
#[derive(Debug, Default)]
pub(crate) struct LogLevel(AtomicU8);

impl LogLevel {
    pub(crate) fn set(&self, level: LoggingLevel) {
        self.0.store(rank(level), Ordering::Relaxed);
    }

    fn accepts(&self, level: LoggingLevel) -> bool {
        let lowest = self.0.load(Ordering::Relaxed);
        lowest > 0 && rank(level) >= lowest
    }
}

/// Sends a message if the session, or this very request, asked for its level.
pub(crate) async fn info(session: &LogLevel, request: &RequestContext<RoleServer>, data: Value) {
    let level = LoggingLevel::Info;
    let by_request = request.meta.log_level().is_some_and(|lowest| rank(level) >= rank(lowest));
    if by_request || session.accepts(level) {
        let message = LoggingMessageNotificationParam::new(level, data).with_logger("techmart");
        // A message that cannot be delivered is no reason to fail a payment.
        let _ = request.peer.notify_logging_message(message).await;
    }
}

fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 1,
        LoggingLevel::Info => 2,
        LoggingLevel::Notice => 3,
        LoggingLevel::Warning => 4,
        LoggingLevel::Error => 5,
        LoggingLevel::Critical => 6,
        LoggingLevel::Alert => 7,
        LoggingLevel::Emergency => 8,
    }
}
