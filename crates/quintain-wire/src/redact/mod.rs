//! Keeps secrets out of everything that is printed, recorded or reported.
//!
//! Code that obtains a secret passes it to the [`Redactor`]; code that writes anything masks it first: text and bytes
//! by searching, data by its types ([`Redactor::masked`]). There is no global redactor; every run passes its own
//! along.

mod forms;
mod free_text;
mod shared;
mod typed;

use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use aho_corasick::{AhoCorasick, MatchKind};
use bytes::Bytes;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::forms::forms;
use self::free_text::free_text;
pub use self::shared::SharedMasked;
pub use self::typed::Unmaskable;

/// Replaces secrets.
pub const MASK: &str = "***";

/// Minimum length of secrets: shorter ones would mask ordinary words and digits.
const SHORTEST: usize = 4;
/// Shorter secrets, and those of digits only, are masked only as whole words: a password `test` must not mask a part
/// of `latest`.
const UNMISTAKABLE: usize = 8;

/// A text to search for.
#[derive(Clone)]
struct Needle {
    text: String,
    /// Its replacement.
    shown: String,
    /// Match only where no letter or digit is adjacent.
    whole_words: bool,
}

#[derive(Clone, Default)]
struct Known {
    needles: Vec<Needle>,
    /// Whether a number can contain one of them.
    in_numbers: bool,
    /// Built on first use after a secret was learned.
    search: Option<AhoCorasick>,
}

#[derive(Default)]
struct Shared {
    known: RwLock<Known>,
    /// Number of needles. It only grows, and reading it needs no lock.
    count: AtomicUsize,
    /// Learns every secret, too.
    reports_to: Option<Redactor>,
}

/// Knows all secrets of a run; clones share them, forks do not.
#[derive(Clone, Default)]
pub struct Redactor {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

/// A value in which all secrets known at its creation are masked. Only a [`Redactor`] creates one, so code that takes
/// this type cannot receive an unmasked value.
pub struct Masked<'a, T: ToOwned + ?Sized>(Cow<'a, T>);

impl<T: ToOwned + ?Sized> Deref for Masked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ToOwned + ?Sized> Masked<'_, T> {
    /// The owned value.
    pub fn into_owned(self) -> T::Owned {
        self.0.into_owned()
    }

    /// A part of the value, or the value in another form.
    pub fn part<'b, U: Clone>(&'b self, make: impl FnOnce(&'b T) -> U) -> Masked<'b, U> {
        Masked(Cow::Owned(make(&self.0)))
    }

    /// The masked value, or none if there was nothing to mask.
    pub fn into_changed(self) -> Option<T::Owned> {
        match self.0 {
            Cow::Owned(changed) => Some(changed),
            Cow::Borrowed(_) => None,
        }
    }
}

impl Redactor {
    /// A redactor that starts with what this one knows and learns separately.
    pub fn fork(&self) -> Self {
        self.fork_with(None)
    }

    /// The same, and `other` learns what the fork learns: the output of a process masks the secrets of all its runs.
    pub fn fork_reporting_to(&self, other: &Self) -> Self {
        self.fork_with(Some(other.clone()))
    }

    fn fork_with(&self, reports_to: Option<Self>) -> Self {
        let known = self.shared.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        let count = AtomicUsize::new(known.needles.len());
        Self { shared: Arc::new(Shared { known: RwLock::new(known), count, reports_to }) }
    }

    /// Masks `secret` from now on, in all common encodings.
    pub fn learn(&self, secret: &SecretString) {
        self.learn_as(secret, MASK);
    }

    /// The same for a text with readable parts, such as a URL: `shown` replaces it.
    pub fn learn_as(&self, secret: &SecretString, shown: &str) {
        let mut known = self.shared.known.write().unwrap_or_else(PoisonError::into_inner);
        for part in parts(secret.expose_secret()) {
            for (text, shown) in forms(&part, shown) {
                if known.needles.iter().any(|needle| needle.text == text) {
                    continue;
                }
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let whole_words = digits || text.len() < UNMISTAKABLE;
                known.in_numbers |= text.bytes().all(is_of_number);
                known.needles.push(Needle { text, shown, whole_words });
                known.search = None;
            }
        }
        // Still under the lock, so that a thread that reads the new count also finds the new needles.
        self.shared.count.store(known.needles.len(), Ordering::Release);
        drop(known);
        if let Some(other) = &self.shared.reports_to {
            other.learn_as(secret, shown);
        }
    }

    /// Whether it knows no secret.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    fn count(&self) -> usize {
        self.shared.count.load(Ordering::Acquire)
    }

    /// `text` with every known secret masked.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() { Cow::Borrowed(text) } else { self.ready().text(text) }
    }

    /// The same without waiting for the lock, for a process that panics and may own the lock itself.
    pub fn text_now<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        match self.shared.known.try_read() {
            Ok(known) => Some(known.text(text)),
            Err(TryLockError::Poisoned(known)) => Some(known.into_inner().text(text)),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The same as a [`Masked`] value.
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

    /// Data with every known secret masked where its types allow free text: strings, keys of maps, and numbers in JSON.
    /// Never returns the unmasked value.
    ///
    /// # Errors
    /// When the masked data no longer fits its type. Then nothing may be written.
    pub fn masked<'a, T>(&self, value: &'a T) -> Result<Masked<'a, T>, Unmaskable>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        if self.is_empty() || !self.ready().is_in(value).map_err(Unmaskable::of)? {
            return Ok(Masked(Cow::Borrowed(value)));
        }
        typed::rebuild(value, self).map(|masked| Masked(Cow::Owned(masked)))
    }

    /// The same where something has to be written: `stand_in` replaces what cannot be masked, and must not copy free
    /// text.
    pub fn masked_or<'a, T>(&self, value: &'a T, stand_in: impl FnOnce() -> T) -> Masked<'a, T>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        self.masked(value).unwrap_or_else(|_| Masked(Cow::Owned(stand_in())))
    }

    /// JSON with every known secret masked. Untyped JSON can always be masked.
    pub fn json<'a>(&self, value: &'a Value) -> Masked<'a, Value> {
        self.masked_or(value, || Value::from(MASK))
    }

    /// The known secrets, with the search automaton built.
    fn ready(&self) -> RwLockReadGuard<'_, Known> {
        let read = || self.shared.known.read().unwrap_or_else(PoisonError::into_inner);
        let known = read();
        if known.search.is_some() || known.needles.is_empty() {
            return known;
        }
        drop(known);
        self.shared.known.write().unwrap_or_else(PoisonError::into_inner).prepare();
        // Another thread may learn a secret in between; then `find` searches without the automaton.
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
            // Needles are text, so their ends are character boundaries.
            masked.push_str(text.get(at..range.start).unwrap_or_default());
            masked.push_str(shown);
            at = range.end;
        }
        masked.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(masked)
    }

    fn prepare(&mut self) {
        // Leftmost-longest, so that a secret that contains another one is masked completely.
        let builder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).to_owned();
        self.search = builder.build(self.needles.iter().map(|needle| &needle.text)).ok();
    }

    /// Whether the free text of a value contains a secret. May report one by mistake where two texts meet, but never
    /// misses one.
    fn is_in<T: Serialize>(&self, value: &T) -> Result<bool, serde_json::Error> {
        let text = free_text(value, self.in_numbers)?;
        Ok(self.matches(&text).next().is_some())
    }

    /// The positions of secrets, in order and without overlap.
    fn find(&self, hay: &[u8]) -> Vec<(Range<usize>, &str)> {
        self.matches(hay).collect()
    }

    fn matches<'a>(&'a self, hay: &[u8]) -> impl Iterator<Item = (Range<usize>, &'a str)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            while !self.needles.is_empty() {
                let (needle, range) = self.next(hay, at)?;
                let needle = &self.needles[needle];
                if needle.whole_words && !is_whole_word(hay, &range) {
                    // A longer secret may start inside it.
                    at = range.start + 1;
                    continue;
                }
                at = range.end;
                return Some((range, needle.shown.as_str()));
            }
            None
        })
    }

    fn next(&self, hay: &[u8], at: usize) -> Option<(usize, Range<usize>)> {
        let Some(search) = &self.search else { return self.next_slowly(hay, at) };
        let found = search.find(aho_corasick::Input::new(hay).range(at..))?;
        Some((found.pattern().as_usize(), found.range()))
    }

    /// Searches without the automaton, which may be too large to build. Slow is better than unmasked.
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

/// Whether a number in JSON can contain this byte.
fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Whether no letter or digit is adjacent; the end of an escape (`\n`, `%20`) does not count. For a number, only
/// adjacent digits count.
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

/// A secret and its secret parts: the lines of a PEM key, which logs print one by one, and the values of a JSON document
/// of credentials, which a target prints separately.
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
