//! Templates with variables, in the dialect of Nunjucks: prompts, variables, values of assertions.

mod dialect;
mod expression;
mod filters;
mod globals;
mod json;
mod links;
mod methods;
mod operators;
mod partial;
mod value;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, Value as Variable};
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior};
use serde_json::{Map, Value};

use crate::switch::switched_on;
use crate::template::expression_end;
pub use value::{array_index, printed};
use value::{text, variable};

/// Maximum steps of one template.
const FUEL: u64 = 5_000_000;
/// Maximum output of one template.
const MAX_OUTPUT: usize = 64 << 20;

/// Expands templates with variables.
pub struct Nunjucks {
    engine: Environment<'static>,
    env: Variable,
    variables: BTreeMap<String, String>,
    /// Templates are plain text.
    off: bool,
    is_literal: bool,
}

/// A filter of the user, called with the value and the arguments.
pub type CustomFilter = Box<dyn Fn(&[Value]) -> Result<Value, String> + Send + Sync>;

/// Why a template cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the template cannot be expanded: {reason}")]
pub struct RenderError {
    pub reason: String,
}

/// Whether the text contains a template.
pub fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

impl Default for Nunjucks {
    fn default() -> Self {
        Self::new(BTreeMap::new())
    }
}

impl Nunjucks {
    /// What templates see as `env`.
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// `env` is what templates see as `env`.
    pub fn new(env: BTreeMap<String, String>) -> Self {
        let shown = env.iter().map(|(name, value)| (name.clone(), Variable::from(value.as_str())));
        let off = switched_on(&env, "PROMPTFOO_DISABLE_TEMPLATING");
        let env_scope = value::dict(shown.collect());
        Self { engine: engine(), env: env_scope, variables: env, off, is_literal: false }
    }

    /// Takes every text as it is, for texts of strangers. Only [`Self::render_prompt`] and [`Self::render_named`] insert
    /// variables, by name and once: what they insert is not read again.
    pub fn literal() -> Self {
        Self { off: true, is_literal: true, ..Self::default() }
    }

    /// Whether texts are taken as they are.
    pub fn is_literal(&self) -> bool {
        self.is_literal
    }

    /// The text of a template's author with variables of other authors: as [`Self::render`], but a literal engine inserts
    /// `{{name}}`.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_named(
        &self,
        text: &str,
        vars: &Map<String, Value>,
    ) -> Result<String, RenderError> {
        if self.is_literal { inserted(text, vars) } else { self.render(text, vars) }
    }

    /// Adds a filter.
    pub fn add_filter(&mut self, name: &str, filter: CustomFilter) {
        let filter = move |value: Variable, given: Rest<Variable>| {
            let arguments: Vec<Value> =
                std::iter::once(&value).chain(given.iter()).map(value::json).collect();
            let filtered = filter(&arguments).map_err(filters::failed)?;
            Ok::<_, Error>(variable(&filtered))
        };
        self.engine.add_filter(name.to_owned(), filter);
    }

    /// The expanded text.
    ///
    /// # Errors
    /// If the template is invalid or takes too long.
    pub fn render(&self, text: &str, vars: &Map<String, Value>) -> Result<String, RenderError> {
        if self.off || !is_template(text) {
            return Ok(text.to_owned());
        }
        let translated = dialect::translated(text);
        let template = self.engine.template_from_str(&translated).map_err(|why| failed(&why))?;
        let mentioned = template.undeclared_variables(false);
        let context = self.context(mentioned.iter().map(String::as_str), vars);
        template.render(context).map_err(|why| failed(&why))
    }

    /// The expanded prompt. Templates in the variables are expanded first, unless
    /// they mention something unknown; a text with a tag that never ends stays unchanged.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_prompt(
        &self,
        text: &str,
        vars: &Map<String, Value>,
    ) -> Result<String, RenderError> {
        if self.is_literal {
            return inserted(text, vars);
        }
        let mut filled = vars.clone();
        for (name, value) in vars {
            if let Value::String(text) = value
                && is_template(text)
                && !self.mentions_unknown(text, vars)
            {
                filled.insert(name.clone(), self.render_whole(text, vars)?.into());
            }
        }
        self.render_whole(text, &filled)
    }

    /// Checks that a prompt is a valid template.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(&self, text: &str) -> Result<(), RenderError> {
        if self.off || !is_template(text) || partial::is_partial(text) {
            return Ok(());
        }
        let translated = dialect::translated(text);
        self.engine.template_from_str(&translated).map(|_| ()).map_err(|why| failed(&why))
    }

    fn render_whole(&self, text: &str, vars: &Map<String, Value>) -> Result<String, RenderError> {
        if partial::is_partial(text) { Ok(text.to_owned()) } else { self.render(text, vars) }
    }

    fn mentions_unknown(&self, text: &str, vars: &Map<String, Value>) -> bool {
        let translated = dialect::translated(text);
        // Expanding reports invalid templates.
        let Ok(template) = self.engine.template_from_str(&translated) else { return false };
        let mentioned = template.undeclared_variables(false);
        mentioned.iter().any(|name| name != "env" && !vars.contains_key(name))
    }

    /// A value with its texts expanded. A text that is one expression and nothing else takes the
    /// type of its value.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_value(
        &self,
        value: &Value,
        vars: &Map<String, Value>,
    ) -> Result<Value, RenderError> {
        if self.is_literal {
            return Ok(value.clone());
        }
        Ok(match value {
            Value::String(text) => match only_expression(text) {
                Some(expression) => self.evaluate(expression, vars)?,
                None => Value::String(self.render(text, vars)?),
            },
            Value::Array(items) => {
                let items = items.iter().map(|item| self.render_value(item, vars));
                items.collect::<Result<_, _>>()?
            }
            Value::Object(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    Ok((self.render(key, vars)?, self.render_value(value, vars)?))
                });
                Value::Object(entries.collect::<Result<_, RenderError>>()?)
            }
            other => other.clone(),
        })
    }

    /// The value of an expression. An unknown name is empty text, as in a text.
    fn evaluate(&self, expression: &str, vars: &Map<String, Value>) -> Result<Value, RenderError> {
        // A plain name is the usual case and needs no template engine.
        let name = expression.trim();
        if let Some(value) = vars.get(name) {
            return Ok(value.clone());
        }
        let translated = dialect::expression(expression);
        let expression = self.engine.compile_expression(&translated).map_err(|why| failed(&why))?;
        let mentioned = expression.undeclared_variables(false);
        let context = self.context(mentioned.iter().map(String::as_str), vars);
        let value = expression.eval(context).map_err(|why| failed(&why))?;
        if value.is_undefined() {
            return Ok(Value::String(String::new()));
        }
        Ok(value::json(&value))
    }

    /// The variables that a template mentions; others need no preparation.
    fn context<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        vars: &Map<String, Value>,
    ) -> Variable {
        let mut context = BTreeMap::new();
        for name in names {
            if let Some(value) = vars.get(name) {
                context.insert(name.to_owned(), variable(value));
            } else if name == "env" {
                context.insert(name.to_owned(), self.env.clone());
            }
        }
        Variable::from(context)
    }
}

fn engine() -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_auto_escape_callback(|_| AutoEscape::None);
    engine.set_undefined_behavior(UndefinedBehavior::Chainable);
    engine.set_fuel(Some(FUEL));
    engine.set_recursion_limit(100);
    // Nunjucks has none, and it would let loops accumulate text.
    engine.remove_global("namespace");
    engine.set_formatter(|out, state, value| {
        let text = text(value);
        let written = state.get_temp("written").and_then(|written| written.as_usize());
        let written = written.unwrap_or_default() + text.len();
        filters::within(written, MAX_OUTPUT)?;
        state.set_temp("written", Variable::from(written));
        out.write_str(&text).map_err(Error::from)
    });
    engine.set_unknown_method_callback(|_, value, name, args| methods::call(value, name, args));
    filters::register(&mut engine);
    globals::register(&mut engine);
    operators::register(&mut engine);
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        engine.set_syntax(syntax);
    }
    engine
}

/// A text in which `{{name}}` is replaced by the variable of that name, once. Everything else stays.
fn inserted(text: &str, vars: &Map<String, Value>) -> Result<String, RenderError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, inner) = rest.split_at(start);
        out.push_str(before);
        let end = inner.find("}}");
        let value = end.and_then(|end| vars.get(inner[2..end].trim()));
        if let (Some(end), Some(value)) = (end, value) {
            out.push_str(&printed(value));
            rest = &inner[end + 2..];
        } else {
            out.push_str("{{");
            rest = &inner[2..];
        }
        if out.len() > MAX_OUTPUT {
            return Err(RenderError { reason: "the text grows without bounds".to_owned() });
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The expression of a text that consists of nothing else.
fn only_expression(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("{{")?;
    let end = expression_end(inner)?;
    let whole = end == inner.len();
    let expression = whole.then(|| &inner[..end - 2])?;
    let expression = expression.strip_prefix('-').unwrap_or(expression);
    Some(expression.strip_suffix('-').unwrap_or(expression))
}

fn failed(error: &Error) -> RenderError {
    let mut reason = error.kind().to_string();
    if let Some(detail) = error.detail() {
        let _ = write!(reason, ": {detail}");
    }
    if let Some(line) = error.line().filter(|line| *line > 1) {
        let _ = write!(reason, " (in line {line})");
    }
    RenderError { reason }
}

#[cfg(test)]
mod tests;
