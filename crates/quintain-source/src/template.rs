//! `{{ ... }}` inside the user's texts, as in Nunjucks. The caller provides the environment: this
//! crate reads nothing from the process.

use std::collections::BTreeMap;
use std::ops::Range;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior};

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::file::Span;
use crate::node::{Node, NodeKind, Scalar};

/// Maximum steps of one expression.
const FUEL: u64 = 50_000;

/// Which names an expression may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// `{{env.X}}` only. Other expressions are expanded later and stay unchanged.
    Env,
    /// `{{X}}` means the same as `{{env.X}}`.
    Bare,
}

/// Expands templates with one environment.
pub struct Templates {
    engine: Environment<'static>,
    variables: BTreeMap<String, String>,
    env_scope: Value,
    bare_scope: Value,
    /// Nothing is expanded.
    is_off: bool,
}

impl Templates {
    pub fn new(variables: BTreeMap<String, String>) -> Self {
        let env = Value::from(variables.clone());
        let mut bare: BTreeMap<String, Value> =
            variables.iter().map(|(name, value)| (name.clone(), Value::from(value))).collect();
        bare.insert("env".to_owned(), env.clone());
        let env_scope = Value::from(BTreeMap::from([("env".to_owned(), env)]));
        let bare_scope = Value::from(bare);
        Self { engine: engine(), variables, env_scope, bare_scope, is_off: false }
    }

    /// Leaves every text as written, for files that are only read.
    pub fn as_written() -> Self {
        Self { is_off: true, ..Self::new(BTreeMap::new()) }
    }

    /// Whether texts stay as written.
    pub fn leaves_all(&self) -> bool {
        self.is_off
    }

    /// The environment for templates.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// The text of a scalar with its expressions expanded. If any cannot be expanded, all problems are
    /// reported and nothing is returned.
    pub fn fill(&self, node: &Node, scope: Scope, dx: &mut Diagnostics) -> Option<String> {
        let scalar = node.as_scalar()?;
        if self.is_off {
            return Some(scalar.raw.clone());
        }
        let mut filled = String::with_capacity(scalar.raw.len());
        let (mut at, mut complete) = (0, true);
        for part in expressions(&scalar.raw) {
            let expression = &scalar.raw[part.clone()];
            if scope == Scope::Env && !mentions_env(expression) {
                continue;
            }
            filled.push_str(&scalar.raw[at..part.start]);
            at = part.end;
            match self.evaluate(expression, scope) {
                Ok(text) => filled.push_str(&text),
                Err(faults) => {
                    complete = false;
                    let place = ScalarPart { scalar, whole: node.span, start: part.start };
                    for fault in faults {
                        dx.push(fault.diagnostic(&place));
                    }
                }
            }
        }
        filled.push_str(&scalar.raw[at..]);
        complete.then_some(filled)
    }

    /// Expands `{{env.X}}` everywhere in a tree. What cannot be expanded stays unchanged for later
    /// readers and causes a warning.
    pub fn fill_tree(&self, node: &mut Node, dx: &mut Diagnostics) {
        if self.is_off {
            return;
        }
        match &mut node.kind {
            NodeKind::Seq(items) => items.iter_mut().for_each(|item| self.fill_tree(item, dx)),
            NodeKind::Map(entries) => {
                entries.iter_mut().for_each(|(_, value)| self.fill_tree(value, dx));
            }
            NodeKind::Scalar(scalar) if scalar.raw.contains("{{") && mentions_env(&scalar.raw) => {
                let mut faults = Diagnostics::new();
                match self.fill(node, Scope::Env, &mut faults) {
                    Some(filled) => *node = Node::text(filled, node.span),
                    None => faults.iter().for_each(|fault| {
                        dx.push(Diagnostic { severity: Severity::Warning, ..fault.clone() });
                    }),
                }
            }
            // Packed items are expanded when they are unpacked.
            NodeKind::Scalar(_) | NodeKind::Null | NodeKind::Pile(_) => {}
        }
    }

    fn evaluate(&self, expression: &str, scope: Scope) -> Result<String, Vec<Fault>> {
        let names = match scope {
            Scope::Env => &self.env_scope,
            Scope::Bare => &self.bare_scope,
        };
        let template = self.engine.template_from_str(expression);
        let rendered = template.and_then(|template| template.render(names.clone()));
        rendered.map_err(|error| {
            let missing = self.missing(expression);
            if error.kind() == ErrorKind::UndefinedError && !missing.is_empty() {
                return missing;
            }
            let reason = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            vec![Fault::Bad { reason, range: error.range().unwrap_or(0..expression.len()) }]
        })
    }

    /// The variables of an expression that are not set.
    fn missing(&self, expression: &str) -> Vec<Fault> {
        let Ok(template) = self.engine.template_from_str(expression) else { return Vec::new() };
        let mut names: Vec<String> = template.undeclared_variables(true).into_iter().collect();
        names.sort_unstable();
        let unset = |path: &String| {
            let name = path.strip_prefix("env.").unwrap_or(path);
            name != "env" && !self.variables.contains_key(name)
        };
        names
            .into_iter()
            .filter(unset)
            .map(|path| {
                let start = expression.find(&path);
                let range = start.map_or(0..expression.len(), |at| at..at + path.len());
                Fault::Missing { path, range }
            })
            .collect()
    }
}

fn engine() -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_auto_escape_callback(|_| AutoEscape::None);
    engine.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    engine.set_fuel(Some(FUEL));
    engine.set_debug(true);
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        engine.set_syntax(syntax);
    }
    engine
}

/// Why an expression could not be expanded; ranges are inside the expression.
enum Fault {
    Missing { path: String, range: Range<usize> },
    Bad { reason: String, range: Range<usize> },
}

struct ScalarPart<'s> {
    scalar: &'s Scalar,
    whole: Span,
    start: usize,
}

impl ScalarPart<'_> {
    fn span(&self, range: Range<usize>) -> Span {
        self.scalar.locate(self.whole, self.start + range.start..self.start + range.end)
    }
}

impl Fault {
    fn diagnostic(self, place: &ScalarPart<'_>) -> Diagnostic {
        match self {
            Self::Missing { path, range } => {
                let name = path.strip_prefix("env.").unwrap_or(&path);
                let title = format!("environment variable `{name}` is not set");
                let help =
                    format!("set it, or give a default: `{{{{{path} | default(\"...\")}}}}`");
                Diagnostic::error("config::missing-env", title)
                    .at(place.span(range), "used here")
                    .help(help)
            }
            Self::Bad { reason, range } => {
                Diagnostic::error("config::bad-template", "this template cannot be expanded")
                    .at(place.span(range), reason)
            }
        }
    }
}

/// The `{{ ... }}` parts of a text. Braces inside quotes do not end an expression.
fn expressions(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("{{").map(|offset| at + offset) {
        let Some(end) = expression_end(&text[start + 2..]) else { break };
        found.push(start..start + 2 + end);
        at = start + 2 + end;
    }
    found
}

/// The offset after the closing braces.
pub(crate) fn expression_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => {
                bytes.next();
            }
            (Some(open), _) if open == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'}') if bytes.peek().is_some_and(|(_, next)| *next == b'}') => {
                return Some(at + 2);
            }
            _ => {}
        }
    }
    None
}

/// Whether `env.` or `env[` occurs as a separate name.
fn mentions_env(expression: &str) -> bool {
    expression.match_indices("env").any(|(at, name)| {
        let before = expression[..at].chars().next_back();
        let after = expression[at + name.len()..].trim_start().chars().next();
        let starts = before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '.');
        starts && matches!(after, Some('.' | '['))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Parsed, parse, tree};

    fn templates() -> Templates {
        let set = [("TOKEN", "s3<cret>"), ("HOST", "localhost"), ("EMPTY", "")];
        Templates::new(set.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }

    fn fill(text: &str, scope: Scope) -> String {
        let node = tree(text);
        let mut dx = Diagnostics::new();
        let filled = templates().fill(&node, scope, &mut dx);
        assert!(dx.is_empty(), "{dx:?}");
        filled.expect("filled")
    }

    fn faults(text: &str, scope: Scope) -> Parsed {
        let mut parsed = parse(text);
        let node = parsed.node.clone().expect("a tree");
        assert_eq!(templates().fill(&node, scope, &mut parsed.dx), None);
        parsed
    }

    #[test]
    fn the_environment_is_filled_in_without_escaping() {
        assert_eq!(fill("'Bearer {{env.TOKEN}}'", Scope::Env), "Bearer s3<cret>");
        assert_eq!(fill("'{{ env.HOST }}:{{env[\"TOKEN\"]}}'", Scope::Env), "localhost:s3<cret>");
        assert_eq!(fill("'{{ env.NO | default(\"a}}b\") }}'", Scope::Env), "a}}b");
        assert_eq!(fill("'{{ env.NO or \"x\" }}'", Scope::Env), "x");
        assert_eq!(fill("'{{ env.EMPTY | default(\"x\", true) }}{{env.EMPTY}}'", Scope::Env), "x");
        assert_eq!(fill("\"{{ env.HOST | upper }}\\n\"", Scope::Env), "LOCALHOST\n");
    }

    #[test]
    fn expressions_of_others_stay_as_they_are() {
        for text in ["{{prompt}}", "{{ environment.X }}", "{% raw %} {# x #}", "{{env.HOST", "a}}"]
        {
            assert_eq!(fill(&format!("'{text}'"), Scope::Env), text);
        }
    }

    #[test]
    fn bare_names_mean_the_environment_where_allowed() {
        assert_eq!(fill("'{{TOKEN}} {{env.HOST}}'", Scope::Bare), "s3<cret> localhost");
        assert_eq!(fill("'{{ NO | default(\"x\") }}'", Scope::Bare), "x");
    }

    #[test]
    fn a_tree_keeps_what_cannot_be_filled_in() {
        let mut node = tree("a: ['{{env.HOST}}', '{{x}}', '{{env.NO}}']\nb: 1\n");
        let mut dx = Diagnostics::new();
        templates().fill_tree(&mut node, &mut dx);
        let expected = serde_json::json!({"a": ["localhost", "{{x}}", "{{env.NO}}"], "b": 1});
        assert_eq!(node.to_json(), expected);
        assert_eq!((dx.len(), dx.has_errors()), (1, false));
    }

    #[test]
    fn every_missing_variable_is_pointed_at() {
        let parsed = faults("'{{env.HOST}} {{ env.A }} and {{env.B ~ env.C}}'", Scope::Env);
        assert_eq!(parsed.codes(), ["config::missing-env"; 3]);
        assert_eq!(parsed.culprits(), ["env.A", "env.B", "env.C"]);
        let drawn = faults("\"{{env.MCP_TOKEN}}\"", Scope::Env).drawn();
        assert!(drawn.contains("environment variable `MCP_TOKEN` is not set"), "{drawn}");
        assert!(drawn.contains("^^^^^^^^^^^^^ used here"), "{drawn}");
        let help = "help: set it, or give a default: `{{env.MCP_TOKEN | default(\"...\")}}`";
        assert!(drawn.contains(help), "{drawn}");
        assert_eq!(faults("'{{NO}}'", Scope::Bare).culprits(), ["NO"]);
    }

    #[test]
    fn nonsense_is_reported_and_endless_work_stopped() {
        for text in
            ["{{ env.HOST | nofilter }}", "{{ env. }}", "{{ env.HOST + }}", "{{ env['NO'] }}"]
        {
            let quoted = format!("\"{text}\"");
            assert_eq!(faults(&quoted, Scope::Env).codes(), ["config::bad-template"], "{text}");
        }
        let endless =
            "{% for a in range(10000) %}{% for b in range(10000) %}x{% endfor %}{% endfor %}";
        let error = engine().render_str(endless, ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfFuel);
    }
}
