//! The options of one assertion while it is compiled.

use std::path::Path;

use quintain_evidence::code::Code;
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Severity, wrong_type};
use serde_json::Value;

use super::Param;
use crate::files::{FileValue, Files};

/// One entry of `assert`. The loader reads the common keys (`type`, `weight`, `metric`, `transform`, `view`,
/// ...); keys that the assertion does not read are reported as unknown.
pub struct Spec<'n, 'd> {
    pub fields: Fields<'n>,
    /// The whole entry.
    pub node: &'n Node,
    /// The type as written, without `not-`.
    pub kind: &'n str,
    /// Whether the type has the prefix `not-`. The check negates its verdict itself, since the reasons
    /// differ.
    pub negated: bool,
    pub base_dir: &'n Path,
    pub files: &'n dyn Files,
    /// The severity of mistakes that promptfoo accepts.
    pub strictness: Severity,
    /// Texts are data: no templates and no references to files.
    pub is_literal: bool,
    pub dx: &'d mut Diagnostics,
    /// Set when `value` is a script.
    pub(crate) script: Option<Code>,
}

impl Spec<'_, '_> {
    /// `value`; a `file://` reference is replaced by the content of the file.
    pub fn value(&mut self) -> Option<Param> {
        self.param("value")
    }

    /// Another option that is read like `value`.
    pub fn param(&mut self, name: &'static str) -> Option<Param> {
        let node = self.fields.get(name)?;
        if self.is_literal {
            return Some(Param::Fixed(node.to_json()));
        }
        if let Some(items) = node.as_seq() {
            let items = items.iter().map(|item| self.item(item)).collect::<Option<Vec<_>>>()?;
            return Some(Param::new(Value::Array(items)));
        }
        let Some(reference) = file_reference(node) else {
            return Some(Param::new(node.to_json()));
        };
        match self.file(reference, node)? {
            FileValue::Data(value) => Some(Param::new(value)),
            FileValue::Code(code) => {
                self.script = Some(code);
                let not = if self.negated { "not-" } else { "" };
                Some(Param::Script { kind: format!("{not}{}", self.kind) })
            }
        }
    }

    /// One element of a list, in which files are data, never scripts.
    fn item(&mut self, node: &Node) -> Option<Value> {
        let Some(reference) = file_reference(node) else { return Some(node.to_json()) };
        match self.file(reference, node)? {
            FileValue::Data(value) => Some(value),
            FileValue::Code(_) => {
                self.unreadable(node, "a script is not allowed in a list");
                None
            }
        }
    }

    fn file(&mut self, reference: &str, node: &Node) -> Option<FileValue> {
        let read = FileValue::read(reference, self.base_dir, self.files);
        read.map_err(|why| self.unreadable(node, why)).ok()
    }

    fn unreadable(&mut self, node: &Node, why: impl Into<String>) {
        let title = "this file cannot be used";
        self.dx.push(Diagnostic::error("config::unreadable-file", title).at(node.span, why));
    }

    pub fn threshold(&mut self) -> Option<f64> {
        self.number("threshold")
    }

    pub fn number(&mut self, name: &'static str) -> Option<f64> {
        let node = self.fields.get(name)?;
        let value = node.as_f64();
        if value.is_none() {
            wrong_type(name, "a number", node, self.dx);
        }
        value
    }
}

fn file_reference(node: &Node) -> Option<&str> {
    node.as_str().and_then(|text| text.strip_prefix("file://"))
}
