//! The choice of tools in one case.

use quintain_evidence::trace::ExpectedCall;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::expected_calls::comparators::Comparators;
use crate::expected_calls::{Comparison, MadeCall, made_calls};
use crate::view::View;

/// What one case contributes to the figures of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CaseSelection {
    /// Expected and called tool. None for expected calls that were not made, and for calls that were not expected.
    pub choices: Vec<(Option<String>, Option<String>)>,
    /// How many calls have the property, among those for which it can be decided.
    pub hallucinated_names: (u64, u64),
    pub all_expected_present: (u64, u64),
    pub all_required_present: (u64, u64),
    pub values_match: (u64, u64),
}

impl CaseSelection {
    /// None if the case has no expected calls.
    pub fn of(view: &View<'_>) -> Option<Self> {
        let expected = view.trace.expected.calls.as_ref()?;
        let made = made_calls(view, false);
        let comparators = Comparators::default();
        let comparison = Comparison { comparators: &comparators, arguments: true, output: false };
        let mut case = Self::default();
        let mut is_met = vec![false; expected.len()];
        let mut is_paired = vec![false; made.len()];
        for pair in comparison.pairs(expected, &made) {
            is_met[pair.expected] = true;
            is_paired[pair.made] = true;
            let (wanted, call) = (&expected[pair.expected], &made[pair.made]);
            case.choices.push((Some(wanted.name.clone()), Some(call.name.to_owned())));
            case.add_arguments(wanted, call);
        }
        // What remains is a confusion: another tool was called instead.
        let mut missed = expected.iter().zip(&is_met).filter(|(_, is_met)| !**is_met);
        let mut extra = made.iter().zip(&is_paired).filter(|(_, is_paired)| !**is_paired);
        loop {
            let expected = missed.next().map(|(call, _)| call.name.clone());
            let called = extra.next().map(|(call, _)| call.name.to_owned());
            if expected.is_none() && called.is_none() {
                break;
            }
            case.choices.push((expected, called));
        }
        Some(case)
    }

    fn add_arguments(&mut self, expected: &ExpectedCall, made: &MadeCall<'_>) {
        let none = Map::new();
        let given = made.args.and_then(Value::as_object).unwrap_or(&none);
        let wanted = expected.args.as_ref().and_then(Value::as_object);
        let schema =
            made.tool.and_then(|tool| tool.input_schema()).filter(|schema| schema.is_object());
        if let Some(declared) = schema.map_or(wanted, declared) {
            count(
                &mut self.hallucinated_names,
                given.keys().any(|name| !declared.contains_key(name)),
            );
        }
        if let Some(wanted) = wanted {
            count(
                &mut self.all_expected_present,
                wanted.keys().all(|name| given.contains_key(name)),
            );
            let fits = |(name, value): (&String, &Value)| {
                given.get(name).is_some_and(|got| crate::canonical::equal(value, got))
            };
            count(&mut self.values_match, wanted.iter().all(fits));
        }
        if let Some(tool) = made.tool.filter(|_| schema.is_some()) {
            let required = tool.required_args();
            count(
                &mut self.all_required_present,
                required.iter().all(|name| given.contains_key(*name)),
            );
        }
    }

    pub(super) fn figures(&self) -> [(u64, u64); 4] {
        [
            self.hallucinated_names,
            self.all_expected_present,
            self.all_required_present,
            self.values_match,
        ]
    }

    /// Whether every tool is the expected one.
    pub(super) fn is_right(&self) -> bool {
        self.choices.iter().all(|(expected, called)| expected == called)
    }

    /// Whether a figure is as it should be for every call; none if it cannot be decided.
    pub(super) fn is_good(&self, figure: usize) -> Option<bool> {
        let (count, of) = self.figures()[figure];
        // Invented names are the only figure that should be 0.
        (of > 0).then_some(if figure == 0 { count == 0 } else { count == of })
    }
}

fn count(figure: &mut (u64, u64), has: bool) {
    figure.0 += u64::from(has);
    figure.1 += 1;
}

/// The arguments that a schema knows; none if it allows any.
fn declared(schema: &Value) -> Option<&Map<String, Value>> {
    let properties = schema.get("properties")?.as_object()?;
    let is_closed = matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false)))
        && ["patternProperties", "allOf", "anyOf", "oneOf", "$ref"]
            .iter()
            .all(|key| schema.get(key).is_none());
    is_closed.then_some(properties)
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::Tool;
    use quintain_evidence::trace::{Call, Listing, Trace, TraceServer};
    use serde_json::json;

    use super::*;

    fn case(expected: &[(&str, Value)], made: &[(&str, Value)]) -> CaseSelection {
        let schema =
            json!({"type": "object", "properties": {"city": {}, "day": {}}, "required": ["city"]});
        let tools = ["a", "b"].map(|name| Tool(json!({"name": name, "inputSchema": schema})));
        let listing = Listing { tools: Some(tools.to_vec()), ..Listing::default() };
        let server = TraceServer { listings: vec![listing].into(), ..TraceServer::default() };
        let mut trace = Trace { servers: vec![server], ..Trace::default() };
        let calls = expected.iter().map(|(name, args)| ExpectedCall {
            name: (*name).to_owned(),
            args: Some(args.clone()),
            ..ExpectedCall::default()
        });
        trace.expected.calls = Some(calls.collect());
        for (name, args) in made {
            trace.call(Call::tool(*name, args.clone()));
        }
        CaseSelection::of(&View::new(&trace)).unwrap()
    }

    #[test]
    fn leftover_calls_are_confusions() {
        let found = case(
            &[("a", json!({})), ("b", json!({}))],
            &[("c", json!({})), ("a", json!({})), ("d", json!({}))],
        );
        let choices: Vec<(&str, &str)> = found
            .choices
            .iter()
            .map(|(expected, called)| {
                (expected.as_deref().unwrap_or(""), called.as_deref().unwrap_or(""))
            })
            .collect();
        assert_eq!(choices, [("a", "a"), ("b", "c"), ("", "d")]);
        assert!(!found.is_right());
    }

    #[test]
    fn the_four_figures_are_told_apart() {
        let figures = |args: Value| {
            case(&[("a", json!({"city": "Oslo", "day": 1}))], &[("a", args)]).figures()
        };
        assert_eq!(figures(json!({"city": "Oslo", "day": 1.0})), [(0, 1), (1, 1), (1, 1), (1, 1)]);
        assert_eq!(figures(json!({"city": "Rome", "day": 1})), [(0, 1), (1, 1), (1, 1), (0, 1)]);
        assert_eq!(figures(json!({"day": 1})), [(0, 1), (0, 1), (0, 1), (0, 1)]);
        assert_eq!(
            figures(json!({"city": "Oslo", "day": 1, "x": 1})),
            [(1, 1), (1, 1), (1, 1), (1, 1)]
        );
        assert_eq!(figures(json!({"city": "Oslo"})), [(0, 1), (0, 1), (1, 1), (0, 1)]);
    }

    #[test]
    fn cases_without_expectations_do_not_count() {
        assert_eq!(CaseSelection::of(&View::new(&Trace::default())), None);
    }
}
