//! `assert:` of a test: types, sets, weights, metrics; each entry compiled by its type.

use quintain_evidence::code::Code;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::verdict::Verdict;
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Severity, closest};

use crate::assertions;
use crate::check::{Assert, Assertion, Check, Rule, Scene, Spec, View};
use crate::files::Files;

const SET: &str = "assert-set";

/// Reads and compiles assertions.
pub struct AssertReader<'a> {
    pub base_dir: &'a std::path::Path,
    pub files: &'a dyn Files,
    pub strictness: Severity,
    /// Texts are data: no templates and no references to files.
    pub is_literal: bool,
}

impl AssertReader<'_> {
    /// Reads a list of entries and reports the errors in all of them.
    pub fn list(&self, node: &Node, dx: &mut Diagnostics) -> Vec<Assert> {
        let Some(items) = node.as_seq() else {
            quintain_source::wrong_type("assert", "a list", node, dx);
            return Vec::new();
        };
        items.iter().filter_map(|item| self.entry(item, dx)).collect()
    }

    /// Reads the entries of a set, which must not be sets themselves.
    fn members(&self, node: &Node, dx: &mut Diagnostics) -> Vec<Assert> {
        for item in node.as_seq().unwrap_or_default() {
            let kind = item.get("type").filter(|kind| kind.raw() == Some(SET));
            if let Some(kind) = kind {
                dx.push(
                    Diagnostic::error("config::nested-set", "an `assert-set` cannot be nested")
                        .at(kind.span, "inside another set")
                        .help("move its assertions to the outer set"),
                );
            }
        }
        self.list(node, dx)
    }

    fn entry(&self, node: &Node, dx: &mut Diagnostics) -> Option<Assert> {
        let mut fields = Fields::of(node, "an assertion", dx)?;
        // A reference that leads nowhere is already reported.
        if fields.get("type").is_none() && super::refs::is_reported(node.get("$ref"), dx) {
            return None;
        }
        let kind_node = fields.required("type", dx)?;
        let Some(kind) = kind_node.raw() else {
            quintain_source::wrong_type("type", "text", kind_node, dx);
            return None;
        };
        let weight = number(&mut fields, "weight", dx).unwrap_or(1.0);
        let metric = fields.string("metric", dx);
        let transform = fields.get("transform").and_then(|node| self.code("transform", node, dx));
        let view = fields.choice("view", &View::WORDS, dx);
        // The assertions that ask a judge read these.
        for name in ["provider", "rubricPrompt", "contextTransform"] {
            fields.get(name);
        }
        let (rule, script) = if kind == SET {
            let asserts = fields.required("assert", dx).map(|node| self.members(node, dx));
            let threshold = number(&mut fields, "threshold", dx);
            fields.get("config");
            fields.finish(self.strictness, dx);
            (Rule::Set { asserts: asserts?, threshold }, None)
        } else {
            self.check(node, kind, kind_node, fields, dx)?
        };
        Some(Assert {
            kind: kind.to_owned(),
            rule,
            weight,
            metric,
            transform,
            view,
            script,
            span: node.span,
            raw: node.to_json(),
        })
    }

    fn check<'n>(
        &self,
        node: &'n Node,
        kind: &'n str,
        kind_node: &Node,
        fields: Fields<'n>,
        dx: &mut Diagnostics,
    ) -> Option<(Rule, Option<Code>)> {
        let (negated, base) = match kind.strip_prefix("not-") {
            // `not-` is a prefix only if no type has the whole name.
            Some(base) if assertions::find(kind).is_none() => (true, base),
            _ => (false, kind),
        };
        let mut found = Diagnostics::new();
        let compiled = if let Some(assertion) = assertions::find(base) {
            self.compile(assertion, node, (base, negated), fields, &mut found)
        } else {
            found.push(unknown(kind, base, kind_node));
            None
        };
        // promptfoo reports this during the run: tests with such an assertion end in an error, others run.
        let broken = self.strictness == Severity::Warning && found.has_errors();
        let why = found.iter().find(|one| one.severity == Severity::Error).map(Diagnostic::text);
        if broken {
            found = found.into_warnings();
        }
        dx.extend(found);
        match why.filter(|_| broken) {
            Some(why) => Some((Rule::Check(Box::new(Broken(why))), None)),
            None => compiled,
        }
    }

    fn compile<'n>(
        &self,
        assertion: &dyn Assertion,
        node: &'n Node,
        (base, negated): (&'n str, bool),
        fields: Fields<'n>,
        dx: &mut Diagnostics,
    ) -> Option<(Rule, Option<Code>)> {
        let mut spec = Spec {
            fields,
            node,
            kind: base,
            negated,
            base_dir: self.base_dir,
            files: self.files,
            strictness: self.strictness,
            is_literal: self.is_literal,
            dx,
            script: None,
        };
        let check = assertion.compile(&mut spec);
        // promptfoo accepts `config` and `threshold` on every type.
        for name in ["config", "threshold"] {
            spec.fields.get(name);
        }
        let Spec { fields, script, dx, .. } = spec;
        fields.finish(self.strictness, dx);
        Some((Rule::Check(check?), script))
    }

    /// Code as a suite writes it: inline JavaScript or `file://path[:function]`.
    pub fn code(&self, name: &str, node: &Node, dx: &mut Diagnostics) -> Option<Code> {
        crate::files::code(name, node, self.base_dir, self.files, dx)
    }
}

/// A check for an invalid assertion: every case gets an error.
struct Broken(String);

impl Check for Broken {
    fn next(&self, _: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done(Verdict::error(&self.0))
    }
}

fn number(fields: &mut Fields<'_>, name: &'static str, dx: &mut Diagnostics) -> Option<f64> {
    let node = fields.get(name)?;
    let value = node.as_f64();
    if value.is_none() {
        quintain_source::wrong_type(name, "a number", node, dx);
    }
    value
}

fn unknown(kind: &str, base: &str, node: &Node) -> Diagnostic {
    let title = format!("there is no assertion `{kind}`");
    let diagnostic = Diagnostic::error("config::unknown-assertion", title).at(node.span, "");
    let names = assertions::all().iter().flat_map(|assertion| {
        let meta = assertion.meta();
        std::iter::once(meta.id).chain(meta.aliases.iter().copied())
    });
    match closest(base, names) {
        Some(meant) if base == kind => diagnostic.help(format!("did you mean `{meant}`?")),
        Some(meant) => diagnostic.help(format!("did you mean `not-{meant}`?")),
        None => diagnostic.help("`quintain list assertions` lists all types"),
    }
}
