//! Inquiries through the engine: rounds, shared questions, limits, stored answers.

use std::collections::BTreeMap;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_evidence::evidence::{Evidence, Exchange};
use quintain_evidence::inquiry::{Inquiry, MAX_ROUNDS, Next, Rounds};
use quintain_evidence::probe::Step;
use quintain_evidence::question::{Answer, Question, Reaction, TurnMessage, TurnReply};
use quintain_redteam::strategies::{Done, StrategyKind, parse};
use quintain_suite::suite::Consent;
use quintain_wire::redact::Redactor;
use secrecy::SecretString;
use serde_json::{Map, json};

use super::{AnswerSources, AskMode, AskTarget, Asker};
use crate::external_services::ExternalServices;
use crate::world::World;

fn answer_sources(mode: AskMode) -> AnswerSources<'static> {
    known_to(mode, Redactor::default())
}

fn known_to(mode: AskMode, redactor: Redactor) -> AnswerSources<'static> {
    let world = World { redactor, ..World::default() };
    let external_services = ExternalServices::new(Consent::of_the_user(), BTreeMap::new(), &world);
    AnswerSources::new(external_services, mode, 4)
}

/// A target that answers each call with the number of calls so far, and replies to messages.
#[derive(Default)]
struct Counting {
    calls: AtomicUsize,
    heard: Mutex<Vec<String>>,
}

impl Counting {
    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl AskTarget for Counting {
    fn call<'f>(&'f self, _: &'f Step) -> BoxFuture<'f, Result<Exchange, String>> {
        let nth = self.calls.fetch_add(1, Ordering::SeqCst);
        async move { Ok(Exchange::answered(&nth.to_string())) }.boxed()
    }

    fn say<'f>(&'f self, message: &'f TurnMessage) -> BoxFuture<'f, Answer> {
        let mut heard = self.heard.lock().unwrap();
        heard.push(message.text.clone());
        let reaction = if heard.len() == 3 { Reaction::Hit } else { Reaction::Answered };
        let text = "Well.".to_owned();
        async move { Answer::Reply(TurnReply { text, reaction }) }.boxed()
    }
}

fn call(method: &str, nth: usize) -> Question {
    let (method, params) = (method.to_owned(), Map::new());
    Question::Call { step: Step::Request { method, params, server: None }, nth }
}

/// Calls `first`, then a method named after the answer, then returns both answers.
struct TwoSteps {
    first: &'static str,
}

impl Inquiry for TwoSteps {
    type Conclusion = Vec<String>;

    fn next(&self, _: &Evidence, rounds: &Rounds) -> Next<Vec<String>> {
        let said: Vec<String> = rounds
            .answers()
            .map(|answer| match answer {
                Answer::Exchange(exchange) => exchange.outcome.texts().concat(),
                other => format!("{other:?}"),
            })
            .collect();
        match &said[..] {
            [] => Next::Ask(vec![call(self.first, 0)]),
            [first] => Next::Ask(vec![call(&format!("after-{first}"), 0)]),
            _ => Next::Done(said),
        }
    }

    fn unfinished(&self) -> Vec<String> {
        vec!["unfinished".to_owned()]
    }
}

/// Asks something new in each round.
struct Endless;

impl Inquiry for Endless {
    type Conclusion = &'static str;

    fn next(&self, _: &Evidence, rounds: &Rounds) -> Next<&'static str> {
        Next::Ask(vec![call("ping", rounds.len())])
    }

    fn unfinished(&self) -> &'static str {
        "unfinished"
    }
}

#[tokio::test]
async fn the_second_question_depends_on_the_first_answer() {
    let (answer_sources, target) = (answer_sources(AskMode::Missing), Counting::default());
    let asker = Asker { answer_sources: &answer_sources, target: Some(&target), repetition: 0 };
    let mut evidence = Evidence::default();
    let outcomes = asker.run_rounds(&[TwoSteps { first: "a" }], &mut evidence).await;
    assert_eq!(outcomes, [["0", "1"]]);
    let methods: Vec<_> = evidence.extra.iter().map(|extra| extra.step.clone()).collect();
    let Step::Request { method, .. } = &methods[1] else { panic!("a request") };
    assert_eq!(method, "after-0");
}

#[tokio::test]
async fn the_same_question_is_asked_once() {
    let (answer_sources, target) = (answer_sources(AskMode::Missing), Counting::default());
    let asker = Asker { answer_sources: &answer_sources, target: Some(&target), repetition: 0 };
    let mut evidence = Evidence::default();
    let twice = [TwoSteps { first: "a" }, TwoSteps { first: "a" }];
    let outcomes = asker.run_rounds(&twice, &mut evidence).await;
    assert_eq!(outcomes, [["0", "1"], ["0", "1"]], "both get the same answers");
    assert_eq!((target.calls(), evidence.extra.len(), evidence.answers.len()), (2, 2, 2));
    assert!(evidence.answers.iter().all(|record| record.cost.calls == 1));
    asker.run_rounds(&twice, &mut evidence).await;
    assert_eq!(target.calls(), 2, "a later round does not ask again");
    let answers = asker.ask(&[call("a", 0), call("a", 1), call("a", 1)], &mut evidence).await;
    assert_eq!((target.calls(), answers.len()), (3, 3), "one more call was necessary");
    assert_eq!(answers[1], answers[2]);
    assert_ne!(answers[0], answers[1]);
}

#[tokio::test]
async fn an_inquiry_that_never_ends_is_stopped() {
    let (answer_sources, target) = (answer_sources(AskMode::Missing), Counting::default());
    let asker = Asker { answer_sources: &answer_sources, target: Some(&target), repetition: 0 };
    let outcomes = asker.run_rounds(&[Endless], &mut Evidence::default()).await;
    assert_eq!((outcomes, target.calls()), (vec!["unfinished"], MAX_ROUNDS));
}

#[tokio::test]
async fn stored_answers_are_used_again_and_offline_asks_nothing() {
    let (live, target) = (answer_sources(AskMode::Missing), Counting::default());
    let asker = Asker { answer_sources: &live, target: Some(&target), repetition: 0 };
    let mut evidence = Evidence::default();
    asker.run_rounds(&[TwoSteps { first: "a" }], &mut evidence).await;
    let stored = serde_json::to_string(&evidence).unwrap();
    let mut evidence: Evidence = serde_json::from_str(&stored).unwrap();
    AskMode::Nothing.keep_answers(&mut evidence);
    let offline = answer_sources(AskMode::Nothing);
    let asker = Asker { answer_sources: &offline, target: Some(&target), repetition: 0 };
    let outcomes = asker.run_rounds(&[TwoSteps { first: "a" }], &mut evidence).await;
    assert_eq!((outcomes, target.calls()), (vec![vec!["0".to_owned(), "1".to_owned()]], 2));
    let unknown = asker.ask_one(call("b", 0), &mut evidence).await;
    assert!(matches!(unknown, Answer::Unavailable(why) if why.contains("--offline")));
    assert_eq!((target.calls(), evidence.answers.len()), (2, 2), "no answer is stored");
}

#[tokio::test]
async fn calls_of_older_runs_are_known_without_records() {
    let (answer_sources, target) = (answer_sources(AskMode::Missing), Counting::default());
    let asker = Asker { answer_sources: &answer_sources, target: Some(&target), repetition: 0 };
    let mut evidence = Evidence::default();
    asker.ask_one(call("a", 0), &mut evidence).await;
    evidence.answers.clear();
    let answer = asker.ask_one(call("a", 0), &mut evidence).await;
    assert!(matches!(answer, Answer::Exchange(_)));
    assert_eq!(target.calls(), 1);
}

#[tokio::test]
async fn what_failed_or_is_on_disk_is_asked_again() {
    let answer_sources = answer_sources(AskMode::Missing);
    let asker = Asker { answer_sources: &answer_sources, target: None, repetition: 0 };
    let folder = tempfile::tempdir().unwrap();
    let file = quintain_evidence::kept_file::KeptFile::new(folder.path(), "a.snap");
    let post = Question::Post { url: "no address".to_owned(), body: json!(null) };
    let mut evidence = Evidence::default();
    let answers = asker.ask(&[post, Question::Read(file)], &mut evidence).await;
    assert!(matches!(&answers[..], [Answer::Failed(_), Answer::Value(_)]), "{answers:?}");
    let kept = |mode: AskMode| {
        let mut evidence = evidence.clone();
        mode.keep_answers(&mut evidence);
        evidence.answers.len()
    };
    let counts = [AskMode::Missing, AskMode::Nothing, AskMode::Again].map(kept);
    assert_eq!(counts, [0, 2, 0]);
}

#[tokio::test]
async fn questions_are_kept_without_secrets() {
    let redactor = Redactor::default();
    redactor.learn(&SecretString::from("s3cr3t-canary"));
    let (answer_sources, target) = (known_to(AskMode::Missing, redactor), Counting::default());
    let asker = Asker { answer_sources: &answer_sources, target: Some(&target), repetition: 0 };
    let mut evidence = Evidence::default();
    asker.ask_one(call("s3cr3t-canary", 0), &mut evidence).await;
    let kept = serde_json::to_string(&evidence.answers).unwrap();
    assert!(!kept.contains("canary"), "{kept}");
}

#[tokio::test]
async fn conversations_are_inquiries() {
    let tactic = parse(&json!("crescendo")).expect("no mistakes").remove(0);
    let StrategyKind::Talk(talk) = tactic.kind() else { panic!("a conversation") };
    let (answer_sources, target) = (answer_sources(AskMode::Missing), Counting::default());
    let asker = Asker { answer_sources: &answer_sources, target: Some(&target), repetition: 0 };
    let mut evidence = Evidence::default();
    let outcomes = asker.run_rounds(&[talk.about("show the log", 7)], &mut evidence).await;
    assert_eq!(outcomes, [Done::Hit]);
    assert_eq!(target.heard.lock().unwrap().len(), 3);
    assert_eq!(evidence.answers.len(), 3, "every reply is evidence");
    let led = json!({"id": "mischievous-user", "config": {"adversary": "model"}});
    let led = parse(&led).expect("no mistakes").remove(0);
    let StrategyKind::Talk(talk) = led.kind() else { panic!("a conversation") };
    let outcomes = asker.run_rounds(&[talk.about("x", 7)], &mut Evidence::default()).await;
    assert_eq!(
        outcomes,
        [Done::Unanswered(
            "no model is named (`redteam.provider` or `redteamProvider`)".to_owned()
        )]
    );
}
