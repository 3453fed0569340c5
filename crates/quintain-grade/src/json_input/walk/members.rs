//! Reads the members of an object, and hands out the lists of records in it.

use std::io::{self, BufRead};
use std::ops::ControlFlow;

use super::{Ended, OnPiece, Path, Piece, Walk};

/// How the members of an object ended.
pub(super) enum Members {
    Ended(Ended),
    /// The receiver needs no more.
    Stopped,
}

impl<R: BufRead> Walk<'_, R> {
    /// Reads the members of an object; `depth` is the number of objects that are open where it stops.
    pub(super) fn members(
        &mut self,
        paths: &[Path],
        depth: &mut usize,
        is_envelope: &mut bool,
        on: OnPiece<'_>,
    ) -> io::Result<Members> {
        self.take()?;
        *depth += 1;
        loop {
            self.space()?;
            let key_at = self.buffer.len();
            match self.peek()? {
                None => return Ok(Members::Ended(Ended::CutOff)),
                Some(b'}') => {
                    self.take()?;
                    *depth -= 1;
                    return Ok(Members::Ended(Ended::Whole));
                }
                Some(b',') => {
                    self.take()?;
                    continue;
                }
                Some(b'"') => {}
                Some(_) => return Ok(self.fault("expected a key in double quotes")),
            }
            self.key = Some(Vec::new());
            let ended = self.value(true)?;
            let key = self.key.take().unwrap_or_default();
            if !matches!(ended, Ended::Whole) {
                return Ok(Members::Ended(ended));
            }
            let key: Option<String> = serde_json::from_slice(&key).ok();
            self.space()?;
            if self.peek()? != Some(b':') {
                return Ok(self.fault("expected `:`"));
            }
            self.take()?;
            self.space()?;
            let inner: Vec<Path> = paths
                .iter()
                .filter_map(|path| path.split_first())
                .filter(|(first, _)| Some(**first) == key.as_deref())
                .map(|(_, rest)| rest)
                .collect();
            match self.peek()? {
                Some(b'[') if inner.iter().any(|path| path.is_empty()) => {
                    if !*is_envelope && self.envelope(key_at, *depth, on).is_break() {
                        return Ok(Members::Stopped);
                    }
                    *is_envelope = true;
                    self.keep = true;
                    if self.array(on)?.is_break() {
                        return Ok(Members::Stopped);
                    }
                    self.start_value();
                }
                Some(b'{') if !inner.is_empty() => {
                    match self.members(&inner, depth, is_envelope, on)? {
                        Members::Ended(Ended::Whole) => {}
                        other => return Ok(other),
                    }
                }
                Some(b'}' | b',' | b']') => return Ok(self.fault("expected a value")),
                _ => match self.value(true)? {
                    Ended::Whole => {}
                    ended => return Ok(Members::Ended(ended)),
                },
            }
            if *is_envelope {
                self.start_value();
            }
        }
    }

    fn fault(&self, what: &'static str) -> Members {
        Members::Ended(Ended::Faulty(self.at, what))
    }

    /// Hands out the members before the records, closed so that they are an object.
    fn envelope(&mut self, key_at: usize, depth: usize, on: OnPiece<'_>) -> ControlFlow<()> {
        if self.is_too_large {
            return ControlFlow::Continue(());
        }
        self.buffer.truncate(key_at);
        let length = self.buffer.trim_ascii_end().len();
        self.buffer.truncate(length);
        if self.buffer.last() == Some(&b',') {
            self.buffer.pop();
        }
        self.buffer.resize(self.buffer.len() + depth, b'}');
        on(Piece::Envelope { bytes: &self.buffer })
    }
}
