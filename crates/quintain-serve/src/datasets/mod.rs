//! Data sets: the built-in ones and the import of other formats. Pure: text in, entries out.

mod builtin;
mod entry;
mod fields;
mod format;
mod formats;
mod import;
mod import_error;
mod importer;
mod sink;

pub use builtin::{builtin, find};
pub use entry::{Dataset, Entry, Expected, Role, Turn, Verdict};
pub use format::{Format, FormatMeta};
pub use import::{Imported, import};
pub use import_error::ImportError;
pub use sink::{ImportIssue, ImportOptions, Limits};

#[cfg(test)]
mod properties;
