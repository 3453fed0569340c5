//! Applies another strategy to a part of the text.

use quintain_content::registry::Meta;
use rand::Rng as _;
use rand::RngExt as _;

use super::affixes::pattern;
use crate::strategies::flaw::Flaw;
use crate::strategies::options::Options;
use crate::strategies::random::Random;
use crate::strategies::rewrite::{Rewrite, each_word};
use crate::strategies::strategy::{Converter, StrategyKind, Suits};
use crate::strategies::tactic;

pub(in crate::strategies) static SELECTIVE: Converter = Converter {
    meta: &Meta {
        id: "selective",
        aliases: &["selective-text"],
        summary: "Applies another strategy to some of the words",
        docs: docs! {
            what: "Applies `strategy`, a name or a map with `id` and `config`, to some of the \
                   words: those in `words`, those that match `pattern`, one half of them (`half: \
                   first` or `half: last`), or a random `share` (default 0.5).",
            why: "Only the words that a filter looks for need to be hidden; the rest keeps the \
                  text plausible.",
            example: "strategies:\n  - id: selective\n    config: {strategy: base64, words: \
                      [password]}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile,
};

enum Choice {
    Words(Vec<String>),
    Pattern(regex::Regex),
    First,
    Last,
    Share(f64),
}

impl Choice {
    fn takes(&self, word: &str, at: usize, all: usize, random: &mut Random) -> bool {
        match self {
            Self::Words(words) => words.iter().any(|wanted| wanted.eq_ignore_ascii_case(word)),
            Self::Pattern(pattern) => pattern.is_match(word),
            Self::First => at < all.div_ceil(2),
            Self::Last => at >= all / 2,
            Self::Share(share) => random.random_bool(*share),
        }
    }
}

fn compile(options: &mut Options<'_>) -> Rewrite {
    let rewrite = inner(options);
    let choice = choice(options);
    Rewrite::by_chance(move |text, random| {
        let Some(rewrite) = &rewrite else { return text.to_owned() };
        let mut all = 0;
        each_word(text, |word| {
            all += 1;
            word.to_owned()
        });
        let seed = random.next_u64();
        let mut at = 0;
        each_word(text, |word| {
            at += 1;
            let new = choice.takes(word, at - 1, all, random).then(|| rewrite.texts(word, seed));
            new.and_then(|all| all.into_iter().next()).unwrap_or_else(|| word.to_owned())
        })
    })
}

fn choice(options: &mut Options<'_>) -> Choice {
    let words = options.texts("words");
    let source = options.maybe_text("pattern");
    let half = options.get("half").is_some();
    let half = half.then(|| options.word("half", &[("first", true), ("last", false)]));
    let share = options.share("share", 0.5);
    if let Some(words) = words {
        return Choice::Words(words);
    }
    if let Some(source) = source {
        match pattern(&source) {
            Ok(pattern) => return Choice::Pattern(pattern),
            Err(why) => {
                options.note("pattern", Flaw::Pattern { option: "pattern".to_owned(), why });
            }
        }
    }
    match half {
        Some(true) => Choice::First,
        Some(false) => Choice::Last,
        None => Choice::Share(share),
    }
}

fn inner(options: &mut Options<'_>) -> Option<Rewrite> {
    let Some(entry) = options.get("strategy") else {
        options.note("", Flaw::Missing { strategy: "selective", option: "strategy" });
        return None;
    };
    let tactic = match tactic::parse(entry) {
        Ok(mut tactics) => tactics.drain(..).next()?,
        Err(mut mistakes) => {
            let place = options.place("strategy");
            mistakes.iter_mut().for_each(|mistake| mistake.pointer.insert_str(0, &place));
            options.adopt(mistakes);
            return None;
        }
    };
    options.narrow(tactic.suits());
    let step = tactic.id().to_owned();
    if let StrategyKind::Rewrite(rewrite) = tactic.into_way() {
        return Some(rewrite);
    }
    let why = "it does not rewrite texts";
    options.note("strategy", Flaw::NoStep { step, strategy: "selective", why });
    None
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::{first, mistakes};

    fn selected(how: &str) -> String {
        first(
            &format!("{{id: selective, config: {{strategy: rot13, {how}}}}}"),
            "one, two three four",
        )
    }

    #[test]
    fn only_the_chosen_words_change() {
        assert_eq!(selected("words: [TWO]"), "one, gjb three four");
        assert_eq!(selected("pattern: '^t'"), "one, gjb guerr four");
        assert_eq!(selected("half: first"), "bar, gjb three four");
        assert_eq!(selected("half: last"), "one, two guerr sbhe");
        assert_eq!(selected("share: 1"), "bar, gjb guerr sbhe");
        assert_eq!(selected("share: 0"), "one, two three four");
    }

    #[test]
    fn what_cannot_be_chosen_is_told() {
        assert_eq!(mistakes("selective"), ["`selective` requires the option `strategy`"]);
        assert_eq!(
            mistakes("{id: selective, config: {strategy: crescendo}}"),
            ["`crescendo` cannot be a step of `selective`: it does not rewrite texts"]
        );
        assert_eq!(
            mistakes("{id: selective, config: {strategy: rot31}}"),
            ["unknown strategy `rot31`; did you mean `rot13`?"]
        );
    }
}
