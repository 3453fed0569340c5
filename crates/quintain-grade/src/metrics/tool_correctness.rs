//! Whether the expected tools were called, with the expected arguments, in the expected order.

mod compat;
mod order;
mod selection;

use quintain_content::json_value::pointer_token;
use quintain_content::registry::Meta;
use quintain_evidence::graded::{Layer, Level, TraceFinding};
use quintain_evidence::trace::ExpectedCall;
use quintain_judge::template::Prompt;
use serde_json::Value;

use self::order::Order;
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer};
use crate::expected_calls::comparators::Comparators;
use crate::expected_calls::{Comparison, MadeCall, Pair, made_calls};

pub(super) struct ToolCorrectness;

static META: Meta = Meta {
    id: "tool-correctness",
    aliases: &["ToolCorrectnessMetric"],
    summary: "the expected tools are called with the expected arguments",
    docs: "\
# What it does
Pairs the expected calls of the case with those that were made, so that the sum of how well they fit is the largest
possible. A pair fits as far as its arguments do; a call without expected arguments fits any. The score is F1: extra calls
lower precision, missing ones lower recall. `details` has precision, recall, F1 and order.

`comparators` says per tool and argument how values are compared: `exact`, `{tolerance: 0.01}`, `case`, `set`,
`{regex: ...}`, `date`, `subset`, `{anyOf: [...]}`, `ignore`. `before: [[a, b]]` demands that a comes before b, `anyTime`
lists tools whose calls do not matter, `never` lists tools that must not be called. `shouldConsiderOrdering` multiplies the
score by the share of calls in the expected order, `shouldExactMatch` demands the same calls in the same order.
`evaluationParams` restricts the comparison to `input-parameters`, `output`, both, or with an empty list to names.

`compat: deepeval` computes the scores of deepeval 4.3.1 with the same options, including its peculiarities: calls are
paired greedily, extra calls are free, and arguments count only if `evaluationParams` lists them. Where deepeval raises an
exception, the metric reports an error.

# Why it matters
If the right calls are known, no model is needed to judge a choice of tools.

# What counts as proof
Findings for calls that are missing, not expected or have other arguments.

# Options
- `compat`: `deepeval` for its scores
- `evaluationParams`: `input-parameters`, `output` or both
- `shouldExactMatch`, `shouldConsiderOrdering`: true or false (default)
- `comparators`: a map of tools to maps of arguments
- `before`: pairs of tools
- `anyTime`, `never`: tools
- `availableTools`: tools that were available. If there is a judge, it grades the choice among them, and the smaller score counts
- `model`, `judge`, `evaluationTemplate`: as for other judged metrics. Variables: request, tools, calls

# When it does not apply
The case has no expected calls. An empty list of expected calls demands that nothing is called.

# Example
```yaml
metrics:
  - type: tool-correctness
    threshold: 0.8
    comparators:
      get_weather: {city: case, day: date}
    before: [[get_weather, send_mail]]
    never: [delete_mail]
```
",
    since: "0.2.0",
};

impl Metric for ToolCorrectness {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self) -> Option<&'static str> {
        Some("whether the chosen tools are the best of those available")
    }

    fn prompts(&self) -> &'static [Prompt] {
        selection::PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let is_compat = options.choice("compat", &[("deepeval", true)]).unwrap_or(false);
        let params = evaluation_params(options);
        let is_exact = options.flag("shouldExactMatch").unwrap_or(false);
        let is_ordered = options.flag("shouldConsiderOrdering").unwrap_or(false);
        let comparators = read_comparators(options);
        let order = Order::read(options);
        if is_compat {
            let params = params.unwrap_or_default();
            let mode = compat::Mode::new(is_exact, is_ordered);
            return selection::scorer(options, META.id, move |input| {
                compat::measure(input, mode, params)
            });
        }
        let (comparators, order) = (comparators?, order?);
        let plan = CallComparison {
            comparators,
            arguments: params.is_none_or(|params| params.arguments),
            output: params.is_some_and(|params| params.output),
            is_exact,
            is_ordered,
            order,
        };
        selection::scorer(options, META.id, move |input| plan.measure(input))
    }
}

fn read_comparators(options: &mut Options<'_>) -> Option<Comparators> {
    let Some(written) = options.value("comparators") else { return Some(Comparators::default()) };
    match Comparators::read(written) {
        Ok(comparators) => Some(comparators),
        Err(errors) => {
            for error in errors {
                options.error("comparators", format!("`comparators`: {error}"));
            }
            None
        }
    }
}

/// What is compared beyond names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Params {
    arguments: bool,
    output: bool,
}

fn evaluation_params(options: &mut Options<'_>) -> Option<Params> {
    let mut params = Params::default();
    for name in options.texts("evaluationParams")? {
        match name.to_lowercase().replace('_', "-").as_str() {
            "input-parameters" | "inputparameters" => params.arguments = true,
            "output" => params.output = true,
            _ => options.error(
                "evaluationParams",
                format!(
                    "expected `input-parameters` or `output` in `evaluationParams`, not `{name}`"
                ),
            ),
        }
    }
    Some(params)
}

/// The options of the comparison.
struct CallComparison {
    comparators: Comparators,
    arguments: bool,
    output: bool,
    is_exact: bool,
    is_ordered: bool,
    order: Order,
}

impl CallComparison {
    fn measure(&self, input: &MetricInput<'_>) -> Measured {
        let Some(expected) = &input.view.trace.expected.calls else {
            return Measured::undefined("the case has no expected calls");
        };
        let made = made_calls(input.view, self.output);
        let comparison = Comparison {
            comparators: &self.comparators,
            arguments: self.arguments,
            output: self.output,
        };
        let pairs = comparison.pairs(expected, &made);
        let names: Vec<&str> = made.iter().map(|call| call.name).collect();
        let broken = self.order.broken(&names);
        let counted = {
            let mut is_paired = vec![false; made.len()];
            pairs.iter().for_each(|pair| is_paired[pair.made] = true);
            let counts = |(index, call): &(usize, &MadeCall<'_>)| {
                is_paired[*index] || !self.order.is_any_time(call.name)
            };
            made.iter().enumerate().filter(counts).count()
        };
        // The sum of nothing is -0.
        let fit = pairs.iter().map(|pair| pair.fit).fold(0.0, |sum: f64, fit| sum + fit);
        let precision = ratio(fit, counted, expected.is_empty());
        let recall = ratio(fit, expected.len(), counted == 0);
        let f1 = if precision + recall > 0.0 {
            2.0 * precision * recall / (precision + recall)
        } else {
            0.0
        };
        let in_order = order::share_in_order(&pairs);
        let value = if !broken.called.is_empty() {
            0.0
        } else if self.is_exact {
            f64::from(is_identical(&pairs, expected.len(), made.len()))
        } else {
            let ordered = if self.is_ordered { in_order.unwrap_or(1.0) } else { 1.0 };
            f1 * ordered * broken.kept
        };
        let findings = self.findings(expected, &made, &pairs, &broken);
        let reason = match findings.len() {
            0 if self.is_ordered && in_order.is_some_and(|share| share < 1.0) => {
                format!("all {} expected calls were made, but in another order", expected.len())
            }
            0 => format!("all {} expected calls were made", expected.len()),
            _ => format!("precision {precision:.2}, recall {recall:.2}: {}", summary(&findings)),
        };
        let scored = Scored::new(value, reason)
            .with("precision", precision)
            .with("recall", recall)
            .with("f1", f1)
            .with("order", in_order.map_or(Value::Null, Value::from))
            .with("expected", expected.len())
            .with("called", made.len());
        Measured::Score(scored.proven_by(findings))
    }

    fn findings(
        &self,
        expected: &[ExpectedCall],
        made: &[MadeCall<'_>],
        pairs: &[Pair],
        broken: &order::Broken,
    ) -> Vec<TraceFinding> {
        let mut findings = Vec::new();
        let mut is_met = vec![false; expected.len()];
        let mut is_paired = vec![false; made.len()];
        for pair in pairs {
            is_met[pair.expected] = true;
            is_paired[pair.made] = true;
            if pair.fit < 1.0 {
                findings.extend(self.misfit(&expected[pair.expected], &made[pair.made]));
            }
        }
        for (call, _) in expected.iter().zip(&is_met).filter(|(_, is_met)| !**is_met) {
            let message = format!("the expected call of `{}` was not made", call.name);
            findings.push(finding(None, "", message, expectation(call)));
        }
        for (call, _) in made.iter().zip(&is_paired).filter(|(_, is_paired)| !**is_paired) {
            if broken.called.iter().any(|name| name == call.name) {
                let message = format!("`{}` must never be called", call.name);
                findings.push(finding(call.position, "", message, call.name.to_owned()));
            } else if !self.order.is_any_time(call.name) {
                let message = format!("the call of `{}` is not expected", call.name);
                findings.push(finding(call.position, "", message, call.name.to_owned()));
            }
        }
        for (first, second) in &broken.reversed {
            let message = format!("`{first}` must be called before `{second}`");
            findings.push(finding(None, "", message, String::new()));
        }
        findings
    }

    /// What does not fit between two calls of the same tool.
    fn misfit(&self, expected: &ExpectedCall, made: &MadeCall<'_>) -> Vec<TraceFinding> {
        let none = serde_json::Map::new();
        let given = made.args.and_then(Value::as_object).unwrap_or(&none);
        let wanted = expected.args.as_ref().and_then(Value::as_object).filter(|_| self.arguments);
        let mut findings: Vec<TraceFinding> = Vec::new();
        for name in wanted
            .into_iter()
            .flat_map(|wanted| self.comparators.faults(&expected.name, wanted, given))
        {
            let wanted = wanted.and_then(|wanted| wanted.get(name));
            let message = match (wanted, given.get(name)) {
                (Some(wanted), Some(_)) => format!("expected {} for `{name}`", shown(wanted)),
                (Some(wanted), None) => format!("`{name}` is missing; expected {}", shown(wanted)),
                (None, _) => format!("`{name}` is not expected"),
            };
            let evidence = given.get(name).map(shown).unwrap_or_default();
            findings.push(finding(
                made.position,
                &format!("/{}", pointer_token(name)),
                message,
                evidence,
            ));
        }
        if findings.is_empty() {
            let message = format!("the call of `{}` differs from the expected one", expected.name);
            findings.push(finding(made.position, "", message, expectation(expected)));
        }
        findings
    }
}

/// The sum of fits as a share. Nothing expected and nothing called is right; one of them alone is wrong.
fn ratio(fit: f64, all: usize, is_other_empty: bool) -> f64 {
    if all == 0 { f64::from(is_other_empty) } else { fit / all as f64 }
}

fn is_identical(pairs: &[Pair], expected: usize, made: usize) -> bool {
    expected == made
        && pairs.len() == expected
        && pairs.iter().all(|pair| pair.expected == pair.made && pair.fit >= 1.0)
}

fn finding(call: Option<usize>, pointer: &str, message: String, evidence: String) -> TraceFinding {
    TraceFinding {
        check: META.id.to_owned(),
        layer: Layer::Reference,
        severity: Level::Error,
        call,
        pointer: pointer.to_owned(),
        message,
        evidence,
        hint: String::new(),
    }
}

fn expectation(call: &ExpectedCall) -> String {
    let args = call.args.as_ref().map(shown).unwrap_or_default();
    format!("{}{}{args}", call.name, if args.is_empty() { "" } else { " " })
}

fn shown(value: &Value) -> String {
    quintain_content::text::short::shortened(&value.to_string(), 200).into_owned()
}

/// The first findings in words.
fn summary(findings: &[TraceFinding]) -> String {
    let words: Vec<&str> =
        findings.iter().take(3).map(|finding| finding.message.as_str()).collect();
    let more = findings.len().saturating_sub(3);
    if more == 0 { words.join("; ") } else { format!("{}; and {more} more", words.join("; ")) }
}

#[cfg(test)]
mod tests;
