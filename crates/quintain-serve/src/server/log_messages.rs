//! Log messages for clients that ask for them: once per session in the legacy era, with each request in the modern one.

#![expect(deprecated, reason = "clients in the field still ask for log messages")]

use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::Peer;
use serde_json::Value;

/// No messages until the client chooses a level.
const SILENT: u8 = u8::MAX;

/// The least severe level that a session asked for.
pub(super) struct LogLevel(AtomicU8);

impl Default for LogLevel {
    fn default() -> Self {
        Self(AtomicU8::new(SILENT))
    }
}

impl LogLevel {
    pub(super) fn set(&self, level: LoggingLevel) {
        self.0.store(rank(level), Ordering::Relaxed);
    }

    /// Whether to send a message, if the request itself may name a level.
    pub(super) fn wants(&self, level: LoggingLevel, of_request: Option<LoggingLevel>) -> bool {
        let least = of_request.map_or_else(|| self.0.load(Ordering::Relaxed), rank);
        least != SILENT && rank(level) >= least
    }
}

fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

pub(super) async fn send(peer: &Peer<RoleServer>, level: LoggingLevel, data: Value) {
    let message = LoggingMessageNotificationParam::new(level, data).with_logger("quintain");
    let _ = peer.notify_logging_message(message).await;
}
