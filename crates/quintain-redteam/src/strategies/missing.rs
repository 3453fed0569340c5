//! Strategies of promptfoo for other media than text. Suites may name them; they are listed, and reported as skipped with
//! what they need.

use quintain_content::registry::Meta;

use super::options::Options;
use super::strategy::{self, Strategy, StrategyKind, Suits};

pub(super) struct Missing {
    meta: &'static Meta,
    missing: strategy::Missing,
}

impl Strategy for Missing {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn suits(&self) -> Suits {
        Suits::MODELS
    }

    fn compile(&self, options: &mut Options<'_>) -> StrategyKind {
        options.allow_all();
        StrategyKind::Missing(self.missing)
    }
}

macro_rules! missing {
    (
        $id:literal, [$($alias:literal),*], $summary:literal,
        needs: $needs:literal, instead: $instead:expr
    ) => {
        Missing {
            meta: &Meta {
                id: $id,
                aliases: &[$($alias),*],
                summary: $summary,
                docs: docs! {
                    what: concat!("Not available: it needs \
                        ", $needs, ". A suite may name \
                        it; the report lists it as skipped."),
                    why: "A strategy that silently does nothing would make a target look secure.",
                    example: concat!("strategies:\n  - \"", $id, "\""),
                },
                since: "0.1.0",
            },
            missing: strategy::Missing { needs: $needs, instead: $instead },
        }
    };
}

pub(super) static AUDIO: Missing = missing!(
    "audio", [], "Converts the text to speech",
    needs: "speech synthesis and a target that accepts audio", instead: None
);
pub(super) static IMAGE: Missing = missing!(
    "image", [], "Renders the text as an image",
    needs: "an image renderer and a target that accepts images", instead: Some("ascii-art")
);
pub(super) static VIDEO: Missing = missing!(
    "video", [], "Renders the text as a video",
    needs: "a video renderer and a target that accepts videos", instead: Some("ascii-art")
);

#[cfg(test)]
mod tests {
    use quintain_evidence::probe::Probe;
    use serde_json::json;

    use crate::strategies::{Reach, find, parse};

    #[test]
    fn they_say_what_they_need_and_what_comes_near() {
        let tactic = &parse(&json!({"id": "image", "config": {"n": 3}})).unwrap()[0];
        let skipped = tactic.rewrite(&Probe::Text("x".to_owned()), Reach::All, 1).unwrap_err();
        assert_eq!(
            skipped.to_string(),
            "`image` needs an image renderer and a target that accepts images; try `ascii-art`"
        );
    }

    #[test]
    fn what_comes_near_exists() {
        for strategy in crate::strategies::all() {
            let tactic = parse(&json!(strategy.meta().id));
            let Ok(tactics) = tactic else { continue };
            if let super::StrategyKind::Missing(missing) = tactics[0].kind() {
                assert!(missing.instead.is_none_or(|name| find(name).is_some()), "{missing:?}");
            }
        }
    }
}
