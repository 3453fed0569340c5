//! `nunjucksFilters`: user-defined template filters, each a JavaScript file that exports a function.

use quintain_evidence::code::{Code, Language};
use quintain_script::Host;
use quintain_source::{Node, Nunjucks, wrong_type};
use serde_json::Value;

use super::Suite;
use super::loader::{Loader, SuiteFolder};
use crate::code::RunCode as _;
use crate::files::FileValue;

impl Loader<'_> {
    pub(super) fn filters(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Vec<(String, Code)> {
        let Some(entries) = node.as_map() else {
            wrong_type("nunjucksFilters", "a map from names to files", node, self.dx);
            return Vec::new();
        };
        let mut filters = Vec::new();
        for (key, file) in entries {
            let Some(name) = file.as_str() else {
                wrong_type(&key.text, "a file", file, self.dx);
                continue;
            };
            let name = name.strip_prefix("file://").unwrap_or(name);
            for path in self.matching(name, place, file.span) {
                match FileValue::read(&path.to_string_lossy(), place.base_dir, self.files) {
                    Ok(FileValue::Code(code)) if code.language() == Language::JavaScript => {
                        filters.push((key.text.clone(), code));
                    }
                    Ok(_) => self.unreadable(file.span, "expected a JavaScript file"),
                    Err(why) => self.unreadable(file.span, why),
                }
            }
        }
        filters
    }
}

impl Suite {
    /// The template engine of this suite. In a suite that is only read, templates have no environment and no user
    /// filters, since those are code. In a literal suite there are no templates.
    pub fn templates(&self) -> Nunjucks {
        if self.is_literal { Nunjucks::literal() } else { self.target_templates() }
    }

    /// The template engine of the targets, whose options are templates also in a literal suite.
    pub fn target_templates(&self) -> Nunjucks {
        if self.consent.is_none() {
            return Nunjucks::default();
        }
        let mut templates = Nunjucks::new(self.env.clone());
        for (name, code) in &self.tests.filters {
            let script = code.script();
            let host = Host { env: self.env.clone(), ..Host::default() };
            let filter = move |arguments: &[Value]| {
                let arguments: Vec<_> = arguments.iter().map(|value| ("value", value)).collect();
                script.run(&arguments, &host).map_err(|error| error.to_string())
            };
            templates.add_filter(name, Box::new(filter));
        }
        templates
    }
}
