//! Deliberate faults: any bytes, any id, any method, in any order, for tests of the protocol itself.

use std::time::Instant;

use bytes::Bytes;

use super::call::{CallError, Deadline};
use super::connection::Connection;
use crate::message::Id;
use crate::transport::{Headers, RawAnswer, RawHttp, TransportError};

/// The misbehaving client that every connection can be.
pub struct Fault<'a> {
    connection: &'a Connection,
}

impl<'a> Fault<'a> {
    /// Misbehaves on `connection`.
    pub fn new(connection: &'a Connection) -> Self {
        Self { connection }
    }

    /// Sends bytes as one message, whatever they are, and waits for nothing.
    pub fn send(&self, bytes: impl Into<Bytes>) {
        self.connection.send_bytes(bytes.into(), None, Vec::new());
    }

    /// Sends bytes as one message and waits for the response to `id`, be it result or error.
    ///
    /// # Errors
    /// When no response to that id comes in time.
    pub async fn exchange(
        &self,
        bytes: impl Into<Bytes>,
        id: Id,
        headers: Headers,
        deadline: Deadline,
    ) -> Result<Answer, CallError> {
        let in_flight = self.connection.expect(id.clone(), false);
        let started = Instant::now();
        self.connection.send_bytes(bytes.into(), Some(id), headers);
        let (frame, outcome) = in_flight.outcome(deadline, started).await?;
        Ok(Answer { frame, outcome })
    }

    /// Sends an HTTP request of any shape.
    ///
    /// # Errors
    /// When the target is not spoken to over HTTP or does not answer.
    pub async fn http(&self, request: RawHttp) -> Result<RawAnswer, TransportError> {
        self.connection.transport().raw_http(request).await
    }
}

/// What came back for a fault.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The whole message.
    pub frame: Bytes,
    /// The JSON of its result, or the error.
    pub outcome: Result<Bytes, CallError>,
}
