//! `derivedMetrics`: numbers computed from the named scores of all tests.

use quintain_source::{Diagnostic, Fields, Node, wrong_type};

use super::loader::{Loader, SuiteFolder};
use super::{DerivedMetric, DerivedValue};
use crate::metric_expression;

impl Loader<'_> {
    pub(super) fn derived_metrics(
        &mut self,
        node: &Node,
        place: &SuiteFolder<'_>,
    ) -> Vec<DerivedMetric> {
        let Some(items) = node.as_seq() else {
            wrong_type("derivedMetrics", "a list", node, self.dx);
            return Vec::new();
        };
        items.iter().filter_map(|item| self.derived_metric(item, place)).collect()
    }

    fn derived_metric(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Option<DerivedMetric> {
        let mut fields = Fields::of(node, "a derived metric", self.dx)?;
        fields.get("description");
        fields.required("name", self.dx);
        let name = fields.string("name", self.dx);
        let value = fields.required("value", self.dx);
        let value = match value.and_then(Node::raw) {
            Some(text) if text.starts_with("file://") => {
                self.code(&mut fields, "value", place).map(DerivedValue::Code)
            }
            Some(text) => {
                if let (Some(node), Err(why)) = (value, metric_expression::check(text)) {
                    let title = "this metric cannot be computed";
                    let diagnostic = Diagnostic::warning("config::bad-expression", title);
                    self.dx.push(diagnostic.at(node.span, why));
                }
                Some(DerivedValue::Expression(text.to_owned()))
            }
            None => {
                value.inspect(|node| wrong_type("value", "an expression", node, self.dx));
                None
            }
        };
        fields.finish(place.strictness, self.dx);
        Some(DerivedMetric { name: name?, value: value? })
    }
}
