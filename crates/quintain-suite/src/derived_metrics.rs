//! `derivedMetrics`: numbers computed from the named scores of a column.

use quintain_evidence::tally::{ColumnTally, Summary};
use quintain_script::Host;
use serde_json::{Value, json};

use crate::code::RunCode as _;
use crate::metric_expression;
use crate::suite::{DerivedMetric, DerivedValue};

/// Computes the metrics of every column, in order: each may use the ones before it. A metric that fails is
/// 0, as in promptfoo. Returns the errors.
pub fn derive(summary: &mut Summary, metrics: &[DerivedMetric], host: &Host) -> Vec<String> {
    let mut failed = Vec::new();
    for column in &mut summary.columns {
        for metric in metrics {
            let value = value(metric, column, host).unwrap_or_else(|why| {
                failed.push(format!("the derived metric `{}` has no value: {why}", metric.name));
                0.0
            });
            column.derived.insert(metric.name.clone(), value);
        }
    }
    failed
}

fn value(metric: &DerivedMetric, column: &ColumnTally, host: &Host) -> Result<f64, String> {
    let mut numbers = column.named_scores.clone();
    numbers.extend(column.derived.iter().map(|(name, value)| (name.clone(), *value)));
    numbers.insert("__count".to_owned(), column.total() as f64);
    match &metric.value {
        DerivedValue::Expression(text) => metric_expression::evaluate(text, &numbers),
        DerivedValue::Code(code) => {
            let (scores, context) = (json!(numbers), json!({"count": column.total()}));
            let value = code.run_js(&[("namedScores", &scores), ("context", &context)], host)?;
            match value {
                Value::Number(number) => {
                    number.as_f64().ok_or_else(|| "the number is out of range".to_owned())
                }
                other => Err(format!("it returned {other}, expected a number")),
            }
        }
    }
}
