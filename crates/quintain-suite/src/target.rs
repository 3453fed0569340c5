//! A target: what is under test, as a suite defines it. Data only; the kinds of targets and their readers are in `suite`.

mod reach;
mod variables;

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

use quintain_content::registry::Meta;
use quintain_content::secret::Secret;
use quintain_evidence::code::Code;
use quintain_evidence::connection::McpTarget;
use quintain_source::Span;
use serde_json::{Map, Value};

pub use reach::{Reach, Reached};
pub(crate) use variables::Defined;
pub use variables::bare;

#[derive(Debug)]
pub struct Target {
    /// As written: `mcp`, `mcp:payments`, `openai:gpt-5`, ...
    pub id: String,
    pub label: Option<String>,
    /// The kind that read the settings.
    pub kind: &'static Meta,
    pub settings: Box<dyn Settings>,
    /// `tools` and `functions` of its `config`, which a model is offered. None for servers.
    pub offered: Map<String, Value>,
    /// Labels or ids of the prompts it is limited to; empty for all.
    pub prompts: Option<Vec<String>>,
    /// Applied to every output before anything else.
    pub transform: Option<Code>,
    /// Delay before every call.
    pub delay: Option<Duration>,
    /// `env` as written, if the suite is only read; otherwise the templates are expanded with it already.
    pub env: BTreeMap<String, String>,
    pub span: Span,
}

impl Target {
    /// The name in reports and for `--target`.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }

    /// The settings, if they are of this type.
    pub fn settings<T: Settings>(&self) -> Option<&T> {
        let settings: &dyn Any = &*self.settings;
        settings.downcast_ref()
    }

    pub fn as_mcp(&self) -> Option<&McpTarget> {
        self.settings()
    }

    pub fn as_mcp_mut(&mut self) -> Option<&mut McpTarget> {
        let settings: &mut dyn Any = &mut *self.settings;
        settings.downcast_mut()
    }
}

/// What a suite says about one target, as its kind reads it. Texts may contain templates; those of the environment are
/// filled in already.
pub trait Settings: Any + Debug + Send + Sync {
    /// What must not be shown.
    fn secrets(&self) -> Vec<Secret> {
        Vec::new()
    }

    /// Reports what a run starts and contacts because of this target.
    fn reach(&self, _: &mut Reach<'_>) {}

    /// The programs that it starts. A suite that is watched runs again when one of them changes.
    fn programs(&self) -> Vec<ProgramFiles<'_>> {
        Vec::new()
    }
}

/// A program and the arguments that may be scripts.
#[derive(Debug)]
pub struct ProgramFiles<'a> {
    /// Where it is started; where the run is started if none.
    pub folder: Option<&'a Path>,
    pub program: &'a Path,
    pub args: Vec<&'a Path>,
}
