//! Data sets: the built-in ones and the import of other formats. Pure: text in, entries out.

mod builtin;
mod entry;
mod fields;
mod format;
mod formats;
mod import;

pub use builtin::{builtin, find};
pub use entry::{Dataset, Entry, Expected, Role, Turn, Verdict};
pub use format::{Format, FormatMeta};
pub use import::{ImportError, ImportIssue, ImportOptions, Imported, Limits, import};

#[cfg(test)]
mod properties;
