//! The kinds of targets that suites know by themselves, one per file: which ids they answer to, and how `config` is read.
//! How a target is opened and asked is the engine's business, which hands in more kinds.

mod code;
mod echo;
mod exec;
mod http;
mod mcp;
mod models;

use std::collections::BTreeMap;

use quintain_content::registry::Meta;
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Span, closest};
use serde_json::{Map, Value};

pub use code::{CodeKind, CodeTarget};
pub use echo::{EchoKind, EchoTarget};
pub use exec::{ExecKind, ExecTarget};
pub use http::{HttpKind, HttpTarget};
pub(super) use mcp::VERSIONS;
pub use mcp::{META as MCP, McpKind};
pub(crate) use models::{Address, address_of_model};
pub use models::{ModelKind, ModelTarget};

use super::reader::Reader;
use crate::files::split_function;
use crate::target::Settings;

/// A kind of target, as far as suites have to know it.
pub trait TargetKind: Sync {
    fn meta(&self) -> &'static Meta;

    /// What its ids start with, up to the first colon. A word that is misspelt is compared with them.
    fn words(&self) -> &'static [&'static str];

    /// Whether this id asks for this kind.
    fn answers_to(&self, id: &str) -> bool {
        self.words().contains(&word(id))
    }

    /// Reads an entry. None if it is wrong; then it has been reported.
    fn read(&self, entry: &mut Entry<'_>) -> Option<Box<dyn Settings>>;

    /// The JSON Schema of `config`, for editors; any `config` is valid without one.
    fn schema(&self) -> Option<ConfigSchema> {
        None
    }

    /// Whether unknown keys next to `config` are ignored.
    fn is_lenient(&self) -> bool {
        false
    }
}

/// The kinds that a suite is read with.
pub type Kinds<'a> = &'a [&'static dyn TargetKind];

/// The kinds that need nothing but reading here; the engine can ask all of them.
pub static BUILT_IN: Kinds<'static> =
    &[&McpKind, &EchoKind, &HttpKind, &ExecKind, &CodeKind, &ModelKind];

/// The schema of `config` of the targets of a kind.
pub struct ConfigSchema {
    /// A regular expression for the ids of the kind.
    pub ids: &'static str,
    pub config: Value,
}

/// One entry of `targets`, whose shape no longer matters.
pub struct Entry<'a> {
    pub id: &'a str,
    pub config: Option<&'a Node>,
    /// Variables that replace those of the environment for this target.
    pub env: &'a BTreeMap<String, String>,
    pub span: Span,
    pub reader: &'a Reader<'a>,
    pub dx: &'a mut Diagnostics,
}

impl<'a> Entry<'a> {
    /// The keys of `config`, named `what` in diagnostics. An entry without `config` is reported.
    pub fn fields(&mut self, what: &str) -> Option<Fields<'a>> {
        let Some(config) = self.config else {
            let title = format!("the target `{}` has no `config`", self.id);
            self.dx.push(Diagnostic::error("config::missing-key", title).at(self.span, ""));
            return None;
        };
        Fields::of(config, what, self.dx)
    }

    /// `config` as it is, with the environment filled in.
    pub fn config_map(&mut self) -> Map<String, Value> {
        self.config.map(|node| self.reader.payload_map(node, self.dx)).unwrap_or_default()
    }
}

/// The kind that an id asks for.
pub(super) fn find(kinds: Kinds<'_>, id: &str) -> Option<&'static dyn TargetKind> {
    kinds.iter().copied().find(|kind| kind.answers_to(id))
}

/// The valid id that is closest to a misspelt one.
pub(super) fn meant(kinds: Kinds<'_>, id: &str) -> Option<String> {
    let words = kinds.iter().flat_map(|kind| kind.words()).copied();
    let word = closest(word(id), words)?;
    Some(match id.split_once(':') {
        Some((_, rest)) => format!("{word}:{rest}"),
        None => word.to_owned(),
    })
}

/// What an id starts with, up to the first colon.
fn word(id: &str) -> &str {
    id.split(':').next().unwrap_or_default()
}

/// The path of a file with more entries, if the id names one.
pub(super) fn file_of_targets(id: &str) -> Option<&str> {
    let is_data = matches!(file_suffix(id)?, "yaml" | "yml" | "json");
    id.strip_prefix("file://").filter(|_| is_data)
}

/// The suffix of the file that an id names with `file://`.
fn file_suffix(id: &str) -> Option<&str> {
    let (file, _) = split_function(id.strip_prefix("file://")?);
    Some(file.rsplit_once('.').map_or("", |(_, suffix)| suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_apart() {
        let kind = |id: &str| find(BUILT_IN, id).map(|kind| kind.meta().id);
        for (id, wanted) in [
            ("mcp:payments", Some("mcp")),
            ("echo", Some("echo")),
            ("https://h/a", Some("http")),
            ("exec: python3 x.py", Some("exec")),
            ("python:p.py:ask", Some("code")),
            ("file://p.mjs", Some("code")),
            ("file://p.go", Some("model")),
            ("openai:gpt-5", Some("model")),
            ("ws://h", Some("model")),
            ("file://p.yaml", None),
            ("nonsense:model", None),
            ("exec", None),
            ("python:", None),
            ("", None),
        ] {
            assert_eq!(kind(id), wanted, "{id}");
            let answering = BUILT_IN.iter().filter(|kind| kind.answers_to(id)).count();
            assert_eq!(answering, usize::from(wanted.is_some()), "{id}: one kind answers");
        }
        assert_eq!(file_of_targets("file://p.yaml"), Some("p.yaml"));
        assert_eq!(file_of_targets("file://p.mjs"), None);
        let meant = |id| meant(BUILT_IN, id);
        assert_eq!(meant("openia:gpt-5").as_deref(), Some("openai:gpt-5"));
        assert_eq!(meant("ehco").as_deref(), Some("echo"));
        assert_eq!(meant("nonsense:model"), None);
    }
}
