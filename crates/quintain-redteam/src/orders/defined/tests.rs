use std::path::Path;

use quintain_evidence::evidence::{Evidence, Observation, Outcome};
use quintain_source::{Diagnostics, Severity as Weight, SourceFile, Sources};
use serde_json::json;

use super::*;
use crate::attacks::testing::{TestTarget, answers, args, comes};
use quintain_suite::demands::DemandReader;
use quintain_suite::suite::NoFiles;

fn read(text: &str) -> (Option<Defined>, Vec<&'static str>) {
    let mut sources = Sources::new();
    let mut dx = Diagnostics::new();
    let id = sources.add(SourceFile::new("x.yaml", text));
    let node = quintain_source::read(&sources, id, &mut dx).unwrap();
    let demands = &DemandReader { files: &NoFiles };
    let reading = Reading {
        base_dir: Path::new(""),
        strictness: Weight::Error,
        receiver: crate::suits::Receiver::Arguments,
        judge: None,
        demands,
    };
    let defined = Defined::read(&node, &reading, false, &mut dx);
    (defined, dx.iter().map(|found| found.code).collect())
}

fn attack(text: &str) -> Defined {
    let (defined, codes) = read(text);
    assert!(codes.is_empty(), "{codes:?}");
    defined.unwrap()
}

fn payload(attempt: &Attempt) -> String {
    attempt.payload.as_ref().unwrap().as_str().unwrap().to_owned()
}

fn room() -> TestTarget {
    TestTarget::with_argument("ping", "host", "127.0.0.1")
}

fn confidences(attack: &Defined, answer: impl Fn(&Attempt) -> Evidence) -> Vec<Confidence> {
    room().run_attack(attack, answer).iter().map(|hit| hit.confidence).collect()
}

const MULTIPLIES: &str = "{id: x, payloads: ['{{value}}{{open}}{{number}}*{{other}}{{close}}'], proof: {answer: '{{product}}'}}";

#[test]
fn a_computed_value_is_proof_and_an_echo_is_none() {
    let attack = attack(MULTIPLIES);
    let product = |attempt: &Attempt| {
        let text = payload(attempt);
        let numbers = text.trim_start_matches("127.0.0.1{{").trim_end_matches("}}");
        let (a, b) = numbers.split_once('*').unwrap();
        answers(&format!("= {}", a.parse::<u64>().unwrap() * b.parse::<u64>().unwrap()))
    };
    assert_eq!(confidences(&attack, product), [Confidence::Confirmed]);
    assert!(confidences(&attack, |attempt| answers(&payload(attempt))).is_empty());
}

#[test]
fn what_an_echo_explains_is_suspected() {
    let echo = |attempt: &Attempt| answers(&payload(attempt));
    let nonce = attack("{id: x, payloads: ['{{nonce}}'], proof: {answer: '{{nonce}}'}}");
    assert_eq!(confidences(&nonce, echo), [Confidence::Suspected]);
    let pattern = attack("{id: x, payloads: ['<script>'], proof: {matches: '<script'}}");
    assert_eq!(confidences(&pattern, echo), [Confidence::Suspected]);
    let demand = attack(
        "{id: x, payloads: ['secret!'], proof: {assert: [{type: not-contains, value: secret}]}}",
    );
    assert_eq!(confidences(&demand, echo), [Confidence::Suspected]);
    let secret = |_: &Attempt| answers("the secret is 42");
    let blind =
        attack("{id: x, payloads: ['a'], proof: {assert: [{type: not-contains, value: secret}]}}");
    assert_eq!(confidences(&blind, secret), [Confidence::Confirmed]);
}

#[test]
fn what_the_innocent_call_shows_too_is_nothing() {
    let weak = attack("{id: x, payloads: ['a'], proof: [{matches: o.}, differs]}");
    assert!(confidences(&weak, |_| answers("ok")).is_empty());
    assert_eq!(confidences(&weak, |_| answers("no")), [Confidence::Suspected]);
    let uid = attack("{id: x, payloads: [';id'], proof: {matches: 'uid=\\d+'}}");
    assert_eq!(confidences(&uid, |_| answers("uid=0(root)")), [Confidence::Confirmed]);
}

#[test]
fn traces_outside_of_the_wire_are_proof() {
    let with =
        |observation: Observation| Evidence { observations: vec![observation], ..answers("ok") };
    let marker = attack("{id: x, payloads: ['$(touch {{marker}})'], proof: {file: '{{marker}}'}}");
    assert_eq!(marker.needs(), [Need::SameHost]);
    let file = |path: String| with(Observation::File { path: path.into(), content: String::new() });
    let made = |attempt: &Attempt| file(format!("/canaries/drop/{}", attempt.nonce));
    assert_eq!(confidences(&marker, made), [Confidence::Confirmed]);
    assert!(confidences(&marker, |_| file("/canaries/drop/other".into())).is_empty());
    let flag = attack(
        "{id: x, payloads: ['--output={{marker}}'], proof: {program: 'g*', argument: '--output=*'}}",
    );
    let program = |_: &Attempt| {
        let arguments = vec!["--output=x".to_owned()];
        with(Observation::Program { program: "git".into(), arguments })
    };
    assert_eq!(confidences(&flag, program), [Confidence::Confirmed]);
    let exit = attack("{id: x, payloads: ['x'], proof: exit}");
    let ended = |_: &Attempt| with(Observation::Exit { why: "signal".into() });
    assert_eq!(room().run_attack(&exit, ended)[0].fault, "death");
}

#[test]
fn errors_count_if_the_innocent_call_has_none() {
    let attack = attack("{id: x, payloads: ['x'], proof: {error: -32603}}");
    let error = |code: i64| comes(Outcome::RpcError { code, message: "oops".into(), data: None });
    assert_eq!(confidences(&attack, |_| error(-32603)), [Confidence::Confirmed]);
    assert!(confidences(&attack, |_| error(-32602)).is_empty());
}

#[test]
fn whole_calls_are_made_as_they_stand() {
    let attack = attack(
        "id: x\nprobes:\n- {tool: ping, args: {host: '{{nonce}}'}}\n- '{\"tool\": \"hidden\"}'\nproof: accepted",
    );
    let room = room();
    let view = room.view();
    let places: Vec<String> = attack.aims(&view).iter().map(|aim| aim.place.to_string()).collect();
    assert_eq!(places, ["ping", "hidden"]);
    let hits = room.run_attack(&attack, |attempt| match args(attempt).get("host") {
        Some(host) => {
            assert_eq!(*host, json!(attempt.nonce.as_str()));
            answers("pong")
        }
        None => answers("Error: no such tool"),
    });
    assert_eq!(hits.len(), 1);
    assert!(hits[0].title.starts_with("ping: x (call 1)"), "{}", hits[0].title);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let (_, codes) = read(
        "id: pii\nseverity: bad\ncwe: [x]\nframeworks: [MCP99]\naim: {kinds: [paths], tool: a}\n\
         payloads: ['{{nonse}}', {text: a, frm: b}]\n\
         proof: [{matches: '('}, listener, {error: slow}, {assert: [{type: llm-rubric, value: x}]}]\nbogus: 1\n",
    );
    assert_eq!(
        codes,
        [
            "config::taken-name",
            "config::unknown-value",
            "config::wrong-type",
            "config::unknown-value",
            "config::unknown-value",
            "config::unknown-key",
            "config::unknown-placeholder",
            "config::unknown-key",
            "config::bad-pattern",
            "config::unknown-value",
            "config::unprovable",
            "config::unknown-key",
        ]
    );
    let (_, codes) = read("{id: x, payloads: [a], proof: [listener, file]}");
    assert_eq!(codes, ["config::unprovable", "config::unprovable"]);
    assert_eq!(read("{id: x, probes: [words], proof: exit}").1, ["config::no-probe"]);
    assert_eq!(
        read("{id: x, probes: [{tool: a}], aim: all, proof: exit}").1,
        ["config::useless-key"]
    );
    let missing = ["config::missing-key", "config::missing-key", "config::missing-key"];
    assert_eq!(read("{summary: x}").1, missing);
}
