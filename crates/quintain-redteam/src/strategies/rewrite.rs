//! A function that rewrites texts, with bounded output for any input.

use std::fmt;

use rand::Rng as _;

use super::random::{Random, seeded};

/// Maximum number of versions of one text.
pub const MAX_VARIANTS: usize = 64;
/// Maximum size of texts before and after rewriting, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

type Versions = dyn Fn(&str, &mut Random) -> Vec<String> + Send + Sync;

/// Turns one text into one or more.
pub struct Rewrite(Box<Versions>);

impl Rewrite {
    /// One text, always the same.
    pub fn one(rewrite: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Box::new(move |text, _| vec![rewrite(text)]))
    }

    /// One text that depends on the seed.
    pub fn by_chance(
        rewrite: impl Fn(&str, &mut Random) -> String + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(move |text, random| vec![rewrite(text, random)]))
    }

    pub fn many(
        rewrite: impl Fn(&str, &mut Random) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(rewrite))
    }

    /// Rewrites each character separately; `None` leaves it unchanged.
    pub fn chars<R: AsRef<str>>(
        rewrite: impl Fn(char) -> Option<R> + Send + Sync + 'static,
    ) -> Self {
        Self::one(move |text| each_char(text, &rewrite))
    }

    /// Applies several rewrites in order.
    pub fn chain(steps: Vec<Self>) -> Self {
        Self(Box::new(move |text, random| {
            let mut texts = vec![text.to_owned()];
            for step in &steps {
                let seed = random.next_u64();
                texts = bounded(texts.iter().flat_map(|text| step.texts(text, seed)));
            }
            texts
        }))
    }

    /// All distinct versions of a text. Empty if they or the text itself are too long.
    pub fn texts(&self, text: &str, seed: u64) -> Vec<String> {
        if text.len() > MAX_TEXT {
            return Vec::new();
        }
        bounded((self.0)(text, &mut seeded(seed, text)))
    }
}

impl fmt::Debug for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rewrite")
    }
}

fn bounded(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    for text in texts {
        if kept.len() == MAX_VARIANTS {
            break;
        }
        if text.len() <= MAX_TEXT && !kept.contains(&text) {
            kept.push(text);
        }
    }
    kept
}

/// The text with some characters replaced.
pub(super) fn each_char<R: AsRef<str>>(text: &str, rewrite: impl Fn(char) -> Option<R>) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        match rewrite(c) {
            Some(new) => out.push_str(new.as_ref()),
            None => out.push(c),
        }
    }
    out
}

/// Replaces runs of letters and digits; everything between them stays.
pub(super) fn each_word(text: &str, mut rewrite: impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while !rest.is_empty() {
        let word = |c: char| c.is_alphanumeric();
        let start = rest.find(word).unwrap_or(rest.len());
        let (between, after) = rest.split_at(start);
        let (run, after) = after.split_at(after.find(|c| !word(c)).unwrap_or(after.len()));
        out.push_str(between);
        if !run.is_empty() {
            out.push_str(&rewrite(run));
        }
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_bounded_in_number_and_length() {
        let many = Rewrite::many(|text, _| (0..1000).map(|n| format!("{text}{n}")).collect());
        assert_eq!(many.texts("x", 1).len(), MAX_VARIANTS);
        let doubled = || Rewrite::one(|text| format!("{text}{text}"));
        assert!(doubled().texts(&"x".repeat(MAX_TEXT), 1).is_empty());
        let exploding = Rewrite::chain((0..64).map(|_| doubled()).collect());
        assert!(exploding.texts("xy", 1).is_empty());
        let wide = || Rewrite::many(|text, _| vec![format!("{text}a"), format!("{text}b")]);
        assert_eq!(Rewrite::chain((0..20).map(|_| wide()).collect()).texts("", 1).len(), 64);
    }

    #[test]
    fn words_are_replaced_in_place() {
        assert_eq!(each_word("a-bc, d!", |word| format!("<{word}>")), "<a>-<bc>, <d>!");
        assert_eq!(each_word("", |_| "x".to_owned()), "");
        assert_eq!(each_word(" é ", |_| "x".to_owned()), " x ");
    }
}
