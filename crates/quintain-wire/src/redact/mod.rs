//! Keeps secrets out of everything that is printed, recorded or reported.
//!
//! Whoever learns a secret passes it to the [`Redactor`]; whoever writes anything masks it first: text
//! and bytes by searching, data by its types ([`Redactor::masked`]). There is no global redactor; a run
//! hands its own along.

mod forms;
mod typed;

use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use aho_corasick::{AhoCorasick, MatchKind};
use bytes::Bytes;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::forms::forms;
pub use self::typed::Unmaskable;

/// What is written instead of a secret.
pub const MASK: &str = "***";

/// Shorter secrets would mask ordinary words and digits all over an artefact.
const SHORTEST: usize = 4;
/// Shorter secrets, and those of digits alone, are masked as whole words only: a password `test` must
/// not hide a part of `latest`.
const UNMISTAKABLE: usize = 8;

/// A text to look for.
struct Needle {
    text: String,
    /// What is written instead.
    shown: String,
    /// Only where no letter or digit is next to it.
    whole_words: bool,
}

#[derive(Default)]
struct Known {
    needles: Vec<Needle>,
    /// Built when it is first needed after something was learned.
    search: Option<AhoCorasick>,
}

/// Knows every secret of a run; clones share what they know.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Known>>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

/// A value without any secret that was known when it was made. Only a [`Redactor`] makes one, so
/// whoever asks for this type cannot be handed anything else.
pub struct Masked<'a, T: ToOwned + ?Sized>(Cow<'a, T>);

impl<T: ToOwned + ?Sized> Deref for Masked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'a, T: ToOwned + ?Sized> Masked<'a, T> {
    /// The value on its own.
    pub fn into_owned(self) -> T::Owned {
        self.0.into_owned()
    }

    /// A part of it, or the same in another form.
    pub fn part<'b, U: Clone>(&'b self, make: impl FnOnce(&'b T) -> U) -> Masked<'b, U> {
        Masked(Cow::Owned(make(&self.0)))
    }

    /// The value, borrowed if there was nothing to mask.
    pub fn into_inner(self) -> Cow<'a, T> {
        self.0
    }
}

impl Redactor {
    /// Masks `secret` from now on, in every encoding it is likely to appear in.
    pub fn learn(&self, secret: &SecretString) {
        self.learn_as(secret, MASK);
    }

    /// The same for a text that is readable without its secret parts, as URLs are: `shown` is written
    /// instead of it.
    pub fn learn_as(&self, secret: &SecretString, shown: &str) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for part in parts(secret.expose_secret()) {
            for (text, shown) in forms(&part, shown) {
                if known.needles.iter().any(|needle| needle.text == text) {
                    continue;
                }
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let whole_words = digits || text.len() < UNMISTAKABLE;
                known.needles.push(Needle { text, shown, whole_words });
                known.search = None;
            }
        }
    }

    /// Whether it knows no secret at all.
    pub fn is_empty(&self) -> bool {
        self.known.read().unwrap_or_else(PoisonError::into_inner).needles.is_empty()
    }

    /// `text` with every known secret masked.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.ready().text(text)
    }

    /// The same without waiting for anybody, for a process that panics and may hold the lock itself.
    pub fn text_now<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        match self.known.try_read() {
            Ok(known) => Some(known.text(text)),
            Err(TryLockError::Poisoned(known)) => Some(known.into_inner().text(text)),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The same as a type of its own, for those who keep texts.
    pub fn masked_text<'a>(&self, text: &'a str) -> Masked<'a, str> {
        Masked(self.text(text))
    }

    /// `bytes` with every known secret masked; shares the buffer if there is none.
    pub fn bytes(&self, bytes: &Bytes) -> Bytes {
        let known = self.ready();
        let found = known.find(bytes);
        if found.is_empty() {
            return bytes.clone();
        }
        let mut masked = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for (range, shown) in found {
            masked.extend_from_slice(&bytes[at..range.start]);
            masked.extend_from_slice(shown.as_bytes());
            at = range.end;
        }
        masked.extend_from_slice(&bytes[at..]);
        masked.into()
    }

    /// Data with every known secret masked, wherever its types have room for free text: strings, keys of
    /// maps, and numbers in JSON. It never falls back to the unmasked value.
    ///
    /// # Errors
    /// When the masked data no longer fits its type. Then there is nothing that may be written.
    pub fn masked<'a, T>(&self, value: &'a T) -> Result<Masked<'a, T>, Unmaskable>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        if self.is_empty() {
            return Ok(Masked(Cow::Borrowed(value)));
        }
        let json = serde_json::to_vec(value).map_err(Unmaskable::of)?;
        // Every form of a secret that a masked string could contain is a form in JSON, too.
        if self.ready().find(&json).is_empty() {
            return Ok(Masked(Cow::Borrowed(value)));
        }
        let plain = serde_json::to_value(value).map_err(Unmaskable::of)?;
        typed::read(plain, self).map(|masked| Masked(Cow::Owned(masked)))
    }

    /// The same where something has to be written: what cannot be masked is replaced by a stand-in, which
    /// must not take over free text.
    pub fn masked_or<'a, T>(&self, value: &'a T, stand_in: impl FnOnce() -> T) -> Masked<'a, T>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        self.masked(value).unwrap_or_else(|_| Masked(Cow::Owned(stand_in())))
    }

    /// JSON with every known secret masked. What nobody gave a type fits any.
    pub fn json<'a>(&self, value: &'a Value) -> Masked<'a, Value> {
        self.masked_or(value, || Value::from(MASK))
    }

    /// The known secrets with everything prepared for searching.
    fn ready(&self) -> RwLockReadGuard<'_, Known> {
        let read = || self.known.read().unwrap_or_else(PoisonError::into_inner);
        let known = read();
        if known.search.is_some() || known.needles.is_empty() {
            return known;
        }
        drop(known);
        self.known.write().unwrap_or_else(PoisonError::into_inner).prepare();
        // Somebody may learn in between; then `find` searches without the automaton.
        read()
    }
}

impl Known {
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text.as_bytes());
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        let mut at = 0;
        for (range, shown) in found {
            // Needles are text, so that their ends are boundaries of characters.
            masked.push_str(text.get(at..range.start).unwrap_or_default());
            masked.push_str(shown);
            at = range.end;
        }
        masked.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(masked)
    }

    fn prepare(&mut self) {
        // Leftmost-longest, so that a secret which contains another is masked whole.
        let builder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).to_owned();
        self.search = builder.build(self.needles.iter().map(|needle| &needle.text)).ok();
    }

    /// Where secrets are, in order and without overlap.
    fn find(&self, hay: &[u8]) -> Vec<(Range<usize>, &str)> {
        if self.needles.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut at = 0;
        while let Some((needle, range)) = self.next(hay, at) {
            let needle = &self.needles[needle];
            if needle.whole_words && !is_whole_word(hay, &range) {
                // A longer secret may begin inside of it.
                at = range.start + 1;
                continue;
            }
            at = range.end;
            found.push((range, needle.shown.as_str()));
        }
        found
    }

    fn next(&self, hay: &[u8], at: usize) -> Option<(usize, Range<usize>)> {
        let Some(search) = &self.search else { return self.next_slowly(hay, at) };
        let found = search.find(aho_corasick::Input::new(hay).range(at..))?;
        Some((found.pattern().as_usize(), found.range()))
    }

    /// Without the automaton, which may be too large to build. Slow is better than unmasked.
    fn next_slowly(&self, hay: &[u8], at: usize) -> Option<(usize, Range<usize>)> {
        let longest = |start: usize| {
            let fits = |needle: &Needle| hay[start..].starts_with(needle.text.as_bytes());
            let fitting = self.needles.iter().enumerate().filter(|(_, needle)| fits(needle));
            fitting
                .max_by_key(|(_, needle)| needle.text.len())
                .map(|(number, needle)| (number, start..start + needle.text.len()))
        };
        (at..hay.len()).find_map(longest)
    }
}

/// Whether no letter or digit is next to it; the end of an escape (`\n`, `%20`) is none. A number ends
/// where its digits do.
fn is_whole_word(hay: &[u8], range: &Range<usize>) -> bool {
    let digits = hay[range.clone()].iter().all(u8::is_ascii_digit);
    let joins =
        |byte: &u8| if digits { byte.is_ascii_digit() } else { byte.is_ascii_alphanumeric() };
    let after_escape = match hay[..range.start] {
        [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] => true,
        [.., b'%', first, second] => first.is_ascii_hexdigit() && second.is_ascii_hexdigit(),
        _ => false,
    };
    let begins = after_escape || !hay[..range.start].last().is_some_and(joins);
    begins && !hay.get(range.end).is_some_and(joins)
}

/// A secret itself, and what of it is one on its own: the lines of a key in PEM, which logs print one by
/// one, and the values of a document of credentials, which a target prints as values.
fn parts(secret: &str) -> Vec<String> {
    let trimmed = secret.trim();
    let mut parts: Vec<String> = Vec::new();
    let mut add = |part: &str| {
        if part.len() >= SHORTEST && !parts.iter().any(|known| known == part) {
            parts.push(part.to_owned());
        }
    };
    add(secret);
    add(trimmed);
    let dense = |text: &&str| text.len() >= 24 && !text.contains([' ', '-']);
    if trimmed.contains('\n') {
        trimmed.lines().map(str::trim).filter(dense).for_each(&mut add);
    }
    if let (true, Ok(document)) = (trimmed.starts_with('{'), serde_json::from_str(trimmed)) {
        let mut rest: Vec<&Value> = vec![&document];
        while let Some(value) = rest.pop() {
            match value {
                Value::String(text) if text.len() >= 16 && !text.contains("://") => add(text),
                Value::Array(items) => rest.extend(items),
                Value::Object(entries) => rest.extend(entries.values()),
                _ => {}
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests;
