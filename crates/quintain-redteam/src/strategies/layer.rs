//! Several strategies in sequence.

use quintain_content::registry::Meta;
use quintain_evidence::inquiry::Next;
use serde_json::Value;

use super::flaw::Flaw;
use super::options::Options;
use super::rewrite::Rewrite;
use super::strategy::{Strategy, StrategyKind, Suits};
use super::tactic::{self, Tactic};
use super::talk::{Done, History, Script, Talk, reworded};

pub(super) static LAYER: Layer = Layer;

pub(super) struct Layer;

const MAX_STEPS: usize = 16;

impl Strategy for Layer {
    fn meta(&self) -> &'static Meta {
        &Meta {
            id: "layer",
            aliases: &[],
            summary: "Applies several strategies in order",
            docs: docs! {
                what: "Applies `steps` in order: each step rewrites the result of the step before \
                       it. A step is a name or a map with `id` and `config`. One step may be a \
                       conversation: the steps before it rewrite its objective, the steps after it \
                       rewrite each of its messages.",
                why: "Filters that decode one encoding seldom decode two.",
                example: "strategies:\n  - id: layer\n    config:\n      steps:\n        - \
                          leetspeak\n        - id: caesar\n          config: {offset: \
                          5}\n        - base64",
            },
            since: "0.1.0",
        }
    }

    fn suits(&self) -> Suits {
        Suits::BOTH
    }

    fn compile(&self, options: &mut Options<'_>) -> StrategyKind {
        options.without_effect(&["label"]);
        let mut before = Vec::new();
        let mut talk = None;
        let mut after = Vec::new();
        let steps = steps(options);
        options.narrow(steps.iter().fold(Suits::BOTH, |suits, step| suits.and(step.suits())));
        for step in steps {
            let name = step.strategy.meta().id;
            let why = match step.into_way() {
                StrategyKind::Keep { .. } => continue,
                StrategyKind::Rewrite(rewrite) if talk.is_none() => {
                    before.push(rewrite);
                    continue;
                }
                StrategyKind::Rewrite(rewrite) => {
                    after.push(rewrite);
                    continue;
                }
                StrategyKind::Talk(one) if talk.is_none() => {
                    talk = Some(one);
                    continue;
                }
                StrategyKind::Talk(_) => "another step is a conversation already",
                StrategyKind::Retry => "it repeats an earlier run",
                StrategyKind::Missing(missing) => missing.needs,
            };
            options.note("steps", Flaw::NoStep { step: name.to_owned(), strategy: "layer", why });
        }
        let before = Rewrite::chain(before);
        match talk {
            None => StrategyKind::Rewrite(before),
            Some(talk) => StrategyKind::Talk(layered(talk, before, Rewrite::chain(after))),
        }
    }
}

fn steps(options: &mut Options<'_>) -> Vec<Tactic> {
    let wanted = format!("a list of 1 to {MAX_STEPS} strategies");
    let items = match options.get("steps") {
        Some(Value::Array(items)) if (1..=MAX_STEPS).contains(&items.len()) => items,
        Some(other) => {
            options.wrong::<()>("steps", &wanted, other);
            return Vec::new();
        }
        None => {
            options.note("", Flaw::Missing { strategy: "layer", option: "steps" });
            return Vec::new();
        }
    };
    let mut tactics = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match tactic::parse(item) {
            Ok(parsed) => tactics.extend(parsed),
            Err(mut mistakes) => {
                let place = format!("{}/{index}", options.place("steps"));
                for mistake in &mut mistakes {
                    mistake.pointer.insert_str(0, &place);
                }
                options.adopt(mistakes);
            }
        }
    }
    tactics
}

fn layered(talk: Talk, before: Rewrite, after: Rewrite) -> Talk {
    talk.within(|script| Layered { before, script, after })
}

struct Layered {
    before: Rewrite,
    script: Box<dyn Script>,
    after: Rewrite,
}

impl Script for Layered {
    fn next(&self, history: &History) -> Next<Done> {
        let first = |rewrite: &Rewrite, text: String| {
            rewrite.texts(&text, history.seed).into_iter().next().unwrap_or(text)
        };
        let objective = first(&self.before, history.objective.clone());
        match self.script.next(&History { objective, ..history.clone() }) {
            Next::Ask(questions) => reworded(questions, |message| {
                message.text = first(&self.after, std::mem::take(&mut message.text));
            }),
            done @ Next::Done(_) => done,
        }
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::probe::Probe;
    use serde_json::json;

    use super::super::strategy::Receiver;
    use super::super::talk::testing::{answered, entry, nobody, play};
    use super::*;
    use crate::strategies::{Reach, parse};

    fn layer(steps: Value) -> Value {
        entry("layer", json!({ "steps": steps }))
    }

    #[test]
    fn steps_work_in_their_order() {
        let tactic = &parse(&layer(json!(["rot13", "base64"]))).unwrap()[0];
        let probes = tactic.rewrite(&Probe::Text("abc".to_owned()), Reach::All, 1).unwrap();
        assert_eq!(probes, [Probe::Text("bm9w".to_owned())]);
        assert!(tactic.suits().includes(Receiver::Model));
        assert!(!tactic.suits().includes(Receiver::Arguments), "no server reads rot13");
    }

    #[test]
    fn a_conversation_is_dressed_before_and_behind() {
        let steps = json!([
            {"id": "suffix", "config": {"text": "!"}},
            {"id": "multi-prompt", "config": {"turns": ["one", "{objective}"]}},
            {"id": "prefix", "config": {"text": "> "}},
        ]);
        let (turns, _) = play(&layer(steps), "go", answered, nobody);
        let sent: Vec<&str> = turns.iter().map(|turn| turn.sent.as_str()).collect();
        assert_eq!(sent, ["> one", "> go!"]);
    }

    #[test]
    fn mistakes_of_steps_are_told_with_their_place() {
        let steps =
            json!(["rot13", "bass64", {"id": "caesar", "config": {"of": 1}}, "retry", "audio"]);
        let told: Vec<_> = parse(&layer(steps)).unwrap_err();
        let told: Vec<(&str, String)> =
            told.iter().map(|mistake| (mistake.pointer.as_str(), mistake.to_string())).collect();
        assert_eq!(told[0].0, "/config/steps/1");
        assert_eq!(told[0].1, "unknown strategy `bass64`; did you mean `base64`?");
        assert_eq!(told[1].0, "/config/steps/2/config/of");
        assert!(told[2].1.starts_with("`retry` cannot be a step of `layer`"), "{}", told[2].1);
        assert!(told[3].1.starts_with("`audio` cannot be a step of `layer`"), "{}", told[3].1);
        assert_eq!(
            parse(&json!("layer")).unwrap_err()[0].to_string(),
            "`layer` requires the option `steps`"
        );
    }
}
