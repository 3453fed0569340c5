//! Targets in separate files: `targets: [file://target.yaml]`.

use quintain_source::{Diagnostic, Diagnostics, Node, NodeKind, SourceFile, Sources, read};

use super::loader::SuiteFolder;
use super::targets::file_of_targets;
use crate::files::Files;

/// Maximum depth of files that include files.
const MAX_DEPTH: usize = 8;

/// Replaces references to such files by the entries in them.
pub(super) fn include(
    document: &mut Node,
    place: &SuiteFolder<'_>,
    files: &dyn Files,
    sources: &mut Sources,
    dx: &mut Diagnostics,
) {
    let NodeKind::Map(entries) = &mut document.kind else { return };
    for (key, node) in entries {
        if matches!(key.text.as_str(), "targets" | "providers") {
            let mut includer = Includer { place, files, sources, dx };
            let mut found = Vec::new();
            let is_list = node.as_seq().is_some();
            let nodes = node.as_seq().unwrap_or(std::slice::from_ref(node));
            if nodes.iter().any(|node| named_file(node).is_some()) {
                for node in nodes {
                    includer.expand(node, 0, &mut found);
                }
                node.kind = match (is_list, found.len()) {
                    (false, 1) => found.swap_remove(0).kind,
                    _ => NodeKind::Seq(found),
                };
            }
        }
    }
}

fn named_file(node: &Node) -> Option<&str> {
    file_of_targets(node.raw()?)
}

struct Includer<'a> {
    place: &'a SuiteFolder<'a>,
    files: &'a dyn Files,
    sources: &'a mut Sources,
    dx: &'a mut Diagnostics,
}

impl Includer<'_> {
    fn expand(&mut self, node: &Node, depth: usize, found: &mut Vec<Node>) {
        let Some(name) = named_file(node) else { return found.push(node.clone()) };
        match self.tree(name, depth) {
            Ok(Some(tree)) => {
                let nodes = tree.as_seq().unwrap_or(std::slice::from_ref(&tree));
                for node in nodes {
                    self.expand(node, depth + 1, found);
                }
            }
            // Errors in the text of the file are reported already.
            Ok(None) => {}
            Err(why) => {
                let title = "this file cannot be used";
                let diagnostic = Diagnostic::error("config::unreadable-file", title);
                self.dx.push(diagnostic.at(node.span, why));
            }
        }
    }

    fn tree(&mut self, name: &str, depth: usize) -> Result<Option<Node>, String> {
        if depth >= MAX_DEPTH {
            return Err("files with targets include each other without end".to_owned());
        }
        let path = self.place.path(name);
        let bytes = self.files.read(&path).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let id = self.sources.add(SourceFile::new(self.place.shown(&path), text));
        Ok(read(self.sources, id, self.dx))
    }
}
