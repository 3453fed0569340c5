//! The options of one assertion while it is compiled.

use std::path::{Path, PathBuf};

use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Severity, wrong_type};

use super::Param;
use crate::code::Code;
use crate::suite::{FileValue, Files};

/// One entry of `assert`. The common keys (`type`, `weight`, `metric`, `transform`, `view`, ...) are
/// read by others; what an assertion does not ask for is reported as unknown.
pub struct Spec<'n, 'd> {
    pub fields: Fields<'n>,
    /// The whole entry.
    pub node: &'n Node,
    /// The type as written, without `not-`.
    pub kind: &'n str,
    /// `not-` stood before the type; the check turns its verdict round itself, since the reasons
    /// read differently.
    pub negated: bool,
    pub base_dir: &'n Path,
    pub files: &'n dyn Files,
    /// How bad a mistake is that promptfoo lets pass.
    pub strictness: Severity,
    pub dx: &'d mut Diagnostics,
    /// Set when `value` is a script.
    pub(crate) script: Option<Code>,
}

impl Spec<'_, '_> {
    /// `value`, with the content of the file in place of `file://...`.
    pub fn value(&mut self) -> Option<Param> {
        self.param("value")
    }

    /// `value` that has to be there.
    pub fn required_value(&mut self) -> Option<Param> {
        if self.fields.get("value").is_none() {
            self.fields.missing("value", self.dx);
        }
        self.value()
    }

    /// Another option with the same rights as `value`.
    pub fn param(&mut self, name: &'static str) -> Option<Param> {
        let node = self.fields.get(name)?;
        let Some(reference) = node.as_str().and_then(|text| text.strip_prefix("file://")) else {
            return Some(Param::new(node.to_json()));
        };
        match FileValue::read(reference, self.base_dir, self.files) {
            Ok(FileValue::Data(value)) => Some(Param::new(value)),
            Ok(FileValue::Code(code)) => {
                self.script = Some(code);
                Some(Param::Script)
            }
            Err(why) => {
                self.dx.push(
                    Diagnostic::error("config::unreadable-file", "this file cannot be used")
                        .at(node.span, why),
                );
                None
            }
        }
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

    /// A path of the suite.
    pub fn path(&self, text: &str) -> PathBuf {
        self.base_dir.join(text).components().collect()
    }
}
