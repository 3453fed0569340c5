//! Loads files into a suite and reports the errors in all of them at once.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quintain_content::secret::Secret;
use quintain_source::{
    Diagnostic, Diagnostics, Fields, Key, Long, Node, NodeKind, Severity, SourceFile, Sources,
    Templates, is_template, read_long,
};

use super::document::Document;
use super::fill::{MISSING_ENV, fill_sent};
use super::loader::{Loader, SuiteFolder};
use super::provider::{Chosen, Env, TargetReader};
use super::reader::Reader;
use super::targets::Kinds;
use super::{Suite, declared, included, mention, secrets};
use crate::files::{Files, LiteralFiles};
use crate::purpose::{NotCalled, Purpose};

/// Keys that other crates interpret, from the documents that the suite keeps.
pub(super) const OTHER_KEYS: [&str; 5] = ["redteam", "metrics", "grade", "judge", "serve"];
/// Keys that are expanded when they are read, with the environment of each target.
const TARGET_KEYS: [&str; 3] = ["targets", "providers", "env"];
/// Keys with what is sent.
const SENT_KEYS: [&str; 4] = ["prompts", "tests", "defaultTest", "scenarios"];

/// The variable with the folder of the suite.
const SUITE_DIR: &str = "QUINTAIN_SUITE_DIR";

/// A file of a suite and its text.
#[derive(Clone)]
pub struct SuiteFile {
    /// The name that the user gave; shown in diagnostics.
    pub name: String,
    pub text: Arc<str>,
    /// Relative paths in the file start here.
    pub base_dir: PathBuf,
}

/// The result of loading. There is no suite if there is any error.
#[derive(Debug)]
pub struct Loaded {
    pub suite: Option<Suite>,
    pub diagnostics: Diagnostics,
    /// The texts that diagnostics and spans point to.
    pub sources: Sources,
    /// Texts that must not be shown anywhere, not even in diagnostics: credentials of targets, and those of
    /// the environment that the suite mentions or its scripts could read.
    pub secrets: Vec<Secret>,
}

/// Loads the files, and the files that they refer to, as one suite: targets, prompts and tests are
/// concatenated, `env` maps are merged over `env`, and defaults of later files win. The purpose determines
/// whether code runs and variables are expanded. `kinds` are the kinds of targets that a suite may have.
pub fn load(
    files: Vec<SuiteFile>,
    env: &BTreeMap<String, String>,
    disk: Arc<dyn Files>,
    purpose: Purpose<'_>,
    kinds: Kinds<'_>,
) -> Loaded {
    let mut sources = Sources::new();
    let mut dx = Diagnostics::new();
    let mut documents = Vec::new();
    let (texts, files) = (files, disk.clone());
    let mut any_literal = false;
    for file in texts {
        let strictness = strictness(&file.name);
        let shown_dir = Path::new(&file.name).parent().map_or_else(PathBuf::new, Path::to_owned);
        let id = sources.add(SourceFile::new(file.name, file.text));
        let long = Long::Key("tests");
        let Some(node) = read_long(&sources, id, long, &mut dx) else { continue };
        let is_literal = declared::is_literal(&node, &mut dx);
        let resolved = if is_literal { Some(node) } else { super::refs::resolved(node, &mut dx) };
        let Some(mut node) = resolved else { continue };
        any_literal |= is_literal;
        let base_dir = file.base_dir;
        let place = SuiteFolder { base_dir: &base_dir, shown_dir: &shown_dir, strictness };
        included::include(&mut node, &place, &*files, &mut sources, &mut dx);
        documents.push(Document { node, base_dir, shown_dir, strictness });
    }
    let chosen = Chosen::of(purpose, documents.iter().flat_map(|document| entries(&document.node)));
    let needed = needed(&documents, &chosen, purpose);
    let means = Means { files: &*files, purpose, not_called: RefCell::default() };
    let mut env = merged_env(&documents, env, needed.as_deref(), &means, &mut dx);
    if let Some(first) = documents.first() {
        // A suite can pass the paths of its own files to a server.
        let folder = first.base_dir.display().to_string();
        env.entry(SUITE_DIR.to_owned()).or_insert(folder);
    }
    let filled = Templates::new(env.clone());
    let written = Templates::as_written();
    let templates = if purpose.consent().is_some() { &filled } else { &written };
    let (templates, disk) = if any_literal {
        (&written, Arc::new(LiteralFiles(disk)) as Arc<dyn Files>)
    } else {
        (templates, disk)
    };
    for document in &mut documents {
        fill(document, templates, &mut dx);
        if any_literal && purpose.consent().is_some() || purpose.needs_identities() {
            fill_identities(&mut document.node, &filled, &mut dx);
        }
    }
    for key in ["targets", "providers", "prompts"] {
        drop_repeated(&mut documents, key);
    }
    let mut suite = Suite { written_env: written_env(&documents), ..Suite::default() };
    for document in &documents {
        let targets = TargetReader {
            chosen: &chosen,
            env: &env,
            filled: &means.reader(document, &filled),
            written: &means.reader(document, &written),
            kinds,
        };
        read(&document.node, &targets, &mut suite, &mut dx);
    }
    let of_tests = disk.clone();
    let mut loader = Loader::new(&*of_tests, templates, &env, &mut sources, &mut dx);
    loader.is_literal = any_literal;
    loader.consent = purpose.consent();
    suite.tests = declared::read(&mut documents, &mut loader, disk);
    let mentions = loader.mentions;
    let variables = loader.variables;
    suite.not_called = means.not_called.into_inner();
    suite.not_called.extend(loader.not_called);
    suite.consent = purpose.consent();
    if suite.not_called.is_empty() && !suite.tests.is_without_tests() {
        // Attacks put their own text into a variable of the prompt.
        let has_tests = documents.iter().any(|document| {
            ["tests", "scenarios"].iter().any(|key| document.node.get(key).is_some())
        });
        // What cannot be read may set any variable.
        let may_be_set = suite.tests.redteam.is_some() || !has_tests || dx.has_errors();
        variables.check(may_be_set, &mut dx);
    }
    suite.is_literal = any_literal;
    mention::check(&mentions, &suite.targets, &suite.tests.prompts, &mut dx);
    let texts: Vec<&str> = sources.iter().map(SourceFile::text).collect();
    let nodes: Vec<&Node> = documents.iter().map(|document| &document.node).collect();
    let secrets = secrets::collect(&suite, &nodes, &texts, &env);
    suite.documents = documents.into_iter().map(|document| rest(document.node)).collect();
    suite.env = env;
    let dx = explained(&dx, &*files);
    let suite = (!dx.has_errors()).then_some(suite);
    Loaded { suite, diagnostics: dx, sources, secrets }
}

/// A variable that the policy hides looks as if it were not set. That is an error with its own reason, since the
/// suite would otherwise behave differently than for its author.
fn explained(dx: &Diagnostics, files: &dyn Files) -> Diagnostics {
    let mut explained = Diagnostics::new();
    for found in dx {
        let name = found.title.split('`').nth(1).unwrap_or_default();
        let hidden = files.may_see(name).err().filter(|_| found.code == MISSING_ENV);
        explained.push(match hidden {
            Some(why) => Diagnostic {
                severity: Severity::Error,
                title: why,
                help: Vec::new(),
                ..found.clone()
            },
            None => found.clone(),
        });
    }
    explained
}

/// Unknown keys are only warnings in files of promptfoo, which accepts any key and has many that Quintain does
/// not know.
fn strictness(name: &str) -> Severity {
    if is_of_promptfoo(name) { Severity::Warning } else { Severity::Error }
}

/// Whether a file is one of promptfoo, by its name.
pub fn is_of_promptfoo(name: &str) -> bool {
    let file = Path::new(name).file_name().and_then(|file| file.to_str()).unwrap_or(name);
    file.starts_with("promptfooconfig")
}

/// The entries of `targets` or `providers` of a document.
fn entries(document: &Node) -> &[Node] {
    let node = ["targets", "providers"].iter().find_map(|key| document.get(key));
    node.map(|node| node.as_seq().unwrap_or(std::slice::from_ref(node))).unwrap_or_default()
}

/// The text of the parts whose variables are expanded; none if everything is.
fn needed(documents: &[Document], chosen: &Chosen<'_>, purpose: Purpose<'_>) -> Option<String> {
    if purpose.consent().is_some() {
        return None;
    }
    let mut text = String::new();
    for Document { node, .. } in documents {
        let entries = entries(node).iter().filter(|entry| chosen.is(entry));
        let identities = node.get("redteam").and_then(|redteam| redteam.get("identities"));
        let identities = identities.filter(|_| purpose.needs_identities());
        for node in entries.chain(identities) {
            text.push_str(&node.to_json().to_string());
        }
    }
    Some(text)
}

/// The context that all readers of a suite share.
struct Means<'a> {
    files: &'a dyn Files,
    purpose: Purpose<'a>,
    not_called: RefCell<Vec<NotCalled>>,
}

impl Means<'_> {
    fn reader<'r>(&'r self, document: &'r Document, templates: &'r Templates) -> Reader<'r> {
        Reader {
            templates,
            base_dir: &document.base_dir,
            strictness: document.strictness,
            files: self.files,
            consent: self.purpose.consent(),
            not_called: &self.not_called,
        }
    }
}

/// `env` of the files, merged over the environment of the process. Values may refer to the latter; values that do
/// and that are not needed are left out.
fn merged_env(
    documents: &[Document],
    env: &Env,
    needed: Option<&str>,
    means: &Means<'_>,
    dx: &mut Diagnostics,
) -> Env {
    let process = Templates::new(env.clone());
    let mut merged = env.clone();
    for document in documents {
        let reader = means.reader(document, &process);
        // Errors in the document as a whole are reported when it is read.
        let Some(mut fields) = Fields::of(&document.node, "a suite", &mut Diagnostics::new())
        else {
            continue;
        };
        merged.extend(reader.pairs_if(
            &mut fields,
            "env",
            |key, node| is_needed(key, node, needed),
            dx,
        ));
    }
    merged
}

fn is_needed(key: &Key, value: &Node, needed: Option<&str>) -> bool {
    let is_plain = value.raw().is_none_or(|text| !is_template(text));
    is_plain || needed.is_none_or(|text| text.contains(&key.text))
}

/// `env` of the files as written.
fn written_env(documents: &[Document]) -> Env {
    let maps = documents.iter().filter_map(|document| document.node.get("env")?.as_map());
    let pair = |(key, node): &(Key, Node)| Some((key.text.clone(), node.raw()?.to_owned()));
    maps.flatten().filter_map(pair).collect()
}

/// Expands the templates of the identities.
fn fill_identities(node: &mut Node, templates: &Templates, dx: &mut Diagnostics) {
    if let Some(identities) = entry(node, "redteam").and_then(|node| entry(node, "identities")) {
        templates.fill_tree(identities, dx);
    }
}

fn entry<'n>(node: &'n mut Node, name: &str) -> Option<&'n mut Node> {
    let NodeKind::Map(entries) = &mut node.kind else { return None };
    entries.iter_mut().find(|(key, _)| key.text == name).map(|(_, value)| value)
}

fn fill(document: &mut Document, templates: &Templates, dx: &mut Diagnostics) {
    let NodeKind::Map(entries) = &mut document.node.kind else { return };
    for (key, value) in entries {
        let key = key.text.as_str();
        if SENT_KEYS.contains(&key) {
            fill_sent(value, templates, document.strictness, dx);
        } else if !TARGET_KEYS.contains(&key) {
            templates.fill_tree(value, dx);
        }
    }
}

/// Removes repeated entries, in the same file or across files.
fn drop_repeated(documents: &mut [Document], key: &str) {
    let mut seen = HashSet::new();
    for document in documents {
        let NodeKind::Map(entries) = &mut document.node.kind else { continue };
        let Some((_, node)) = entries.iter_mut().find(|(found, _)| found.text == key) else {
            continue;
        };
        if let NodeKind::Seq(items) = &mut node.kind {
            items.retain(|item| seen.insert(item.to_json().to_string()));
        } else if node.raw().is_some() && !seen.insert(node.to_json().to_string()) {
            node.kind = NodeKind::Seq(Vec::new());
        }
    }
}

/// The keys that other crates interpret.
fn rest(mut node: Node) -> Node {
    if let NodeKind::Map(entries) = &mut node.kind {
        entries.retain(|(key, _)| OTHER_KEYS.contains(&key.text.as_str()));
    }
    node
}

fn read(node: &Node, reader: &TargetReader<'_>, suite: &mut Suite, dx: &mut Diagnostics) {
    if node.is_null() {
        let diagnostic = Diagnostic::error("config::empty-suite", "this suite is empty");
        dx.push(diagnostic.at(node.span, "").help("`quintain init` creates a suite to start from"));
        return;
    }
    let Some(mut fields) = Fields::of(node, "a suite", dx) else { return };
    if let Some(description) = fields.string("description", dx) {
        suite.description = Some(match suite.description.take() {
            Some(earlier) => format!("{earlier}, {description}"),
            None => description,
        });
    }
    if let Some((_, targets)) = fields.one_of(&["targets", "providers"], Severity::Error, dx) {
        suite.targets.extend(reader.read(targets, dx));
    }
    for name in OTHER_KEYS.iter().chain(&declared::KEYS) {
        fields.get(name);
    }
    fields.finish(reader.filled.strictness, dx);
}
