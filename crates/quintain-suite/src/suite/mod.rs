//! The user's suite files, read into a [`Suite`].

mod assertion;
mod auth;
mod call_keys;
mod case;
mod cases;
mod declared;
mod derived;
mod document;
mod expected;
mod fill;
mod filters;
mod http_url;
mod included;
mod list;
mod load;
mod loader;
mod mention;
mod options;
mod prompt;
mod prompts;
mod provider;
mod reader;
mod redteam;
mod referred;
mod refs;
mod respond;
mod row;
mod scenario;
mod schema;
mod secrets;
mod server;
mod targets;
mod test;
mod unknown_vars;
mod vars;

pub use crate::check::{Assert, Rule, Test, TestOptions, VarFile};
pub use crate::files::{FileValue, Files, NoFiles, language_of};
pub use crate::purpose::{Consent, Needed, NotCalled, Purpose};
pub use crate::target::Target;
pub use assertion::AssertReader;
pub use list::TestList;
pub use load::{Loaded, SuiteFile, is_of_promptfoo, load};
pub(crate) use mention::names;
pub use options::MODEL_KEYS;
pub use prompt::{Prompt, PromptBody};
pub use reader::Reader;
pub use schema::schema;
pub(crate) use targets::{Address, address_of_model};
pub use targets::{
    BUILT_IN, CodeKind, CodeTarget, ConfigSchema, EchoKind, EchoTarget, Entry, ExecKind,
    ExecTarget, HttpKind, HttpTarget, Kinds, MCP, McpKind, ModelKind, ModelTarget, TargetKind,
};
pub use test::{DerivedMetric, DerivedValue, EvaluateOptions, Output, Tests};
pub use vars::{combinations, combined, expand, resolve};

use std::collections::BTreeMap;

use quintain_source::Node;
use serde_json::{Map, Value};

/// Everything that one or several suite files declare. `Debug` omits the documents and the environment, which
/// may contain credentials.
#[derive(Default)]
pub struct Suite {
    pub description: Option<String>,
    pub targets: Vec<Target>,
    /// Prompts, tests and options.
    pub tests: Tests,
    /// The parts of the documents that are interpreted later (`redteam`, ...).
    pub documents: Vec<Node>,
    /// `env` in templates: the environment of the process, overridden by that of the files.
    pub env: BTreeMap<String, String>,
    /// Set if the suite was loaded for running.
    pub consent: Option<Consent>,
    /// Whether the texts of tests are data: no templates, no environment and no references to files.
    pub is_literal: bool,
    /// `env` of the files as written.
    pub written_env: BTreeMap<String, String>,
    /// Code that would generate a part of the suite, if it were loaded for running.
    pub not_called: Vec<NotCalled>,
}

impl Suite {
    /// The suite as one document for reports, without prompts and tests, which are in the results anyway.
    /// Still contains credentials.
    pub fn config(&self) -> Value {
        let mut config = Map::new();
        for document in &self.documents {
            config.extend(document.to_json_map());
        }
        if let Some(description) = &self.description {
            config.insert("description".into(), description.clone().into());
        }
        Value::Object(config)
    }
}

impl std::fmt::Debug for Suite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Suite")
            .field("description", &self.description)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
