//! Compares the calls that a case expects with those that were made: which belongs to which, and how well they fit.

pub(crate) mod assignment;
pub(crate) mod comparators;
mod dates;

use std::borrow::Cow;
use std::collections::HashMap;

use quintain_evidence::surface::Tool;
use quintain_evidence::trace::{CallKind, ExpectedCall};
use serde_json::Value;

use self::comparators::Comparators;
use crate::canonical;
use crate::view::View;

/// A call that was made, as the comparison needs it.
#[derive(Debug, Clone)]
pub(crate) struct MadeCall<'t> {
    pub(crate) name: &'t str,
    pub(crate) server: Option<&'t str>,
    /// `FUNCTION` or `MCP`, if the source records it.
    pub(crate) kind: Option<&'t str>,
    pub(crate) args: Option<&'t Value>,
    pub(crate) output: Option<Cow<'t, Value>>,
    /// Among all calls of the trace; none if the source lists these calls apart from others.
    pub(crate) position: Option<usize>,
    pub(crate) tool: Option<&'t Tool>,
}

/// The calls to compare: those that the case lists for it, or else all calls of tools.
pub(crate) fn made_calls<'t>(view: &View<'t>, with_output: bool) -> Vec<MadeCall<'t>> {
    let tools = || view.calls.iter().filter(|call| call.call.kind == CallKind::Tool);
    if let Some(called) = &view.trace.expected.called {
        let mut made: Vec<MadeCall<'_>> = called.iter().map(of_case).collect();
        // The list is often made of the calls of the trace; then their places and tools are known.
        let names = tools().map(|call| call.call.name.as_str());
        if names.eq(made.iter().map(|call| call.name)) {
            for (made, call) in made.iter_mut().zip(tools()) {
                made.position = Some(call.position);
                made.tool = call.tool();
                made.server = made.server.or(call.server());
            }
        }
        return made;
    }
    let made = tools().map(|call| MadeCall {
        name: &call.call.name,
        server: call.server(),
        kind: None,
        args: call.call.args.json(),
        output: with_output.then(|| match call.call.structured() {
            Some(structured) => Cow::Borrowed(structured),
            None => Cow::Owned(Value::String(call.text().to_owned())),
        }),
        position: Some(call.position),
        tool: call.tool(),
    });
    made.collect()
}

fn of_case(call: &ExpectedCall) -> MadeCall<'_> {
    MadeCall {
        name: &call.name,
        server: call.server.as_deref(),
        kind: call.kind.as_deref(),
        args: call.args.as_ref(),
        output: call.output.as_ref().map(Cow::Borrowed),
        position: None,
        tool: None,
    }
}

/// An expected call with the made call that fits it best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub(crate) expected: usize,
    pub(crate) made: usize,
    /// From 0 to 1: how well arguments and output fit. Above 0 if they fit at all.
    pub(crate) fit: f64,
}

/// What is compared beyond the name.
pub(crate) struct Comparison<'c> {
    pub(crate) comparators: &'c Comparators,
    pub(crate) arguments: bool,
    pub(crate) output: bool,
}

impl Comparison<'_> {
    /// How well a made call fits an expected one of the same name.
    pub(crate) fn fit(&self, expected: &ExpectedCall, made: &MadeCall<'_>) -> f64 {
        let outputs = (expected.output.as_ref(), made.output.as_deref());
        if let (true, (Some(wanted), got)) = (self.output, outputs)
            && !got.is_some_and(|got| canonical::equal(wanted, got))
        {
            return 0.0;
        }
        match &expected.args {
            Some(args) if self.arguments => self.comparators.fit(&expected.name, args, made.args),
            _ => 1.0,
        }
    }

    /// The optimal pairs of calls of the same name, ordered by the expected call. Pairs that do not fit are kept: the
    /// right tool was called with wrong arguments.
    pub(crate) fn pairs(&self, expected: &[ExpectedCall], made: &[MadeCall<'_>]) -> Vec<Pair> {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, call) in made.iter().enumerate() {
            by_name.entry(call.name).or_default().push(index);
        }
        let mut wanted: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut names = Vec::new();
        for (index, call) in expected.iter().enumerate() {
            let same = wanted.entry(call.name.as_str()).or_default();
            if same.is_empty() {
                names.push(call.name.as_str());
            }
            same.push(index);
        }
        let mut pairs = Vec::new();
        for name in names {
            let (Some(rows), Some(columns)) = (wanted.get(name), by_name.get(name)) else {
                continue;
            };
            let fit = |row: usize, column: usize| {
                let (expected, made) = (&expected[rows[row]], &made[columns[column]]);
                is_same_server(expected, made).then(|| self.fit(expected, made))
            };
            let found = assignment::best(rows.len(), columns.len(), fit);
            pairs.extend(found.into_iter().map(|(row, column, fit)| Pair {
                expected: rows[row],
                made: columns[column],
                fit,
            }));
        }
        pairs.sort_by_key(|pair| pair.expected);
        pairs
    }
}

fn is_same_server(expected: &ExpectedCall, made: &MadeCall<'_>) -> bool {
    match (expected.server.as_deref(), made.server) {
        (Some(wanted), Some(called)) => wanted == called,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn expected(name: &str, args: Value) -> ExpectedCall {
        ExpectedCall { name: name.to_owned(), args: Some(args), ..ExpectedCall::default() }
    }

    fn fits(expected: &[ExpectedCall], made: &[ExpectedCall]) -> Vec<(usize, usize, f64)> {
        let comparators = Comparators::default();
        let comparison = Comparison { comparators: &comparators, arguments: true, output: false };
        let made: Vec<MadeCall<'_>> = made.iter().map(of_case).collect();
        let pairs = comparison.pairs(expected, &made);
        pairs.into_iter().map(|pair| (pair.expected, pair.made, pair.fit)).collect()
    }

    #[test]
    fn the_assignment_is_optimal_where_a_greedy_one_is_not() {
        let wanted = [expected("a", json!({"x": 1, "y": 9})), expected("a", json!({"x": 1}))];
        let made = [expected("a", json!({"x": 1})), expected("a", json!({"x": 1, "y": 2}))];
        assert_eq!(fits(&wanted, &made), [(0, 1, 0.5), (1, 0, 1.0)]);
    }

    #[test]
    fn equal_calls_are_paired_in_order_and_once_each() {
        let wanted = [expected("a", json!({})), expected("a", json!({})), expected("b", json!({}))];
        let made = [expected("a", json!({})), expected("a", json!({})), expected("a", json!({}))];
        assert_eq!(fits(&wanted, &made), [(0, 0, 1.0), (1, 1, 1.0)]);
    }

    #[test]
    fn calls_of_another_server_are_other_calls() {
        let on = |server: &str| ExpectedCall {
            name: "a".to_owned(),
            server: Some(server.to_owned()),
            ..ExpectedCall::default()
        };
        assert_eq!(fits(&[on("x")], &[on("y")]), []);
        assert_eq!(fits(&[on("x")], &[on("y"), on("x")]), [(0, 1, 1.0)]);
    }
}
