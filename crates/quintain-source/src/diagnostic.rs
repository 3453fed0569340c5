//! Diagnostics of the user's files: all of them, not only the first.

use crate::file::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
}

/// A place that a diagnostic points at, with a text for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub text: String,
    /// The main place of the diagnostic; the other labels are context.
    pub primary: bool,
}

/// One diagnostic. Title: what is wrong, without a final period. Help: an action. Note: a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// `area::kebab-case`, the id for `explain`.
    pub code: &'static str,
    pub severity: Severity,
    pub title: String,
    pub labels: Vec<Label>,
    pub help: Vec<String>,
    pub notes: Vec<String>,
}

impl Diagnostic {
    pub fn new(severity: Severity, code: &'static str, title: impl Into<String>) -> Self {
        let title = title.into();
        Self { code, severity, title, labels: Vec::new(), help: Vec::new(), notes: Vec::new() }
    }

    pub fn error(code: &'static str, title: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, title)
    }

    pub fn warning(code: &'static str, title: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, title)
    }

    /// Points at the main place. An empty text draws only the carets.
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: true });
        self
    }

    /// Points at a place that helps to understand the main place.
    pub fn context(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// The diagnostic on one line.
    pub fn text(&self) -> String {
        let label = self.labels.first().map(|label| label.text.as_str());
        match label.filter(|label| !label.is_empty()) {
            Some(label) => format!("{}: {label}", self.title),
            None => self.title.clone(),
        }
    }

    /// The place of the first primary label, otherwise of any label.
    pub fn span(&self) -> Option<Span> {
        let primary = self.labels.iter().find(|label| label.primary);
        primary.or(self.labels.first()).map(|label| label.span)
    }
}

/// Limits the output, and keeps a file of pure noise from costing quadratic time.
const MAX_KEPT: usize = 1000;

/// Diagnostics in the order of the text, not of their discovery.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
}

impl Diagnostics {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        // An aliased node is read once per use; the same diagnostic is reported once.
        if self.items.len() >= MAX_KEPT || self.items.contains(&diagnostic) {
            return;
        }
        let place = |item: &Diagnostic| item.span();
        let at = self.items.partition_point(|item| place(item) <= place(&diagnostic));
        self.items.insert(at, diagnostic);
    }

    pub fn extend(&mut self, other: Self) {
        other.items.into_iter().for_each(|item| self.push(item));
    }

    /// The same diagnostics as warnings, so that none of them stops the run.
    pub fn into_warnings(mut self) -> Self {
        for item in &mut self.items {
            item.severity = Severity::Warning;
        }
        self
    }

    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|item| item.severity == Severity::Error)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.items.iter()
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::FileId;

    fn at(start: usize) -> Diagnostic {
        Diagnostic::error("test::x", "x").at(Span::new(FileId::default(), start..start + 1), "")
    }

    #[test]
    fn diagnostics_are_sorted_by_position_and_not_repeated() {
        let mut dx = Diagnostics::new();
        for start in [7, 3, 7, 5] {
            dx.push(at(start));
        }
        let starts: Vec<_> = dx.iter().filter_map(|d| Some(d.span()?.start)).collect();
        assert_eq!(starts, [3, 5, 7]);
    }

    #[test]
    fn warnings_alone_are_no_errors() {
        let mut dx = Diagnostics::new();
        dx.push(Diagnostic::warning("test::w", "w"));
        assert!(!dx.has_errors());
        dx.push(at(1));
        assert!(dx.has_errors());
    }
}
