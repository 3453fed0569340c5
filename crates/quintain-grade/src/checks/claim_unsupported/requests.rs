//! What the user orders, turn by turn.

use quintain_evidence::trace::Role;

use super::verbs::{self, Act};
use crate::consent;
use crate::view::View;

/// What the user wants in a turn.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) ordered: Vec<Act>,
    /// The step of the user's message.
    pub(super) start: usize,
    /// The number of user messages up to and including it.
    pub(super) turn: usize,
}

/// The requests of all turns in their order; the first one is empty and covers what precedes the user's first message.
pub(super) struct Requests(Vec<Request>);

impl Requests {
    pub(super) fn new(view: &View<'_>) -> Self {
        let mut found = vec![Request::default()];
        let mut asked = "";
        for (start, turn, message) in view.messages() {
            match message.role {
                Role::User => {
                    let mut ordered = verbs::ordered(&message.text);
                    // "Yes" orders what the question names.
                    if asked.contains('?') && consent::agrees(&message.text) {
                        ordered.extend(verbs::named(asked));
                    }
                    found.push(Request { ordered, start, turn });
                }
                Role::Assistant => asked = &message.text,
                Role::System => {}
            }
        }
        Self(found)
    }

    /// The request that a step answers.
    pub(super) fn at(&self, step: usize) -> &Request {
        let later = self.0[1..].partition_point(|request| request.start < step);
        &self.0[later]
    }
}
