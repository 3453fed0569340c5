//! Which calls of a trace are equal, which results are, and between which calls nothing changed.

use std::collections::HashMap;
use std::sync::LazyLock;

use quintain_evidence::lexicon;
use quintain_evidence::trace::CallKind;
use serde_json::{Value, json};

use crate::canonical::fingerprint;
use crate::view::{CallView, View};
use crate::word_list;
use crate::word_pattern::{Test, compile_test, is_match};

/// Characters of a result that are searched for a state.
const MAX_SEARCHED: usize = 4_000;

/// Words of tools that report the progress of something, and of the ids of such things.
const PROGRESS: &str = "batch build crawl deployment execution export import job operation pipeline poll process \
    progress query queue render report request run scan state status task training upload wait workflow";

static PENDING: Test = LazyLock::new(|| {
    compile_test(
        r"(?i)\b(?:pending|queued|enqueued|running|in[ _-]?progress|processing|initiali[sz]ing|starting|started|scheduled|provisioning|building|uploading|waiting|working|submitted|accepted|not[ _](?:yet[ _])?(?:ready|finished|completed?|done|started|available)|still|incomplete|unfinished|please wait)\b|(?i)\x22(?:done|finished|completed?|ready)\x22\s*:\s*false",
    )
});

/// One call, as far as repetitions are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeatable {
    pub(crate) position: usize,
    pub(crate) turn: usize,
    /// Equal for equal calls: server, kind, name, and arguments however they are written.
    pub(crate) key: usize,
    /// Equal for equal outcomes.
    pub(crate) outcome: u64,
    /// Equal for calls of one turn between which nothing was changed.
    pub(crate) window: usize,
}

/// All calls in order. Calls whose arguments or results are not recorded have a key and an outcome of their own.
pub(crate) fn repeatables(view: &View<'_>) -> Vec<Repeatable> {
    let mut keys = HashMap::new();
    let mut all = Vec::with_capacity(view.calls.len());
    let mut window = 0;
    let mut last_turn = 0;
    for call in &view.calls {
        if call.turn != last_turn || !call.reads_only() {
            window += 1;
            last_turn = call.turn;
        }
        let own = usize::MAX - call.position;
        let key = match call.call.args.json() {
            Some(args) => {
                let next = keys.len();
                let args = if args.is_null() { fingerprint(&json!({})) } else { fingerprint(args) };
                let identity = (call.server(), call.call.kind, call.call.name.as_str(), args);
                *keys.entry(identity).or_insert(next)
            }
            None => own,
        };
        let outcome = outcome(call).unwrap_or(own as u64);
        all.push(Repeatable { position: call.position, turn: call.turn, key, outcome, window });
        // What comes after a change is another window than the change itself.
        window += usize::from(!call.reads_only());
    }
    all
}

fn outcome(call: &CallView<'_>) -> Option<u64> {
    if let Some(failure) = call.failure() {
        return Some(fingerprint(&Value::from(failure.text.as_str())));
    }
    call.call.result().map(|result| {
        // Ids and times of the transport do not belong to the result.
        let content = ["structuredContent", "content", "contents", "messages"];
        match content.iter().find_map(|key| result.get(key)) {
            Some(content) => fingerprint(content),
            None => fingerprint(result),
        }
    })
}

/// Whether a call asks how far something is, and it is not finished.
pub(crate) fn is_pending(call: &CallView<'_>) -> bool {
    let is_progress =
        |text: &str| lexicon::words(text).iter().any(|word| word_list::contains(PROGRESS, word));
    let args = call.call.args.object();
    let asks = is_progress(&call.call.name)
        || args.is_some_and(|args| args.keys().any(|key| is_progress(key)));
    asks && states_pending(call)
}

/// Whether a result states that something is not finished.
pub(crate) fn states_pending(call: &CallView<'_>) -> bool {
    let text = call.text();
    let text = &text[..text.floor_char_boundary(MAX_SEARCHED)];
    call.call.kind == CallKind::Tool && is_match(&PENDING, text)
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, CallOutcome, Role, Trace};

    use super::*;

    fn made(name: &str, args: Value, result: Value) -> Call {
        Call { outcome: CallOutcome::Result(result), ..Call::tool(name, args) }
    }

    #[test]
    fn equal_calls_share_a_key_and_changes_open_windows() {
        let mut trace = Trace::default();
        trace.say(Role::User, "a");
        trace.call(made("get", json!({"a": 1, "b": 2}), json!("x")));
        trace.call(made("get", json!({"b": 2.0, "a": 1.0}), json!("x")));
        trace.call(made("create", json!({}), json!("x")));
        trace.call(made("get", json!({"a": 1, "b": 2}), json!("y")));
        trace.say(Role::User, "b");
        trace.call(made("get", json!({"a": 1, "b": 2}), json!("y")));
        let all = repeatables(&View::new(&trace));
        assert!(all[0].key == all[1].key && all[0].outcome == all[1].outcome);
        assert_eq!(all[0].window, all[1].window);
        assert_ne!(all[1].window, all[3].window);
        assert_ne!(all[3].window, all[4].window);
        assert_ne!(all[2].window, all[3].window);
        assert_ne!(all[0].outcome, all[3].outcome);
    }

    #[test]
    fn pending_states_are_known() {
        let pending = |name: &str, result: Value| {
            let mut trace = Trace::default();
            trace.call(made(name, json!({}), result));
            is_pending(&View::new(&trace).calls[0])
        };
        assert!(pending("get_status", json!({"status": "RUNNING"})));
        assert!(pending("get_job", json!({"state": "in_progress"})));
        assert!(pending("check_task", json!("Not ready yet")));
        assert!(pending("get_export", json!({"done": false})));
        assert!(!pending("get_status", json!({"status": "done"})));
        assert!(!pending("get_order", json!({"status": "pending"})));
    }
}
