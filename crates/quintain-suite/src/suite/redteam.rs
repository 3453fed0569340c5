//! Files that `redteam` refers to. References to attacks, plugins, payloads and intents are replaced by the
//! content of the files, so that interpreting `redteam` needs no disk.

use std::path::Path as FilePath;

use quintain_evidence::redteam_node::DEFINITION;
use quintain_source::{Key, Node, NodeKind};

use super::loader::{Loader, SuiteFolder, suffix_of};
use quintain_source::csv::Records;

impl Loader<'_> {
    /// `redteam`, with references replaced by the content of the files.
    pub(super) fn redteam(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Node {
        let mut node = node.clone();
        let NodeKind::Map(entries) = &mut node.kind else { return node };
        for (key, value) in entries {
            match key.text.as_str() {
                "attacks" => {
                    *value = self.attacks(value, place);
                }
                "plugins" => {
                    if let NodeKind::Seq(items) = &mut value.kind {
                        items.iter_mut().for_each(|item| self.plugin(item, place));
                    }
                }
                _ => {}
            }
        }
        node
    }

    /// One attack, a file of attacks, or a list of both.
    fn attacks(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Node {
        let mut attacks = Vec::new();
        for item in node.as_seq().unwrap_or(std::slice::from_ref(node)) {
            let Some(name) = file_name(item) else {
                attacks.push(item.clone());
                continue;
            };
            for path in self.matching(name, place, item.span) {
                let Some(tree) = self.tree(&path, place, item.span) else { continue };
                let NodeKind::Seq(items) = tree.kind else {
                    attacks.push(tree);
                    continue;
                };
                attacks.extend(items);
            }
        }
        attacks.iter_mut().for_each(|attack| self.payloads(attack, place));
        Node::seq(attacks, node.span)
    }

    /// Adds the content of the file to a plugin that is a file reference, and replaces files of intents by
    /// lists.
    fn plugin(&mut self, item: &mut Node, place: &SuiteFolder<'_>) {
        self.payloads(item, place);
        let id = if item.raw().is_some() { Some(&*item) } else { item.get("id") };
        if let Some((id, name)) = id.and_then(|id| Some((id.clone(), file_name(id)?.to_owned()))) {
            let path = place.path(&name);
            let Some(mut tree) = self.tree(&path, place, id.span) else { return };
            self.payloads(&mut tree, place);
            let definition = (Key { text: DEFINITION.to_owned(), span: id.span }, tree);
            if let NodeKind::Map(entries) = &mut item.kind {
                entries.push(definition);
            } else {
                let span = item.span;
                let id = (Key { text: "id".to_owned(), span }, id);
                *item = Node::map(vec![id, definition], span);
            }
        }
        let Some(config) = entry(item, "config") else { return };
        if let Some(intent) = entry(config, "intent") {
            *intent = self.lines(intent, place);
        }
    }

    /// `payloads: file://list.txt` has one payload per line.
    fn payloads(&mut self, attack: &mut Node, place: &SuiteFolder<'_>) {
        if let Some(payloads) = entry(attack, "payloads") {
            *payloads = self.lines(payloads, place);
        }
    }

    /// Replaces file references in a list by the content of the files: the items of a list in YAML or JSON,
    /// the first column of a CSV file, the lines of any other file.
    fn lines(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Node {
        let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
        if !items.iter().any(|item| file_name(item).is_some()) {
            return node.clone();
        }
        let mut lines = Vec::new();
        for item in items {
            let Some(name) = file_name(item) else {
                lines.push(item.clone());
                continue;
            };
            let path = place.path(name);
            lines.extend(self.lines_of(&path, item, place));
        }
        Node::seq(lines, node.span)
    }

    fn lines_of(&mut self, path: &FilePath, item: &Node, place: &SuiteFolder<'_>) -> Vec<Node> {
        match suffix_of(path).as_str() {
            "yaml" | "yml" | "json" => match self.tree(path, place, item.span) {
                Some(Node { kind: NodeKind::Seq(items), .. }) => items,
                other => other.into_iter().collect(),
            },
            suffix => {
                let Some(text) = self.text(path, place, item.span) else { return Vec::new() };
                let cells: Vec<String> = if suffix == "csv" {
                    let rows = Records::new(&text, self.delimiter).skip(1);
                    rows.filter_map(|row| Some(row.first()?.text.clone().into_owned())).collect()
                } else {
                    text.lines().map(str::to_owned).collect()
                };
                let filled = cells.into_iter().filter(|cell| !cell.trim().is_empty());
                filled.map(|cell| Node::text(cell, item.span)).collect()
            }
        }
    }
}

fn file_name(node: &Node) -> Option<&str> {
    node.as_str()?.strip_prefix("file://")
}

fn entry<'n>(node: &'n mut Node, name: &str) -> Option<&'n mut Node> {
    let NodeKind::Map(entries) = &mut node.kind else { return None };
    entries.iter_mut().find(|(key, _)| key.text == name).map(|(_, value)| value)
}
