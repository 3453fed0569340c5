//! Jobs of one engine share neither results nor events nor secrets.

use std::sync::{Arc, Mutex};

use quintain_engine::jobs::{RunRequest, Work};
use quintain_engine::store::{RunEnd, RunFilter, RunState};
use quintain_evidence::event::Event;
use serde_json::json;

use super::{Fixture, essence, finish};

/// A credential that only one job is configured with.
const CREDENTIALS: [&str; 3] =
    ["credential-of-a-81c2", "credential-of-b-94d7", "credential-of-c-06e5"];

/// Two attacks and a suite, each with its own target and its own credential. The suite also lets its target return the
/// credentials of the other two, which it does not know as secrets.
fn three_requests(place: &Fixture, round: &str) -> Vec<RunRequest> {
    let mut requests = vec![
        place.redteam(&format!("redteam-a{round}"), "0"),
        place.redteam(&format!("redteam-b{round}"), "0.001"),
        place.eval(&format!("eval-c{round}"), "0.01", 40),
    ];
    for (request, credential) in requests.iter_mut().zip(CREDENTIALS) {
        match &mut request.work {
            Work::Redteam(work) => {
                work.target.env.push(("API_TOKEN".to_owned(), credential.to_owned()));
                if request.id.starts_with("redteam-b") {
                    work.target.command.push("safe".to_owned());
                }
            }
            Work::Eval(work) => {
                let mut suite: serde_json::Value =
                    serde_json::from_str(&work.suite[0].text).unwrap();
                suite["targets"][0]["config"]["server"]["env"] = json!({"API_TOKEN": credential});
                let tests = suite["tests"].as_array_mut().unwrap();
                tests.push(json!({"vars": {"at": "os.environ['API_TOKEN']"}}));
                let others = CREDENTIALS[..2].iter();
                tests.extend(others.map(|one| json!({"vars": {"at": format!("'{one}'")}})));
                work.suite[0].text = suite.to_string().into();
            }
            _ => unreachable!(),
        }
    }
    requests
}

#[tokio::test(flavor = "multi_thread")]
async fn three_jobs_at_once_come_to_the_same_as_one_after_the_other() {
    let place = Fixture::new().await;
    let mut alone = Vec::new();
    for request in three_requests(&place, "1") {
        alone.push(essence(&finish(place.start(request).await).await.1));
    }
    let jobs = place.jobs();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut together = Vec::new();
    for request in three_requests(&place, "2") {
        let (id, order) = (request.id.clone(), order.clone());
        let mut handle = jobs.submit(request, &mut |_| {}).await.unwrap();
        let following = tokio::spawn(async move {
            let mut events = Vec::new();
            while let Some(event) = handle.next().await {
                order.lock().unwrap().push(event.run.to_string());
                events.push(event);
            }
            (events, handle.outcome().await.unwrap())
        });
        together.push((id, following));
    }
    let mut texts = Vec::new();
    for (at, (id, job)) in together.into_iter().enumerate() {
        let (events, outcome) = job.await.unwrap();
        assert_eq!(essence(&outcome), alone[at], "{id}");
        assert!(events.iter().all(|event| *event.run == *id), "events of another run");
        let numbers: Vec<u64> = events.iter().map(|event| event.sequence).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "{id}");
        assert!(matches!(events.last().map(|event| &event.event), Some(Event::Finished(_))));
        texts.push(serde_json::to_string(&events).unwrap());
    }
    // The targets differ, and so do the results.
    assert!(alone[0].2.iter().any(|(rule, _)| rule == "code-injection"), "{:?}", alone[0]);
    assert!(!alone[1].2.iter().any(|(rule, _)| rule == "code-injection"), "{:?}", alone[1]);
    assert_eq!((alone[2].0, alone[2].1), (43, 0));
    // Events of every two jobs alternate.
    let order = order.lock().unwrap().clone();
    let span = |id: &str| {
        let first = order.iter().position(|run| run.starts_with(id)).unwrap();
        (first, order.iter().rposition(|run| run.starts_with(id)).unwrap())
    };
    let spans = ["redteam-a", "redteam-b", "eval-c"].map(span);
    let latest_start = spans.iter().map(|(first, _)| *first).max().unwrap();
    let first_end = spans.iter().map(|(_, last)| *last).min().unwrap();
    assert!(latest_start < first_end, "the jobs ran one after the other: {order:?}");
    // Every job masks its own credential, and does not know those of the others.
    for (text, own) in texts.iter().zip(CREDENTIALS) {
        assert!(!text.contains(own), "{own} is not masked");
    }
    for other in &CREDENTIALS[..2] {
        assert!(texts[2].contains(other), "{other} of another job is masked");
    }
    let later = jobs.submit(place.eval("eval-d2", "0", 1), &mut |_| {}).await.unwrap();
    finish(later).await;
    let known = jobs.world.redactor.text(CREDENTIALS[2]);
    assert_eq!(known, CREDENTIALS[2], "the client learned a secret of a job");
    let runs = place.store.runs(&RunFilter::default()).await.unwrap();
    assert_eq!(runs.len(), 7);
    assert!(runs.iter().all(|run| run.state == RunState::Ended(RunEnd::Finished)), "{runs:?}");
}
