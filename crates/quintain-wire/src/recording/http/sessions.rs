//! Numbers the sessions of a recording, so that requests and responses with equal ids can be matched: by the header of
//! streamable HTTP, or by the endpoint that a stream of the older transport announces.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use url::Url;

use crate::recording::capture::{FrameMeta, Via};
use crate::transport::events::Event;

const HEADER: &str = "mcp-session-id";
/// A client could invent any number of ids; further sessions have no number.
const MAX_SESSIONS: usize = 10_000;

#[derive(Default)]
pub(super) struct Sessions(Mutex<State>);

#[derive(Default)]
struct State {
    by_id: HashMap<String, u64>,
    /// Paths with queries that belong to streams of the older transport.
    endpoints: HashMap<String, u64>,
    count: u64,
}

impl State {
    fn number_of(&mut self, id: &str) -> Option<u64> {
        if let Some(number) = self.by_id.get(id) {
            return Some(*number);
        }
        if self.by_id.len() >= MAX_SESSIONS {
            return None;
        }
        self.count += 1;
        self.by_id.insert(id.to_owned(), self.count);
        Some(self.count)
    }
}

impl Sessions {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The transport and the session of a request.
    pub(super) fn of_request(&self, path: &str, headers: &HeaderMap) -> (Via, Option<u64>) {
        let mut state = self.state();
        if let Some(number) = state.endpoints.get(path) {
            return (Via::Sse, Some(*number));
        }
        let id = headers.get(HEADER).and_then(|id| id.to_str().ok());
        (Via::Http, id.and_then(|id| state.number_of(id)))
    }

    /// The same for a response, which may start a session.
    pub(super) fn of_response(
        &self,
        path: &str,
        request: &HeaderMap,
        response: &HeaderMap,
    ) -> (Via, Option<u64>) {
        if response.contains_key(HEADER) {
            return self.of_request(path, response);
        }
        self.of_request(path, request)
    }

    /// An endpoint event shows that a stream belongs to the older transport, and which path belongs to it.
    pub(super) fn note_event(
        &self,
        exchange: u64,
        event: &Event,
        base: &Url,
        meta: &mut FrameMeta<'_>,
    ) {
        let mut state = self.state();
        let stream = format!("stream {exchange}");
        if event.kind == "endpoint" {
            let Some(number) = state.number_of(&stream) else { return };
            let text = String::from_utf8_lossy(&event.data);
            if let Ok(url) = base.join(text.trim()) {
                let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
                if state.endpoints.len() < MAX_SESSIONS {
                    state.endpoints.insert(format!("{}{query}", url.path()), number);
                }
            }
        }
        if let Some(number) = state.by_id.get(&stream) {
            (meta.via, meta.session) = (Via::Sse, Some(*number));
        }
    }
}
