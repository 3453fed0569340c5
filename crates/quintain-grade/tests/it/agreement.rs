//! The verdict without a model against labels of people: public traces of LiveMCPBench, if they are there.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use quintain_grade::evaluate::Grading;
use quintain_grade::meta_eval::{Agreement, MetaEvaluator, Verdict, read_labels};
use quintain_grade::metrics;
use quintain_grade::readers::{self, ReadOptions, Record, Router};
use serde_json::Map;

fn folder() -> Option<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let known = manifest.ancestors().map(|folder| folder.join("../shared/data/livemcpbench"));
    let given = std::env::var_os("QUINTAIN_LIVEMCPBENCH").map(PathBuf::from);
    given.into_iter().chain(known).find(|folder| folder.join("traces.jsonl").exists())
}

#[test]
fn the_verdict_without_a_model_agrees_with_people() {
    let Some(folder) = folder() else {
        eprintln!(
            "SKIPPED: ../shared/data/livemcpbench is missing; set QUINTAIN_LIVEMCPBENCH to its folder"
        );
        return;
    };
    let judged = judged(&folder);
    let verdicts: Vec<Verdict> = judged.iter().map(|(verdict, _)| *verdict).collect();
    let whole = Agreement::of(&verdicts);
    println!("mcp-task-completion at 0.5: {}", serde_json::to_string(&whole).unwrap());
    let kappa = cross_validated(&verdicts);
    println!("kappa with a threshold from other traces (5 folds, 40 repetitions): {kappa:.3}");
    assert!(kappa >= 0.45, "{kappa}");
    let shaken = shaken(&judged);
    println!(
        "kappa with weights changed at random by up to a half: at least {shaken:.3} in 95 of 100 tries"
    );
    assert!(shaken >= 0.45, "{shaken}");
    assert!(whole.kappa.unwrap() >= 0.45);
    assert!(whole.kappa_ci.unwrap().0 > 0.2);
}

/// The verdicts with the signs that led to them: words and weight. The agent calls every tool through a router.
fn judged(folder: &Path) -> Vec<(Verdict, Vec<(String, f64)>)> {
    let open = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let (labels, errors) = read_labels(open("labels.jsonl").as_bytes());
    assert!(errors.is_empty(), "{errors:?}");
    let metric = metrics::compile("MCPTaskCompletionMetric", &Map::new()).unwrap();
    let grading = Grading { metrics: vec![metric], ..Grading::default() };
    let options = ReadOptions {
        router: Some(Router::default()),
        servers: readers::surface_file::servers(&open("tools.json")).unwrap(),
        ..ReadOptions::default()
    };
    let mut verdicts = Vec::new();
    let mut evaluator = MetaEvaluator::new(labels.clone());
    let mut judge = |record: Record| {
        let Record::Trace(trace, _) = record else { panic!("{record:?}") };
        let id = trace.id.clone().unwrap();
        let graded = grading.grade(&trace, || id.clone()).trace;
        evaluator.add(&id, &graded.metrics);
        let label = labels.iter().find(|label| label.id == id).unwrap().success;
        let found = &graded.metrics[0];
        if found.success != Some(label) {
            let reason = found.reason.as_deref().unwrap();
            println!("{id}: person {label}, metric {:?}: {reason}", found.score);
        }
        let signs = found.details["tasks"][0]["signs"].as_array().unwrap().iter();
        let signs = signs.map(|sign| {
            (sign["sign"].as_str().unwrap().to_owned(), sign["weight"].as_f64().unwrap())
        });
        let verdict =
            Verdict { label, success: found.success.unwrap(), score: found.score.unwrap() };
        verdicts.push((verdict, signs.collect()));
        ControlFlow::Continue(())
    };
    let traces = open("traces.jsonl");
    readers::read(traces.as_bytes(), "traces.jsonl", None, &options, &mut judge).unwrap();
    assert_eq!((evaluator.unlabelled(), evaluator.unseen()), (0, 0));
    verdicts
}

/// The agreement on each fold with the threshold that is best on the others. Weights are fixed, so nothing else is fitted.
fn cross_validated(verdicts: &[Verdict]) -> f64 {
    const FOLDS: usize = 5;
    const REPETITIONS: u64 = 40;
    let mut random = generator();
    let mut sum = 0.0;
    for _ in 0..REPETITIONS {
        let mut order: Vec<usize> = (0..verdicts.len()).collect();
        for index in (1..order.len()).rev() {
            order.swap(index, random(index + 1));
        }
        let mut held = Vec::new();
        for fold in 0..FOLDS {
            let (test, training): (Vec<usize>, Vec<usize>) =
                (0..order.len()).partition(|place| place % FOLDS == fold);
            let training: Vec<Verdict> =
                training.iter().map(|place| verdicts[order[*place]]).collect();
            let threshold = best_threshold(&training);
            held.extend(test.iter().map(|place| at(verdicts[order[*place]], threshold)));
        }
        sum += kappa(&held);
    }
    sum / REPETITIONS as f64
}

/// Repeatable random numbers below a bound.
fn generator() -> impl FnMut(usize) -> usize {
    let mut state = 7_u64;
    move |bound| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    }
}

/// The agreement that 95 of 100 sets of weights reach, each weight between half and one and a half of its value.
fn shaken(judged: &[(Verdict, Vec<(String, f64)>)]) -> f64 {
    const TRIES: usize = 1_000;
    let mut random = generator();
    let mut found: Vec<f64> = (0..TRIES)
        .map(|_| {
            let mut factors: HashMap<&str, f64> = HashMap::new();
            let moved: Vec<Verdict> = judged
                .iter()
                .map(|(verdict, signs)| {
                    let mut risk = 0.0;
                    for (sign, weight) in signs {
                        let factor = factors
                            .entry(sign)
                            .or_insert_with(|| 0.5 + random(1_001) as f64 / 1_000.0);
                        risk += weight * *factor;
                    }
                    Verdict { success: risk <= 0.5, ..*verdict }
                })
                .collect();
            kappa(&moved)
        })
        .collect();
    found.sort_by(f64::total_cmp);
    found[TRIES / 20]
}

fn at(verdict: Verdict, threshold: f64) -> Verdict {
    Verdict { success: verdict.score >= threshold, ..verdict }
}

fn best_threshold(verdicts: &[Verdict]) -> f64 {
    let candidates = (1..20).map(|step| f64::from(step) / 20.0);
    let scored = candidates.map(|threshold| {
        let moved: Vec<Verdict> = verdicts.iter().map(|verdict| at(*verdict, threshold)).collect();
        (kappa(&moved), threshold)
    });
    // Of equally good thresholds the one nearest to the default.
    let better = |best: (f64, f64), one: (f64, f64)| {
        let nearer = (one.1 - 0.5).abs() < (best.1 - 0.5).abs();
        if one.0 > best.0 + 1e-9 || (one.0 > best.0 - 1e-9 && nearer) { one } else { best }
    };
    scored.reduce(better).map_or(0.5, |(_, threshold)| threshold)
}

fn kappa(verdicts: &[Verdict]) -> f64 {
    let n = verdicts.len() as f64;
    let share =
        |is: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count() as f64 / n;
    let (right, label, success) =
        (share(Verdict::is_right), share(|v| v.label), share(|v| v.success));
    let chance = label * success + (1.0 - label) * (1.0 - success);
    if chance < 1.0 { (right - chance) / (1.0 - chance) } else { 0.0 }
}
