//! A conversation in parts: what the user asks for with all that follows, up to the next request. The parts are those of
//! deepeval, and of every part nothing is dropped.

use super::transcript::Turn;

/// One request with what the application did about it.
pub(in crate::metrics) struct Unit<'u, 'v, 't> {
    pub(in crate::metrics) turns: &'u [Turn<'v, 't>],
    /// What the user says next, which often shows whether it was right.
    pub(in crate::metrics) next: Option<&'t str>,
}

impl Unit<'_, '_, '_> {
    /// What the user asks for.
    pub(in crate::metrics) fn request(&self) -> String {
        let users = self.turns.iter().filter(|turn| turn.is_user);
        users.map(|turn| turn.text).collect::<Vec<_>>().join("\n")
    }

    /// Whether calls were made.
    pub(in crate::metrics) fn has_calls(&self) -> bool {
        self.turns.iter().any(|turn| !turn.calls.is_empty())
    }

    /// The positions of its calls among all calls.
    pub(in crate::metrics) fn calls(&self) -> impl Iterator<Item = usize> {
        self.turns.iter().flat_map(|turn| turn.calls).map(|call| call.position)
    }
}

/// The parts of a conversation. A last request to which nothing follows is none: the conversation was recorded too early.
/// What the application says before the first request belongs to it.
pub(in crate::metrics) fn units<'u, 'v, 't>(turns: &'u [Turn<'v, 't>]) -> Vec<Unit<'u, 'v, 't>> {
    let mut units = Vec::new();
    let (mut first, mut has_user) = (0, false);
    for (index, turn) in turns.iter().enumerate() {
        let follows_answer = index > first && !turns[index - 1].is_user;
        if turn.is_user && follows_answer && has_user {
            units.push(Unit { turns: &turns[first..index], next: Some(turn.text) });
            first = index;
        }
        has_user |= turn.is_user;
    }
    let last = &turns[first..];
    let is_answered = last.last().is_some_and(|turn| !turn.is_user);
    if is_answered && last.iter().any(|turn| turn.is_user) {
        units.push(Unit { turns: last, next: None });
    }
    units
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Role, Trace};

    use super::*;
    use crate::metrics::judging::transcript::turns;
    use crate::view::View;

    fn sizes(roles: &str) -> Vec<usize> {
        let mut trace = Trace::default();
        for role in roles.chars() {
            trace.say(if role == 'u' { Role::User } else { Role::Assistant }, role);
        }
        let view = View::new(&trace);
        let turns = turns(&view);
        units(&turns).iter().map(|unit| unit.turns.len()).collect()
    }

    #[test]
    fn a_conversation_falls_apart_at_requests() {
        assert_eq!(sizes("ua"), [2], "a plain question with its answer is a unit");
        assert_eq!(sizes("uuaaua"), [4, 2]);
        assert_eq!(sizes("auaua"), [3, 2], "a greeting belongs to the first request");
        assert_eq!(sizes("uau"), [2]);
        assert_eq!(sizes("a"), Vec::<usize>::new());
        assert_eq!(sizes("u"), Vec::<usize>::new());
        assert_eq!(sizes(""), Vec::<usize>::new());
    }
}
