//! Turns attempts into tests before anything is sent, if a response alone can prove them.

use std::collections::HashMap;

use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use serde_json::json;

use super::Regression;
use super::test_body::{Written, anywhere, literal, written};

/// An attempt that may become a test.
#[derive(Debug, Clone)]
pub struct TestDraft {
    pub attack: String,
    pub severity: Severity,
    /// Its aim; none for what the listed surface shows.
    pub place: Option<Place>,
    pub form: String,
    /// The strategy that rewrote it, if any.
    pub strategy: Option<String>,
    pub steps: Vec<Step>,
    /// What is sent to a target that takes text, instead of steps.
    pub prompt: Option<String>,
    pub sign: Indicator,
}

/// Turns drafts into tests: at most `most` for each attack and strategy, from as many places as possible. Names of
/// planted files begin with `canary`; `no_canary` is the reason why there are none.
pub fn generated(
    drafts: &[TestDraft],
    most: &dyn Fn(&str) -> usize,
    (canary, no_canary): (&str, Option<&str>),
    several_servers: bool,
) -> Regression {
    let mut made = Regression::default();
    let mut seen: HashMap<(&str, Option<&str>, String), usize> = HashMap::new();
    // The first form at every place comes before the second form at any place.
    let mut turns: Vec<(usize, &TestDraft)> = drafts
        .iter()
        .map(|draft| {
            let place = draft.place.as_ref().map(Place::key).unwrap_or_default();
            let nth = seen.entry((&draft.attack, draft.strategy.as_deref(), place)).or_default();
            *nth += 1;
            (*nth, draft)
        })
        .collect();
    turns.sort_by_key(|(nth, _)| *nth);
    let mut counts: HashMap<(&str, Option<&str>), usize> = HashMap::new();
    let mut tests = Vec::new();
    for (_, draft) in turns {
        let count = counts.entry((&draft.attack, draft.strategy.as_deref())).or_default();
        if *count >= most(&draft.attack) {
            continue;
        }
        let test = test(draft, (canary, no_canary), several_servers, &mut made);
        if let Ok(test) = test {
            *count += 1;
            let at = drafts.iter().position(|one| one.attack == draft.attack);
            tests.push((at, test));
        }
    }
    // Back to the order of the attacks.
    tests.sort_by_key(|(at, _)| *at);
    made.tests = tests.into_iter().map(|(_, test)| test).collect();
    made
}

fn test(
    draft: &TestDraft,
    canary: (&str, Option<&str>),
    several_servers: bool,
    made: &mut Regression,
) -> Result<serde_json::Value, String> {
    let steps = draft.steps.iter().cloned();
    let steps = steps.map(|step| if several_servers { step } else { anywhere(step) }).collect();
    let written = match (&draft.prompt, &draft.sign) {
        (Some(prompt), Indicator::Says { text }) => Written {
            prompt: literal(prompt)?.into(),
            asserts: json!([{"type": "not-says", "value": literal(text)?}]),
        },
        (Some(_), _) => return Err("the proof is not a text in the reply".to_owned()),
        (None, _) => written(&draft.sign, (&draft.attack, None), steps, canary, made)?,
    };
    let title = match &draft.place {
        Some(place) => format!("{} at {place} ({})", draft.attack, draft.form),
        None => format!("{} in the listed surface", draft.attack),
    };
    Ok(json!({
        "description": literal(&title)?,
        "vars": {"prompt": written.prompt},
        "assert": written.asserts,
        "metadata": {
            "pluginId": draft.attack, "severity": draft.severity.word(),
            "strategyId": draft.strategy.as_deref().unwrap_or("basic"),
        },
    }))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::tool_call::ToolCall;
    use serde_json::Map;

    use super::*;

    fn draft(tool: &str, form: &str) -> TestDraft {
        let step = Step::Call(ToolCall { tool: tool.into(), args: Map::new(), server: None });
        TestDraft {
            attack: "sql-injection".into(),
            severity: Severity::High,
            place: Some(Place::Tool { server: "s".into(), tool: tool.into() }),
            form: form.into(),
            strategy: None,
            steps: vec![step],
            prompt: None,
            sign: Indicator::says("42"),
        }
    }

    #[test]
    fn every_place_has_its_turn() {
        let drafts = [draft("a", "one"), draft("a", "two"), draft("b", "one"), draft("b", "two")];
        let made = generated(&drafts, &|_| 3, ("x.canary", None), false);
        let titles: Vec<&str> =
            made.tests.iter().filter_map(|test| test["description"].as_str()).collect();
        let expected = ["a (one)", "b (one)", "a (two)"];
        assert_eq!(titles, expected.map(|end| format!("sql-injection at {end}")));
        assert_eq!(made.tests[0]["metadata"]["strategyId"], "basic");
        assert_eq!(made.tests[0]["assert"][0]["type"], "not-says");
    }
}
