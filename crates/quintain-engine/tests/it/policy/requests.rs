//! What a request itself names, and kinds of work other than a run of a suite.

use std::sync::Arc;

use quintain_engine::inquiry::AskMode;
use quintain_engine::jobs::{
    EvalWork, GradeWork, RedteamWork, RejudgeWork, ReplayWork, TargetRequest, TraceInput, Work,
};
use quintain_engine::store::RunFilter;
use quintain_engine::{Access, Policy, Store};
use quintain_evidence::code::Language;
use serde_json::json;

use super::DENIED;
use super::bench::{Bench, CANARY, VARIABLE, tell};

#[tokio::test(flavor = "multi_thread")]
async fn judging_again_is_under_the_policy_too() {
    let bench = Bench::new().await;
    let store = Store::open(&bench.path("state")).await.unwrap();
    let plain =
        json!({"targets": ["echo"], "prompts": ["said"], "tests": [{"vars": {"word": "x"}}]});
    let work = EvalWork { suite: vec![bench.text(&plain)], ..EvalWork::default() };
    bench.submit(Work::Eval(Box::new(work)), &Policy::nothing(), Some(&store)).await;
    let run = store.runs(&RunFilter::default()).await.unwrap().swap_remove(0).id;
    let judged = |kind: &str, value: &str| {
        let mut suite = plain.clone();
        suite["tests"][0]["assert"] = json!([{"type": kind, "value": value}]);
        Work::Rejudge(Box::new(RejudgeWork {
            run: run.clone(),
            suite: vec![bench.text(&suite)],
            extra_texts: Vec::new(),
            update_snapshots: true,
            ask: AskMode::default(),
            models: quintain_engine::models::ModelSettings::default(),
        }))
    };
    let python = format!("open({:?}, 'w').write('x') and True", bench.path("made"));
    let url = bench.peer.url("/");
    let asked = [
        ("webhook", url.as_str()),
        ("snapshot", "secret/a.snap"),
        ("python", &python),
        ("equals", "file://secret/prompt.txt"),
        ("equals", "{{env.PLAIN_VARIABLE}}"),
        ("ruby", "true"),
        ("javascript", "true"),
    ];
    for (kind, value) in asked {
        let told = bench.submit(judged(kind, value), &Policy::nothing(), Some(&store)).await;
        assert!(told.contains(DENIED), "{kind}\n{told}");
        assert!(!told.contains(CANARY) && !told.contains(VARIABLE), "{kind}\n{told}");
    }
    assert_eq!(bench.peer.connections(), 0);
    assert_eq!((bench.written("secret/a.snap"), bench.written("made")), (None, None));
    // The same with what it takes.
    let policy = Policy {
        addresses: Access::Only(vec!["loopback".parse().unwrap()]),
        interpreters: Access::Only(vec![Language::Python]),
        variables: Access::Only(vec!["PATH".to_owned(), "HOME".to_owned()]),
        ..Policy::nothing()
    };
    for (kind, value) in [("webhook", url.as_str()), ("python", &python)] {
        let told = bench.submit(judged(kind, value), &policy, Some(&store)).await;
        assert!(!told.contains(DENIED), "{kind}\n{told}");
    }
    assert!(bench.peer.connections() > 0 && bench.written("made").is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_request_names_needs_the_policy_as_what_a_suite_names() {
    let bench = Bench::new().await;
    let made = bench.path("made").display().to_string();
    let command = ["touch", &made].map(str::to_owned).to_vec();
    let targets = [
        ("command", TargetRequest { command: command.clone(), ..TargetRequest::default() }),
        ("url", TargetRequest { url: Some(bench.peer.url("/")), ..TargetRequest::default() }),
        (
            "variable",
            TargetRequest {
                command: ["true"].map(str::to_owned).to_vec(),
                env: vec![("LD_PRELOAD".to_owned(), made.clone())],
                ..TargetRequest::default()
            },
        ),
        (
            "cwd",
            TargetRequest {
                command: ["true"].map(str::to_owned).to_vec(),
                cwd: Some(bench.path("secret")),
                ..TargetRequest::default()
            },
        ),
    ];
    let policy = Policy { commands: Access::Only(vec!["true".to_owned()]), ..Policy::nothing() };
    for (what, target) in targets {
        let suite = Vec::new();
        let attack = RedteamWork { target: target.clone(), ..RedteamWork::default() };
        let replay = ReplayWork {
            suite,
            target,
            findings: Vec::new(),
            partial: true,
            destructive: quintain_redteam::orders::Destructive::default(),
            allow_remote: true,
        };
        for work in [Work::Redteam(Box::new(attack)), Work::Replay(Box::new(replay))] {
            let told = bench.submit(work, &policy, None).await;
            assert!(told.contains(DENIED), "{what}\n{told}");
        }
    }
    assert_eq!((bench.peer.connections(), bench.written("made")), (0, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_of_a_request_start_no_other_program() {
    let bench = Bench::new().await;
    let suite = json!({"targets": ["file://open/provider.py"], "prompts": ["x"]});
    let evil = bench.path("open/evil").display().to_string();
    let policy = Policy {
        interpreters: Access::Only(vec![Language::Python]),
        files: Access::Only(vec![bench.path("open")]),
        ..Policy::nothing()
    };
    for (name, asked) in [
        ("PROMPTFOO_PYTHON", format!("command `{evil}`")),
        ("PYTHONPATH", "variable `PYTHONPATH`".to_owned()),
    ] {
        let variables = [(name.to_owned(), evil.clone())].into();
        let work = EvalWork { suite: vec![bench.text(&suite)], variables, ..EvalWork::default() };
        let told = bench.submit(Work::Eval(Box::new(work)), &policy, None).await;
        assert!(told.contains(DENIED) && told.contains(&asked), "{told}");
    }
    assert_eq!(bench.written("made"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_cannot_widen_the_policy_of_its_surroundings() {
    let bench = Bench::new().await;
    let suite = json!({"targets": ["echo"], "prompts": ["file://secret/prompt.txt", "file://open/prompt.js"]});
    let work = || {
        let work = EvalWork { suite: vec![bench.text(&suite)], ..EvalWork::default() };
        Work::Eval(Box::new(work))
    };
    let of = |folder: &str| Policy {
        files: Access::Only(vec![bench.path(folder)]),
        interpreters: Access::Only(vec![Language::JavaScript]),
        ..Policy::nothing()
    };
    let whole = Policy { files: Access::Only(vec![bench.folder().to_owned()]), ..of("open") };
    for (outer, inner, is_read) in [
        (Policy::everything(), Policy::everything(), true),
        (Policy::everything(), of("open"), false),
        (of("open"), Policy::everything(), false),
        (of("open"), of("secret"), false),
        (whole.clone(), of("open"), false),
        (of("open"), whole.clone(), false),
        (whole.clone(), whole, true),
    ] {
        let jobs = bench.jobs(None).under(Arc::new(outer.clone()));
        let told = tell(&jobs, work(), &inner).await;
        assert_eq!(told.contains(CANARY), is_read, "{outer:?} {inner:?}\n{told}");
        assert_eq!(told.contains(DENIED), !is_read, "{outer:?} {inner:?}\n{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn grading_reads_only_what_the_policy_names_and_the_runs_of_its_owner() {
    let bench = Bench::new().await;
    let store = Store::open(&bench.path("state")).await.unwrap();
    let file = bench.path("secret/prompt.txt");
    let grade = |work: GradeWork| Work::Grade(Box::new(work));
    let of_file = || {
        grade(GradeWork { inputs: vec![TraceInput::File(file.clone())], ..GradeWork::default() })
    };
    let text = r#"[{"input": "hello", "actual_output": "hi"}]"#.to_owned();
    let own = TraceInput::Text { name: "own".to_owned(), text };
    let with_surface = grade(GradeWork {
        inputs: vec![own.clone()],
        surface: Some(file.clone()),
        ..GradeWork::default()
    });
    for work in [of_file(), with_surface] {
        let told = bench.submit(work, &Policy::nothing(), Some(&store)).await;
        assert!(told.contains(DENIED), "{told}");
        assert!(!told.contains(CANARY), "{told}");
    }
    // The same with what it takes: the file is read, and is not a trace.
    let policy = Policy { files: Access::Only(vec![file.clone()]), ..Policy::nothing() };
    let told = bench.submit(of_file(), &policy, Some(&store)).await;
    assert!(!told.contains(DENIED), "{told}");
    // A run of another owner does not exist, by its id or as the latest.
    let told = bench
        .submit(
            grade(GradeWork { inputs: vec![own], ..GradeWork::default() }),
            &Policy::nothing(),
            Some(&store),
        )
        .await;
    assert!(!told.contains(DENIED), "{told}");
    let stored = store.runs(&RunFilter::default()).await.unwrap();
    let run = stored.first().unwrap();
    for wanted in [run.id.as_str(), "latest"] {
        let inputs = vec![TraceInput::Run(wanted.to_owned())];
        let work = grade(GradeWork { inputs, ..GradeWork::default() });
        let told = bench.submit_as("somebody", work, &Policy::nothing(), Some(&store)).await;
        assert!(told.contains("no run"), "{told}");
    }
}
