//! Reads a text of a known or recognised format into entries. One bad record does not affect the others.

use std::borrow::Cow;

use super::entry::Entry;
use super::fields;
use super::format::Format;
use super::import_error::ImportError;
use super::sink::{ImportIssue, ImportOptions, Sink};

/// What was read. Nothing is stored, so an import is its own dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub format: Format,
    pub entries: Vec<Entry>,
    /// Records that are not among the entries: bad ones, duplicates, and those above the limit.
    pub skipped: usize,
    pub issues: Vec<ImportIssue>,
}

/// Reads a text. Without a format, the most likely one is used.
pub fn import(
    bytes: &[u8],
    format: Option<Format>,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let limit = options.limits.max_bytes;
    if bytes.len() > limit {
        return Err(ImportError::TooLarge { bytes: bytes.len(), limit });
    }
    let text = decode(bytes)?;
    if text.trim().is_empty() {
        return Err(ImportError::Empty);
    }
    let mapping = fields::mapping(&options.mapping)?;
    let format = format.unwrap_or_else(|| Format::sniff(&text));
    let mut sink = Sink::new(options, mapping);
    format.read(&text, &mut sink)?;
    let (entries, skipped, issues) = sink.finish();
    Ok(Imported { format, entries, skipped, issues })
}

/// UTF-8 with or without a byte order mark, or UTF-16 with one, as spreadsheets write it.
fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, ImportError> {
    let wide = |units: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| units([pair[0], pair[1]]));
        let text: String = char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        Ok(Cow::Owned(text))
    };
    match bytes {
        [0xFF, 0xFE, ..] => wide(u16::from_le_bytes),
        [0xFE, 0xFF, ..] => wide(u16::from_be_bytes),
        _ => {
            let bytes = bytes.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(bytes);
            let text = std::str::from_utf8(bytes);
            text.map(Cow::Borrowed).map_err(|error| ImportError::NotUtf8(error.valid_up_to()))
        }
    }
}

#[cfg(test)]
mod tests;
