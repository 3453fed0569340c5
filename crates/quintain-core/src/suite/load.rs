//! Texts into a suite: everything that is wrong with any of them is reported in one go.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quintain_source::{
    Diagnostics, Fields, Node, Severity, SourceFile, Sources, Templates, read as read_source,
};

use super::provider::{self, Env};
use super::reader::Reader;
use super::{Suite, secrets};

/// Known here, interpreted elsewhere.
const OTHER_KEYS: [&str; 20] = [
    "$schema",
    "tags",
    "prompts",
    "tests",
    "scenarios",
    "defaultTest",
    "derivedMetrics",
    "nunjucksFilters",
    "extensions",
    "outputPath",
    "sharing",
    "evaluateOptions",
    "commandLineOptions",
    "tracing",
    "redteam",
    "metadata",
    "writeLatestResults",
    "metrics",
    "judge",
    "env",
];

/// A file of a suite, already read from wherever it is.
#[derive(Clone)]
pub struct SuiteFile {
    /// As the user named it; shown in diagnostics.
    pub name: String,
    pub text: String,
    /// Where relative paths in it start.
    pub base_dir: PathBuf,
}

/// What came of loading. There is no suite if there is any error.
#[derive(Debug)]
pub struct Loaded {
    pub suite: Option<Suite>,
    pub diagnostics: Diagnostics,
    /// The texts that diagnostics and spans point into.
    pub sources: Sources,
}

struct Document {
    node: Node,
    base_dir: PathBuf,
    strictness: Severity,
}

/// Loads the files as one suite: targets are concatenated, `env` maps merged over `env`.
pub fn load(files: Vec<SuiteFile>, env: &BTreeMap<String, String>) -> Loaded {
    let mut sources = Sources::new();
    let mut dx = Diagnostics::new();
    let mut documents = Vec::new();
    for file in files {
        let strictness = strictness(&file.name);
        let id = sources.add(SourceFile::new(file.name, file.text));
        let node = read_source(&sources, id, &mut dx);
        documents.extend(node.map(|node| Document { node, base_dir: file.base_dir, strictness }));
    }
    let env = merged_env(&documents, env, &mut dx);
    let templates = Templates::new(env.clone());
    let mut suite = Suite::default();
    for Document { node, base_dir, strictness } in documents {
        let reader = Reader { templates: &templates, base_dir: &base_dir, strictness };
        read(&node, &env, &reader, &mut suite, &mut dx);
        suite.documents.push(node);
    }
    let texts: Vec<&str> = sources.iter().map(SourceFile::text).collect();
    suite.secrets = secrets::collect(&suite, &texts, &env);
    let suite = (!dx.has_errors()).then_some(suite);
    Loaded { suite, diagnostics: dx, sources }
}

/// promptfoo accepts any key silently; its files are full of keys that mean nothing to us.
fn strictness(name: &str) -> Severity {
    let file = Path::new(name).file_name().and_then(|file| file.to_str()).unwrap_or(name);
    if file.starts_with("promptfooconfig") { Severity::Warning } else { Severity::Error }
}

/// The `env` of the files over that of the process. Their values may refer to the latter.
fn merged_env(documents: &[Document], env: &Env, dx: &mut Diagnostics) -> Env {
    let process = Templates::new(env.clone());
    let mut merged = env.clone();
    for Document { node, base_dir, strictness } in documents {
        let reader = Reader { templates: &process, base_dir, strictness: *strictness };
        // What is wrong with the document as a whole is reported when it is read.
        let fields = Fields::of(node, "a suite", &mut Diagnostics::new());
        merged
            .extend(fields.into_iter().flat_map(|mut fields| reader.pairs(&mut fields, "env", dx)));
    }
    merged
}

fn read(node: &Node, env: &Env, reader: &Reader<'_>, suite: &mut Suite, dx: &mut Diagnostics) {
    let Some(mut fields) = Fields::of(node, "a suite", dx) else { return };
    if let Some(description) = fields.string("description", dx) {
        suite.description.get_or_insert(description);
    }
    if let Some((_, targets)) = fields.one_of(&["targets", "providers"], Severity::Error, dx) {
        suite.targets.extend(provider::read(targets, env, reader, dx));
    }
    for name in OTHER_KEYS {
        fields.get(name);
    }
    fields.finish(reader.strictness, dx);
}
