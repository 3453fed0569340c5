//! One compiled entry of `assert`: a check, or a set of entries that count as one.

use quintain_evidence::code::Code;
use quintain_source::Span;
use serde_json::Value;

use super::{Check, Comparison, TestOptions, View};

/// One entry of `assert`.
pub struct Assert {
    /// As written, `not-` included.
    pub kind: String,
    pub rule: Rule,
    /// 0 makes it a metric that cannot fail the test.
    pub weight: f64,
    /// The name under which the score is reported; may contain templates.
    pub metric: Option<String>,
    /// Applied to the output before this assertion only.
    pub transform: Option<Code>,
    pub view: Option<View>,
    /// The script of `value: file://...`, which runs before the check.
    pub script: Option<Code>,
    pub span: Span,
    /// The entry as written, for reports.
    pub raw: Value,
}

/// What an entry checks.
pub enum Rule {
    Check(Box<dyn Check>),
    /// `assert-set`: entries that count as one.
    Set {
        asserts: Vec<Assert>,
        threshold: Option<f64>,
    },
}

impl std::fmt::Debug for Assert {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Assert").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Assert {
    /// Whether this entry needs more of the surface than the tools.
    pub fn wants_survey(&self) -> bool {
        match &self.rule {
            Rule::Check(check) => check.wants_survey(),
            Rule::Set { asserts, .. } => asserts.iter().any(Self::wants_survey),
        }
    }

    /// The comparison of the responses to one test, if this entry is one.
    pub fn comparison(&self) -> Option<&dyn Comparison> {
        match &self.rule {
            Rule::Check(check) => check.comparison(),
            Rule::Set { .. } => None,
        }
    }

    /// The same entry for a test with these options, if they matter to it.
    pub fn with_options(&self, options: &TestOptions) -> Option<Self> {
        let Rule::Check(check) = &self.rule else { return None };
        let check = check.with_options(options)?;
        Some(Self {
            kind: self.kind.clone(),
            rule: Rule::Check(check),
            weight: self.weight,
            metric: self.metric.clone(),
            transform: self.transform.clone(),
            view: self.view,
            script: self.script.clone(),
            span: self.span,
            raw: self.raw.clone(),
        })
    }

    /// Whether this entry judges responses that are errors.
    pub fn wants_errors(&self) -> bool {
        match &self.rule {
            Rule::Check(check) => check.wants_errors() || self.view == Some(View::Error),
            Rule::Set { asserts, .. } => asserts.iter().any(Self::wants_errors),
        }
    }
}
