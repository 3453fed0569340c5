//! A connection that carries one message per line or event: stdio and HTTP+SSE. Messages are checked before rmcp sees them,
//! and the end of the input waits for the answers that are still due.

use std::collections::{HashSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::batches::Batches;
use super::envelope::{Checked, check};
use super::info::with_task_capability;

/// How long answers may take after the end of the input.
const LONGEST_FAREWELL: Duration = Duration::from_secs(5);

/// The two directions of a connection.
pub struct MessageChannel {
    incoming: mpsc::Receiver<Vec<u8>>,
    outgoing: mpsc::Sender<String>,
    /// The ids of requests without an answer so far.
    due: watch::Sender<HashSet<RequestId>>,
    batches: Arc<Batches>,
    /// The messages of a batch that rmcp has not seen.
    waiting: VecDeque<Vec<u8>>,
}

impl MessageChannel {
    pub fn new(incoming: mpsc::Receiver<Vec<u8>>, outgoing: mpsc::Sender<String>) -> Self {
        let due = watch::Sender::new(HashSet::new());
        Self { incoming, outgoing, due, batches: Arc::default(), waiting: VecDeque::new() }
    }

    /// Waits until every request is answered, but not for long.
    async fn settle(&self) {
        let mut due = self.due.subscribe();
        let settled = due.wait_for(HashSet::is_empty);
        let _ = tokio::time::timeout(LONGEST_FAREWELL, settled).await;
    }

    async fn answer(&self, answer: Value) {
        if let Some(text) = self.batches.collect(answer.to_string()) {
            let _ = self.outgoing.send(text).await;
        }
    }

    /// The next message: of the last batch, or of the input.
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(bytes) = self.waiting.pop_front() {
                return Some(bytes);
            }
            let bytes = self.incoming.recv().await?;
            match self.batches.split(&bytes) {
                Some(messages) => self.waiting.extend(messages),
                None => return Some(bytes),
            }
        }
    }
}

impl Transport<RoleServer> for MessageChannel {
    type Error = Infallible;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        let due = self.due.clone();
        let batches = Arc::clone(&self.batches);
        async move {
            let answered = match &item {
                ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
                ServerJsonRpcMessage::Error(error) => error.id.clone(),
                _ => None,
            };
            let is_answer =
                matches!(&item, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_));
            if let ServerJsonRpcMessage::Response(response) = &item
                && let ServerResult::InitializeResult(result) = &response.result
            {
                batches.negotiated(result.protocol_version.as_str());
            }
            let text = text_of(&item);
            let text = if is_answer { text.and_then(|text| batches.collect(text)) } else { text };
            if let Some(text) = text {
                // Without a reader nobody misses the message.
                let _ = outgoing.send(text).await;
            }
            if let Some(id) = answered {
                due.send_modify(|due| {
                    due.remove(&id);
                });
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let Some(bytes) = self.next().await else {
                self.settle().await;
                return None;
            };
            if bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let passed = match check(&bytes) {
                Checked::Pass(passed) => passed,
                Checked::Answer(answer) => {
                    self.answer(answer).await;
                    continue;
                }
                Checked::Ignore => continue,
            };
            match serde_json::from_slice::<ClientJsonRpcMessage>(&passed) {
                Ok(message) => {
                    if let Some(text) = self.batches.cancelled(&passed) {
                        let _ = self.outgoing.send(text).await;
                    }
                    if let ClientJsonRpcMessage::Request(request) = &message {
                        let id = request.id.clone();
                        let mut is_new = false;
                        self.due.send_modify(|due| is_new = due.insert(id.clone()));
                        if !is_new {
                            // rmcp would drop the answer to one of the two.
                            self.answer(json!({"jsonrpc": "2.0", "id": id, "error": {
                                "code": -32600,
                                "message": "Invalid Request: a request with this id is in progress",
                            }}))
                            .await;
                            continue;
                        }
                    }
                    return Some(message);
                }
                Err(error) => {
                    let wrong =
                        ErrorData::invalid_request(format!("Invalid Request: {error}"), None);
                    let answer = ServerJsonRpcMessage::error(wrong, None);
                    if let Some(text) = text_of(&answer) {
                        let _ = self.outgoing.send(text).await;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.incoming.close();
        Ok(())
    }
}

fn text_of(message: &ServerJsonRpcMessage) -> Option<String> {
    let is_greeting = matches!(message, ServerJsonRpcMessage::Response(response)
        if matches!(response.result, ServerResult::InitializeResult(_)));
    let text = if is_greeting {
        serde_json::to_value(message).map(|mut value| {
            with_task_capability(&mut value);
            value.to_string()
        })
    } else {
        serde_json::to_string(message)
    };
    text.inspect_err(|error| tracing::error!(%error, "cannot write a message")).ok()
}
