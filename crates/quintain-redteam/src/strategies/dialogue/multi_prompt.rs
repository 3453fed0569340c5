//! Sends turns that the user wrote.

use quintain_content::registry::Meta;
use quintain_evidence::inquiry::Next;

use crate::strategies::flaw::Flaw;
use crate::strategies::framing::filled;
use crate::strategies::strategy::{Dialogue, Suits};
use crate::strategies::talk::{Done, History, MAX_TURNS, Script, Talk};

pub(in crate::strategies) static MULTI_PROMPT: Dialogue = Dialogue {
    meta: &Meta {
        id: "multi-prompt",
        aliases: &["multi-prompt-sending"],
        summary: "Sends your turns in order",
        docs: docs! {
            what: "Sends `turns` in order in one conversation. `{objective}` is replaced with the \
                   text of the probe.",
            why: "Use it for a sequence that is known to work elsewhere.",
            example: "strategies:\n  - id: multi-prompt\n    config:\n      turns: [Good morning!, \
                      '{objective}']",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let turns = options.texts("turns").unwrap_or_default();
        if turns.is_empty() {
            options.note("", Flaw::Missing { strategy: "multi-prompt", option: "turns" });
        }
        Talk::new(options, turns.len().min(MAX_TURNS), MultiPrompt { turns })
    },
};

struct MultiPrompt {
    turns: Vec<String>,
}

impl Script for MultiPrompt {
    fn next(&self, history: &History) -> Next<Done> {
        match self.turns.get(history.turns.len()) {
            Some(turn) => {
                let after = history.last().map(|(at, _)| at);
                history.say(filled(turn, &history.objective), after)
            }
            None => Next::Done(Done::Finished),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::strategies::talk::testing::{answered, entry, nobody, play};
    use crate::strategies::testing::mistakes;

    #[test]
    fn turns_are_said_in_their_order() {
        let entry = entry("multi-prompt", json!({"turns": ["hi", "now {objective}"]}));
        let (turns, done) = play(&entry, "go", answered, nobody);
        assert_eq!((turns[0].sent.as_str(), turns[1].sent.as_str()), ("hi", "now go"));
        assert_eq!((turns[1].after, done), (Some(0), Done::Finished));
        assert_eq!(mistakes("multi-prompt"), ["`multi-prompt` requires the option `turns`"]);
    }
}
