use serde_json::{Value, json};

use crate::metrics::compile;
use crate::metrics::testing::{compiled, exchange, judged_score};

fn score(dag: &Value, answers: &[Value]) -> Option<f64> {
    let score = judged_score(&compiled("dag", &json!({"dag": dag})), &exchange("q", "a"), answers);
    assert_eq!(score.error, None);
    score.score
}

fn verdict(word: &str) -> Value {
    json!({"verdict": word, "reason": "because"})
}

fn headings() -> Value {
    json!({
        "type": "task", "instructions": "Extract", "outputLabel": "Headings",
        "evaluationParams": ["actual_output"],
        "children": [{
            "type": "binary", "criteria": "Three?",
            "children": [
                {"verdict": false, "score": 0},
                {"verdict": true, "child": {
                    "type": "choice", "criteria": "In order?",
                    "children": [{"verdict": "Yes", "score": 10}, {"verdict": "Two out of order", "score": 4}]
                }}
            ]
        }]
    })
}

#[test]
fn answers_lead_through_the_graph() {
    let task = json!({"output": "intro, body, end"});
    let two = verdict("two out of order");
    assert_eq!(score(&headings(), &[task.clone(), verdict("true"), two]), Some(0.4));
    assert_eq!(score(&headings(), &[task.clone(), verdict("true"), verdict("Yes")]), Some(1.0));
    assert_eq!(score(&headings(), &[task, verdict("false")]), Some(0.0));
}

#[test]
fn deepeval_s_form_is_read() {
    let dag = json!({"nodes": {
        "t": {"type": "TaskNode", "instructions": "Extract", "output_label": "Headings", "label": null,
            "evaluation_params": ["actual_output"], "children": ["b", "c"]},
        "b": {"type": "BinaryJudgementNode", "criteria": "Three?", "label": null, "evaluation_params": null,
            "children": ["no", "yes"]},
        "no": {"type": "VerdictNode", "verdict": false, "score": 0},
        "yes": {"type": "VerdictNode", "verdict": true, "child": {"type": "node", "ref": "c"}},
        "c": {"type": "NonBinaryJudgementNode", "criteria": "In order?", "label": null,
            "evaluation_params": null, "children": ["c1", "c2"]},
        "c1": {"type": "VerdictNode", "verdict": "Yes", "score": 10},
        "c2": {"type": "VerdictNode", "verdict": "No", "child": {"type": "geval", "name": "x",
            "criteria": null, "evaluation_steps": ["look"], "evaluation_params": ["actual_output"], "async_mode": true}},
    }});
    let task = json!({"output": "intro"});
    assert_eq!(score(&dag, &[task.clone(), verdict("false")]), Some(0.0), "c waits for both");
    assert_eq!(score(&dag, &[task.clone(), verdict("true"), verdict("Yes")]), Some(1.0));
    let through = [task, verdict("true"), verdict("No"), json!({"score": 3, "reason": "meh"})];
    assert_eq!(score(&dag, &through), Some(0.3));
}

#[test]
fn of_several_verdicts_the_lowest_counts() {
    let judgement = |criteria: &str| {
        json!({"type": "binary", "criteria": criteria,
            "children": [{"verdict": true, "score": 10}, {"verdict": false, "score": 2}]})
    };
    let both = json!([judgement("a"), judgement("b")]);
    assert_eq!(score(&both, &[verdict("false"), verdict("true")]), Some(0.2));
}

#[test]
fn mistakes_are_reported() {
    let yes_no = json!([{"verdict": true, "score": 1}, {"verdict": false, "score": 11}]);
    for (dag, expected) in [
        (json!({}), "unknown type ``"),
        (json!([]), "has no nodes"),
        (json!({"nodes": {}}), "no node to begin with"),
        (json!({"type": "task"}), "needs `instructions`"),
        (
            json!({"type": "binary", "criteria": "x", "children": yes_no}),
            "a score from 0 to 10, not 11",
        ),
        (json!({"type": "binary", "criteria": "x"}), "the verdicts true and false"),
        (json!({"type": "choice", "criteria": "x", "children": []}), "needs verdicts"),
        (
            json!({"type": "choice", "criteria": "x", "children": [{"verdict": "a"}]}),
            "either `score` or `child`",
        ),
        (
            json!({"type": "choice", "criteria": "x", "children": [{"verdict": "a", "child": {"type": "g-evil"}}]}),
            "unknown metric `g-evil`",
        ),
        (
            json!({"type": "task", "instructions": "x", "children": [{"verdict": "a", "score": 1}]}),
            "not from a task",
        ),
        (
            json!({"type": "task", "instructions": "x", "evaluationParams": ["y"]}),
            "expected one of input",
        ),
        (
            json!({"nodes": {"a": {"type": "task", "instructions": "x", "children": ["b"]},
                "b": {"type": "task", "instructions": "x", "children": ["a"]}}}),
            "the graph has a cycle",
        ),
        (
            json!({"nodes": {"a": {"type": "task", "instructions": "x", "children": ["z"]}}}),
            "no node `z`",
        ),
    ] {
        let options = json!({"dag": dag});
        let errors = compile("dag", options.as_object().unwrap());
        let text = errors.err().unwrap_or_else(|| panic!("{dag}")).to_string();
        assert!(text.contains(expected), "{text}");
    }
    let mut deep = json!({"verdict": true, "score": 1});
    for _ in 0..20 {
        deep = json!({"verdict": true, "child": {"type": "binary", "criteria": "x",
            "children": [deep, {"verdict": false, "score": 0}]}});
    }
    let options = json!({"dag": deep["child"]});
    let text = compile("dag", options.as_object().unwrap()).err().expect("too deep").to_string();
    assert!(text.contains("20 questions one after the other"), "{text}");
    assert!(compile("dag", &serde_json::Map::new()).is_err());
}
