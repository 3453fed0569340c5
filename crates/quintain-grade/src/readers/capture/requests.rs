//! Requests that wait for their response.

use std::collections::HashMap;

use serde_json::Value;

use super::rpc::Side;

/// A request without a response.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) params: Value,
    /// The position of the call that it makes.
    pub(super) call: Option<usize>,
    pub(super) step: Option<usize>,
    pub(super) order: usize,
    pub(super) at: Option<f64>,
    /// The HTTP request in which it was sent.
    pub(super) exchange: Option<u64>,
    /// Whether its id is a string, and not a number.
    pub(super) is_text_id: bool,
}

/// By sender and id. Over HTTP, clients that do not know of each other use the same ids.
#[derive(Debug, Default)]
pub(super) struct Requests(HashMap<(Side, String), Vec<Request>>);

/// More requests with one id do not wait.
const MAX_SAME: usize = 64;

impl Requests {
    pub(super) fn insert(&mut self, side: Side, id: String, request: Request) {
        let same = self.0.entry((side, id)).or_default();
        if same.len() >= MAX_SAME {
            same.remove(0);
        }
        same.push(request);
    }

    /// The newest request with an id.
    pub(super) fn get(&self, side: Side, id: &str) -> Option<&Request> {
        self.0.get(&(side, id.to_owned()))?.last()
    }

    /// Takes the request that a response answers: of the same HTTP request, else the oldest.
    pub(super) fn take(&mut self, side: Side, id: &str, exchange: Option<u64>) -> Option<Request> {
        let key = (side, id.to_owned());
        let same = self.0.get_mut(&key)?;
        let at = same.iter().position(|request| exchange.is_some() && request.exchange == exchange);
        let request = same.remove(at.unwrap_or(0));
        if same.is_empty() {
            self.0.remove(&key);
        }
        Some(request)
    }

    pub(super) fn cancel(&mut self, side: Side, id: &str) {
        self.0.remove(&(side, id.to_owned()));
    }

    /// All requests of a side, in the order of sending.
    pub(super) fn of(&self, side: Side) -> Vec<&Request> {
        let mut found: Vec<&Request> = self
            .0
            .iter()
            .filter(|((sender, _), _)| *sender == side)
            .flat_map(|(_, same)| same)
            .collect();
        found.sort_by_key(|request| request.order);
        found
    }
}
