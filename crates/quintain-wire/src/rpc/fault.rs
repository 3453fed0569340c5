//! Deliberate faults: any bytes, any id, any method, in any order, for tests of the protocol itself.

use std::time::Instant;

use bytes::Bytes;

use super::call::{CallError, Deadline};
use super::connection::Connection;
use crate::message::Id;
use crate::transport::{Headers, RawAnswer, RawHttp, TransportError};

/// Sends faulty messages over a connection.
pub struct Fault<'a> {
    connection: &'a Connection,
}

impl<'a> Fault<'a> {
    /// Sends faults over `connection`.
    pub fn new(connection: &'a Connection) -> Self {
        Self { connection }
    }

    /// Sends any bytes as one message, without waiting for a response.
    pub fn send(&self, bytes: impl Into<Bytes>) {
        self.connection.send_bytes(bytes.into(), None, Vec::new());
    }

    /// Sends any bytes as one message and waits for the response to `id`, be it result or error.
    ///
    /// # Errors
    /// When there is no response to that id in time.
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

    /// Sends any HTTP request.
    ///
    /// # Errors
    /// When the transport is not HTTP, or the target does not respond.
    pub async fn http(&self, request: RawHttp) -> Result<RawAnswer, TransportError> {
        self.connection.transport().raw_http(request).await
    }
}

/// The response to a fault.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The whole message.
    pub frame: Bytes,
    /// The JSON of its result, or the error.
    pub outcome: Result<Bytes, CallError>,
}
