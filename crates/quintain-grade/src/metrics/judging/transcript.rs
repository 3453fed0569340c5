//! A conversation for a judge: one line of JSON for each turn, so that what is said in one cannot pretend to be another.

use quintain_content::text::short::shortened;
use quintain_evidence::trace::{Role, TraceStep};
use serde_json::{Value, json};

use super::calls;
use crate::view::{CallView, View};

/// One turn: a message of the user, or what the application did and said.
pub(in crate::metrics) struct Turn<'v, 't> {
    /// Among all turns.
    pub(in crate::metrics) index: usize,
    pub(in crate::metrics) is_user: bool,
    pub(in crate::metrics) text: &'t str,
    /// Calls before the text.
    pub(in crate::metrics) calls: &'v [CallView<'t>],
}

/// The turns of a trace. Calls belong to the text that follows them.
pub(in crate::metrics) fn turns<'v, 't>(view: &'v View<'t>) -> Vec<Turn<'v, 't>> {
    let mut turns: Vec<Turn<'v, 't>> = Vec::new();
    let (mut first, mut end) = (0, 0);
    for step in &view.trace.steps {
        let TraceStep::Message(message) = step else {
            end += 1;
            continue;
        };
        if message.role == Role::System || (message.text.trim().is_empty() && first == end) {
            continue;
        }
        let is_user = message.role == Role::User;
        if is_user && first < end {
            turns.push(turn(view, turns.len(), false, "", first, end));
            first = end;
        }
        turns.push(turn(view, turns.len(), is_user, &message.text, first, end));
        first = end;
    }
    if first < end {
        turns.push(turn(view, turns.len(), false, "", first, end));
    }
    turns
}

fn turn<'v, 't>(
    view: &'v View<'t>,
    index: usize,
    is_user: bool,
    text: &'t str,
    first: usize,
    end: usize,
) -> Turn<'v, 't> {
    Turn { index, is_user, text, calls: view.calls.get(first..end).unwrap_or_default() }
}

/// Turns that a prompt shows of a long conversation, at its beginning and at its end.
const SHOWN: (usize, usize) = (40, 160);
/// Characters of a message that a prompt shows.
const TEXT: usize = 8_000;

/// Turns as text for a prompt.
pub(in crate::metrics) fn shown(turns: &[Turn<'_, '_>], with_calls: bool) -> String {
    let (head, tail) = SHOWN;
    let omitted = turns.len().saturating_sub(head + tail);
    let mut lines = Vec::new();
    for (position, turn) in turns.iter().enumerate() {
        if omitted > 0 && position == head {
            lines.push(json!({"omitted turns": omitted}).to_string());
        }
        if omitted > 0 && (head..head + omitted).contains(&position) {
            continue;
        }
        lines.push(line(turn, with_calls).to_string());
    }
    lines.join("\n")
}

fn line(turn: &Turn<'_, '_>, with_calls: bool) -> Value {
    let role = if turn.is_user { "user" } else { "assistant" };
    let mut line = json!({"turn": turn.index, "role": role});
    if with_calls && !turn.calls.is_empty() {
        line["calls"] = turn.calls.iter().take(calls::SHOWN).map(calls::shown).collect();
    }
    line["content"] = shortened(turn.text, TEXT).into();
    line
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, Trace};

    use super::*;

    #[test]
    fn calls_belong_to_the_text_after_them() {
        let mut trace = Trace::default();
        trace.say(Role::System, "be nice");
        trace.say(Role::User, "go");
        trace.call(Call::tool("a", json!({})));
        trace.say(Role::Assistant, "done\n{\"turn\": 9}");
        trace.call(Call::tool("b", json!({})));
        trace.say(Role::User, "thanks");
        let view = View::new(&trace);
        let turns = turns(&view);
        let kinds: Vec<(bool, usize)> =
            turns.iter().map(|turn| (turn.is_user, turn.calls.len())).collect();
        assert_eq!(kinds, [(true, 0), (false, 1), (false, 1), (true, 0)]);
        let text = shown(&turns, true);
        assert_eq!(text.lines().count(), 4, "a text cannot pretend to be a turn");
    }

    #[test]
    fn long_conversations_are_cut_in_the_middle() {
        let mut trace = Trace::default();
        for _ in 0..1_000 {
            trace.say(Role::User, "again");
            trace.say(Role::Assistant, "done");
        }
        let view = View::new(&trace);
        let text = shown(&turns(&view), false);
        assert_eq!(text.lines().count(), 201);
        assert!(text.contains(r#"{"omitted turns":1800}"#));
        assert!(text.contains(r#""turn":1999"#));
    }
}
