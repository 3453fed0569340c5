//! The opinion of a judge on the choice among available tools, in addition to the comparison with expected calls.

use quintain_evidence::trace::Role;
use quintain_judge::template::{Prompt, Values};
use serde_json::Value;

use crate::metrics::judging::{Judge, JudgeSettings, Judging, Scale, calls, grades, judged_or};
use crate::metrics::{Measured, MetricInput, Options, Scorer, immediately};

pub(super) const PROMPTS: &[Prompt] = &[Prompt {
    id: "selection",
    text: "\
Judge whether an application selected the best of the available tools for a request: none that is useless, none missing,
and none better left aside. If no tool was needed, calling none is right. Ignore arguments and results.

Request:
{{request}}

Available tools:
{{tools}}

Calls, one per line:
{{calls}}",
}];

const SCALE: Scale = Scale {
    question: "Are the selected tools the best of the available ones?",
    worst: "they are wrong or missing",
    best: "exactly the best ones",
};

/// Makes a scorer that also asks a judge, if tools are listed.
pub(super) fn scorer(
    options: &mut Options<'_>,
    id: &'static str,
    measure: impl Fn(&MetricInput<'_>) -> Measured + Send + Sync + 'static,
) -> Option<Box<dyn Scorer>> {
    let settings = JudgeSettings::read(options, PROMPTS);
    let listed = options.value("availableTools").and_then(Value::as_array);
    let listed = listed.filter(|tools| !tools.is_empty());
    let Some(tools) = listed.map(|tools| Value::from(tools.clone()).to_string()) else {
        return immediately(measure);
    };
    let measure = std::sync::Arc::new(measure);
    let alone = measure.clone();
    judged_or(
        id,
        settings,
        move |input| alone(input),
        move |input, judge| judged(input, judge, &tools, measure(input)),
    )
}

/// The smaller one of the comparison and the opinion.
fn judged(
    input: &MetricInput<'_>,
    judge: &Judge<'_>,
    tools: &str,
    compared: Measured,
) -> Judging<Measured> {
    let Measured::Score(compared) = compared else { return Ok(compared) };
    let users = input.view.messages().filter(|(_, _, message)| message.role == Role::User);
    let request: Vec<&str> = users.map(|(_, _, message)| message.text.as_str()).collect();
    let values = Values::new()
        .quoted("request", &request.join("\n"))
        .quoted("tools", tools)
        .quoted("calls", &calls::listed(&input.view.calls));
    let grade = judge.grade("selection", &values, &SCALE)?;
    let value = compared.value.min(grade.score);
    let mut scored = grades::scored(value, &[("selection".to_owned(), &grade)])?;
    scored.reason = format!("{}; selection: {}", compared.reason, scored.reason);
    for (name, detail) in compared.details {
        scored.details.entry(name).or_insert(detail);
    }
    Ok(Measured::Score(scored.with("selection", grade.score).proven_by(compared.findings)))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::ExpectedCall;
    use serde_json::json;

    use crate::metrics::testing::{compiled, judged_score, score, trace_with_tools};

    #[test]
    fn the_smaller_one_of_comparison_and_opinion_counts() {
        let mut trace = trace_with_tools(&["a", "b"], &["a"]);
        let call = ExpectedCall { name: "a".to_owned(), ..ExpectedCall::default() };
        trace.expected.calls = Some(vec![call]);
        let metric = compiled("tool-correctness", &json!({"availableTools": ["a", "b"]}));
        let opinion = [json!({"score": 0.4, "reason": "b is better"})];
        let found = judged_score(&metric, &trace, &opinion);
        assert_eq!((found.score, &found.details["selection"]), (Some(0.4), &json!(0.4)));
        assert_eq!(
            score(&metric, &trace).score,
            Some(1.0),
            "without a judge, the comparison counts"
        );
        let unlisted = compiled("tool-correctness", &json!({"model": "echo"}));
        assert_eq!(judged_score(&unlisted, &trace, &[]).score, Some(1.0));
    }
}
