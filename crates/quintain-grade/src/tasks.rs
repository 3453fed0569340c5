//! The tasks of a conversation: what the user asks for, the calls that follow, and the answer.

use quintain_evidence::trace::{Role, TraceStep};

use crate::view::{CallView, View};

/// One request with everything up to the next one.
pub(crate) struct Task<'v, 't> {
    /// The user's messages; several if the user writes again before anything happens.
    pub(crate) requests: Vec<&'t str>,
    pub(crate) calls: &'v [CallView<'t>],
    /// What the application says after its last call; blank messages do not count.
    pub(crate) answer: Option<&'t str>,
}

/// The tasks in their order. A request to which nothing follows is none: the conversation was recorded too early.
pub(crate) fn tasks<'v, 't>(view: &'v View<'t>) -> Vec<Task<'v, 't>> {
    let mut tasks = Vec::new();
    let mut open = Open::default();
    let mut calls = 0;
    for step in &view.trace.steps {
        match step {
            TraceStep::Call(_) => {
                calls += 1;
                open.is_begun = true;
                open.answer = None;
            }
            TraceStep::Message(message) => match message.role {
                Role::System => {}
                Role::User => {
                    if open.is_begun {
                        let next = Open { first: calls, ..Open::default() };
                        tasks.push(std::mem::replace(&mut open, next).close(view, calls));
                    }
                    open.requests.push(message.text.as_str());
                }
                Role::Assistant => {
                    open.is_begun = true;
                    if !message.text.trim().is_empty() {
                        open.answer = Some(message.text.as_str());
                    }
                }
            },
        }
    }
    if open.is_begun {
        tasks.push(open.close(view, calls));
    }
    tasks
}

#[derive(Default)]
struct Open<'t> {
    requests: Vec<&'t str>,
    first: usize,
    answer: Option<&'t str>,
    is_begun: bool,
}

impl<'t> Open<'t> {
    fn close<'v>(self, view: &'v View<'t>, end: usize) -> Task<'v, 't> {
        let calls = view.calls.get(self.first..end).unwrap_or_default();
        Task { requests: self.requests, calls, answer: self.answer }
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, Trace};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_conversation_falls_apart_at_requests() {
        let mut trace = Trace::default();
        trace.say(Role::System, "be nice");
        trace.say(Role::User, "first");
        trace.say(Role::User, "quickly");
        trace.call(Call::tool("a", json!({})));
        trace.say(Role::Assistant, "done");
        trace.say(Role::User, "second");
        trace.say(Role::Assistant, "one moment");
        trace.call(Call::tool("b", json!({})));
        trace.call(Call::tool("c", json!({})));
        trace.say(Role::User, "thanks");
        let view = View::new(&trace);
        let tasks = tasks(&view);
        assert_eq!(tasks.len(), 2, "nothing follows the last request");
        assert_eq!(tasks[0].requests, ["first", "quickly"]);
        assert_eq!((tasks[0].calls.len(), tasks[0].answer), (1, Some("done")));
        assert_eq!(tasks[1].calls[1].call.name, "c");
        assert_eq!(tasks[1].answer, None, "what is said before a call is no answer");
    }

    #[test]
    fn calls_without_a_request_are_a_task() {
        let mut trace = Trace::default();
        trace.call(Call::tool("a", json!({})));
        let view = View::new(&trace);
        assert_eq!(tasks(&view).len(), 1);
        let nothing = Trace::default();
        assert!(tasks(&View::new(&nothing)).is_empty());
    }
}
