//! Configurations of MCP clients: where each client keeps them, and what they say. To add a client:
//! write its file, and its line in `ALL`.
//!
//! The caller provides all input: text in, entries out. The content of a configuration is hostile, and
//! one invalid entry never affects the others.

mod add;
mod amazon_q;
pub mod archive;
mod bundle;
mod claude_code;
mod claude_desktop;
mod cline;
mod codex;
mod continue_dev;
mod copilot_cli;
mod cursor;
mod disabled;
mod edit;
mod entry;
mod gemini;
mod generic;
mod goose;
mod junie;
mod kiro;
mod lm_studio;
mod locations;
mod opencode;
mod registry;
mod registry_package;
mod section;
mod variables;
mod vs_code;
mod windsurf;
mod zed;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use quintain_source::{Diagnostics, Node, SourceFile, Sources, Span, read_settings};

use quintain_evidence::connection::Launch;
use quintain_evidence::result::SourcePlace as Written;

pub use add::{NewServer, Place as NewEntry, installable, place as place_of_new_entry};
pub use disabled::{Rule as DisableRule, apply as apply_disabled};
pub use edit::{EditError, Edited, EntryName, NewLaunch, edit};
pub use entry::words;
pub use locations::{Candidate, Dirs, candidates};
pub use section::Section;
pub use variables::{Lookup, is_reference, resolve, without_references};

/// A program that starts or reaches MCP servers.
pub struct Client {
    /// Kebab case.
    pub id: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Where its configurations lie.
    pub locations: &'static [Location],
    /// The sections of such a configuration that contain servers.
    pub sections: fn(&Node) -> Vec<Section<'_>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// A place where a client looks for its configuration.
#[derive(Debug, Clone, Copy)]
pub struct Location {
    pub scope: Scope,
    /// Begins with `~`, `{app}`, `{config}`, `{project}`, `{ancestors}`, `$VARIABLE` or `/`; `*`
    /// stands for one name, `**` for any number of folders.
    pub path: &'static str,
}

impl Location {
    const fn system(path: &'static str) -> Self {
        Self { scope: Scope::System, path }
    }

    const fn user(path: &'static str) -> Self {
        Self { scope: Scope::User, path }
    }

    const fn plugin(path: &'static str) -> Self {
        Self { scope: Scope::Plugin, path }
    }

    const fn project(path: &'static str) -> Self {
        Self { scope: Scope::Project, path }
    }
}

/// For whom a configuration counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// For everybody on the machine.
    System,
    User,
    /// Brought along by a plugin.
    Plugin,
    /// For who works in a folder.
    Project,
    /// For nobody in particular: a file that was named.
    File,
}

impl Scope {
    pub fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Plugin => "plugin",
            Self::Project => "project",
            Self::File => "file",
        }
    }
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub line: usize,
    pub column: usize,
    pub what: String,
}

/// One configuration.
#[derive(Debug)]
pub struct Config {
    pub client: &'static Client,
    pub scope: Scope,
    pub path: PathBuf,
    pub entries: Vec<Entry>,
    /// Lists of names that say which servers are not used; [`apply_disabled`] heeds them.
    pub rules: Vec<DisableRule>,
    /// What is wrong with the file as a whole.
    pub problems: Vec<Problem>,
}

/// One server as a client knows it.
#[derive(Debug)]
pub struct Entry {
    pub name: String,
    /// The folder it counts for, if the configuration names one.
    pub project: Option<String>,
    /// None if the entry does not define it, or not in a supported form.
    pub launch: Option<Launch>,
    pub disabled: bool,
    pub problems: Vec<Problem>,
    /// The line on which it begins.
    pub line: usize,
    pub column: usize,
}

impl Entry {
    /// Its place in the file.
    pub fn written(&self, config: &Config) -> Written {
        let file = config.path.display().to_string();
        Written { file, line: self.line, column: self.column }
    }
}

/// All of them, by the order of reports.
static ALL: &[&Client] = &[
    &claude_desktop::CLAUDE_DESKTOP,
    &bundle::BUNDLE,
    &claude_code::CLAUDE_CODE,
    &cursor::CURSOR,
    &vs_code::VS_CODE,
    &vs_code::VS_CODE_INSIDERS,
    &copilot_cli::COPILOT_CLI,
    &windsurf::WINDSURF,
    &cline::CLINE,
    &cline::ROO_CODE,
    &continue_dev::CONTINUE,
    &zed::ZED,
    &gemini::GEMINI_CLI,
    &gemini::ANTIGRAVITY,
    &codex::CODEX,
    &goose::GOOSE,
    &opencode::OPENCODE,
    &kiro::KIRO,
    &amazon_q::AMAZON_Q,
    &junie::JUNIE,
    &lm_studio::LM_STUDIO,
    &generic::GENERIC,
];

pub fn all() -> &'static [&'static Client] {
    ALL
}

/// Reads what a client keeps at a place.
pub fn read(client: &'static Client, scope: Scope, path: &Path, text: &str) -> Config {
    let document = Document::parse(path, text);
    let mut config = Config {
        client,
        scope,
        path: path.to_owned(),
        entries: Vec::new(),
        rules: disabled::rules(&document.root),
        problems: document.problems(),
    };
    for section in (client.sections)(&document.root) {
        section.read(&document, &mut config);
    }
    config
}

/// Reads a file of a client, identified by its name and its content. None if nothing in it looks like
/// servers and nothing is broken.
pub fn recognise(path: &Path, text: &str) -> Option<Config> {
    let known = locations::owner(path).unwrap_or(&generic::GENERIC);
    [known, &generic::GENERIC]
        .into_iter()
        .map(|client| read(client, Scope::File, path, text))
        .find(|config| !config.entries.is_empty() || !config.problems.is_empty())
}

/// A parsed configuration that knows its lines.
struct Document {
    sources: Sources,
    root: Node,
    dx: Diagnostics,
}

impl Document {
    fn parse(path: &Path, text: &str) -> Self {
        let mut sources = Sources::new();
        let id = sources.add(SourceFile::new(path.display().to_string(), text));
        let mut dx = Diagnostics::new();
        let root = read_settings(&sources, id, &mut dx).unwrap_or_default();
        Self { sources, root, dx }
    }

    fn problem(&self, span: Span, what: impl Into<String>) -> Problem {
        let position = self.sources.get(span.file).map(|file| file.position(span.start));
        let (line, column) = position.map_or((1, 1), |at| (at.line, at.column));
        Problem { line, column, what: what.into() }
    }

    fn problems(&self) -> Vec<Problem> {
        let problem = |diagnostic: &quintain_source::Diagnostic| {
            self.problem(diagnostic.span().unwrap_or_default(), diagnostic.text())
        };
        self.dx.iter().map(problem).collect()
    }
}
