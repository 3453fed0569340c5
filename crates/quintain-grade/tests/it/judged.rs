//! Judged metrics against scores that deepeval 4.3.1 made of the same opinions; `tests/deepeval/record_judged.py` recorded
//! them. Where deepeval crashes or contradicts itself, the record says what happens here instead.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::ControlFlow;

use quintain_evidence::graded::MetricScore;
use quintain_evidence::question::{Answer, ModelQuestion, ModelRequest, ModelRole, Question};
use quintain_evidence::trace::Trace;
use quintain_grade::evaluate::Grading;
use quintain_grade::metrics::{self, JudgeMode};
use quintain_grade::readers::{self, ReadOptions, Record};
use quintain_judge::consultation::reply;
use quintain_judge::template::Prompt;
use serde_json::Value;

/// The id of the prompt that a question was made of: all its fixed parts occur in their order.
fn prompt_of<'p>(prompts: &'p [Prompt], text: &str) -> Option<&'p str> {
    let is_made_of = |prompt: &&Prompt| {
        let mut rest = text;
        prompt.text.split("{{").enumerate().all(|(index, piece)| {
            let fixed =
                if index == 0 { piece } else { piece.split_once("}}").map_or("", |(_, end)| end) };
            // The end of a prompt is followed by the form of the answer, without white space between.
            let fixed = fixed.trim_end();
            match rest.find(fixed) {
                Some(at) if index > 0 || at == 0 => {
                    rest = &rest[at + fixed.len()..];
                    true
                }
                _ => false,
            }
        })
    };
    prompts.iter().find(is_made_of).map(|prompt| prompt.id)
}

fn read(case: &Value) -> Trace {
    let mut found = None;
    let mut keep = |record: Record| {
        if let Record::Trace(trace, _) = record {
            found = Some(*trace);
        }
        ControlFlow::Continue(())
    };
    let (text, format) = (case.to_string(), readers::by_name("deepeval"));
    readers::read(text.as_bytes(), "case", format, &ReadOptions::default(), &mut keep).unwrap();
    found.unwrap()
}

/// Scores a recorded case, and returns the opinions that nobody asked for.
fn score(record: &Value) -> (MetricScore, Vec<String>) {
    let id = record["metric"].as_str().unwrap();
    let metric = metrics::compile(id, record["options"].as_object().unwrap())
        .unwrap_or_else(|errors| panic!("{errors}\n{record}"));
    let prompts = metrics::find(id).unwrap().prompts();
    let mut script: HashMap<&str, VecDeque<Value>> = HashMap::new();
    for (prompt, answers) in record["opinions"].as_object().unwrap() {
        script.insert(prompt, answers.as_array().unwrap().iter().cloned().collect());
    }
    let judge = |question: &Question| -> Answer {
        let Question::Model(ModelQuestion {
            role: ModelRole::Judge,
            request: ModelRequest::Chat { prompt, schema: Some(_) },
            ..
        }) = question
        else {
            panic!("{question:?}")
        };
        let asked = prompt_of(prompts, prompt).unwrap_or_else(|| panic!("{id}: {prompt}"));
        let answer = script.get_mut(asked).and_then(VecDeque::pop_front);
        reply(answer.unwrap_or_else(|| panic!("{id}: no opinion for `{asked}`\n{record}")))
    };
    let grading = Grading { metrics: vec![metric], ..Grading::default() };
    let trace = read(&record["case"]);
    let graded = grading.grade_with(&trace, String::new, JudgeMode::Default, judge);
    let unasked = script.into_iter().filter(|(_, left)| !left.is_empty());
    let unasked = unasked.map(|(prompt, _)| prompt.to_owned()).collect();
    (graded.trace.metrics.into_iter().next().unwrap(), unasked)
}

fn same(ours: Option<f64>, theirs: Option<f64>) -> bool {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => (ours - theirs).abs() < 1e-9,
        (ours, theirs) => ours == theirs,
    }
}

#[test]
fn the_same_opinions_lead_to_the_same_scores() {
    let (mut equal, mut different): (BTreeMap<String, usize>, Vec<String>) = Default::default();
    for (number, line) in include_str!("../deepeval/judged.jsonl").lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        let metric = record["metric"].as_str().unwrap();
        let place = format!("line {}: {line}", number + 1);
        let (found, unasked) = score(&record);
        assert!(unasked.is_empty(), "nobody asked {unasked:?} on {place}");
        let theirs = (record["score"].as_f64(), record["success"].as_bool());
        if let Some(why) = record["why"].as_str() {
            let ours = &record["ours"];
            assert!(same(found.score, ours["score"].as_f64()), "{found:?} on {place}");
            assert_eq!(found.success, ours["success"].as_bool(), "{found:?} on {place}");
            if let Some(error) = ours["error"].as_str() {
                assert!(found.error.as_ref().is_some_and(|text| text.contains(error)), "{found:?}");
            }
            let text = format!("{metric}: {why}");
            if !different.contains(&text) {
                different.push(text);
            }
            continue;
        }
        assert_eq!(found.error, None, "{place}");
        assert!(same(found.score, theirs.0), "{:?} on {place}", found.score);
        assert_eq!(found.success, theirs.1, "{place}");
        *equal.entry(metric.to_owned()).or_default() += 1;
    }
    let cases: usize = equal.values().sum();
    println!("{cases} scores of {} metrics are those of deepeval", equal.len());
    println!("deliberate differences:\n{}", different.join("\n"));
    assert!(cases > 900 && equal.len() == 31, "{cases} {equal:?}");
    assert!(different.len() >= 14, "{different:?}");
}
