//! A fixed red-team run in every format.

use std::time::Duration;

use quintain_evidence::event::{Column, RunInfo};
use quintain_evidence::evidence::{Evidence, Exchange, Observation, Outcome};
use quintain_evidence::finding::{Accepted, Confidence, Finding, FindingProof, Place, Severity};
use quintain_evidence::redteam_report::Silent;
use quintain_evidence::redteam_report::{
    AttackReport, Chain, DisclosedValue, FileChange, FileChangeKind, Insight, NotRun, PhaseTime,
    RedteamReport, ToolCoverage,
};
use quintain_evidence::redteam_report::{Coverage, CoverageState, Covered};
use quintain_evidence::result::{CaseResult, SourcePlace as Written};
use quintain_evidence::tally::Summary;
use quintain_evidence::verdict::Verdict;
use quintain_redteam::summary::{interval, risk};
use serde_json::{Map, Value, json};

use super::fixture::{self, Case, HOSTILE};
use super::{golden, options, render};
use crate::{Options, Reporter, all, find};

// No names of real attacks, because their documentation is not part of these files.
const ATTACKS: [(&str, usize, usize); 5] =
    [("x-shell", 4, 1), ("x-paths", 3, 2), ("x-links", 2, 2), ("x-errors", 9, 1), ("x-idle", 0, 0)];

pub(super) fn run(planned: usize) -> RunInfo {
    let target = fixture::server();
    let column =
        Column { target, prompt_idx: 0, raw: "{{prompt}}".into(), label: "{{prompt}}".into() };
    RunInfo {
        id: "redteam-abc-2026-01-02T03:04:05Z".into(),
        config: Value::Null,
        columns: vec![column],
        ..fixture::run(planned)
    }
}

fn argument(tool: &str, pointer: &str) -> Place {
    Place::Argument { server: "payments".into(), tool: tool.into(), pointer: pointer.into() }
}

fn exchange(arguments: Value, outcome: Outcome) -> Exchange {
    let exchange = Exchange::called("payments", "ping", arguments, outcome);
    exchange.within(Duration::from_micros(4_321))
}

fn reply(text: &str) -> Outcome {
    Outcome::says(text)
}

fn proof(form: &str, what: &str, payload: &str, observations: Vec<Observation>) -> FindingProof {
    let call = exchange(json!({"host": payload}), reply(&format!("answer to {payload}")));
    FindingProof {
        form: form.into(),
        what: what.into(),
        payload: Some(json!(payload)),
        baseline: Some(Evidence {
            exchanges: vec![exchange(json!({"host": "localhost"}), reply("1 packet"))],
            ..Evidence::default()
        }),
        attempt: Evidence { exchanges: vec![call], observations, ..Evidence::default() },
        pointer: None,
        sign: None,
        identity: None,
    }
}

fn finding(
    rule: &str,
    severity: Severity,
    place: Place,
    title: &str,
    proofs: Vec<FindingProof>,
) -> Finding {
    let fingerprint = format!("{:032x}", rule.len() * 1_000 + title.len());
    Finding {
        id: format!("F-{}", &fingerprint[24..]),
        rule: rule.into(),
        title: title.into(),
        severity,
        confidence: Confidence::Confirmed,
        target: "payments".into(),
        tool: place.tool().map(str::to_owned),
        argument: place.argument(),
        place,
        cwe: vec![78],
        owasp: vec!["MCP05".into(), "ASI05".into()],
        proofs,
        reproduce: Some(
            "quintain call ping '{\"host\":\";expr 6 \\\\* 7 #\"}' -- python3 server.py".into(),
        ),
        replay: Some("quintain replay F-00000042 -- python3 server.py".into()),
        fingerprint,
        trial: None,
        group: None,
        places: Vec::new(),
        strategies: Vec::new(),
        note: None,
        written: None,
        accepted: None,
        steps: Vec::new(),
        metadata: Map::new(),
    }
}

fn findings() -> Vec<Finding> {
    let marker = Observation::File { path: "/tmp/ground/m1".into(), content: "m1\n".into() };
    let visit = Observation::Connection {
        request: "GET /n2 HTTP/1.1".into(),
        headers: vec!["Host: 127.0.0.1".into(), format!("User-Agent: {HOSTILE}")],
    };
    let argv =
        Observation::Program { program: "git".into(), arguments: vec!["--upload-pack=x".into()] };
    let shell = finding(
        "x-shell",
        Severity::Critical,
        argument("ping", "/host"),
        "Command injection in `ping.host` (shell metacharacter `;`)",
        vec![
            proof(
                "after a semicolon",
                "the response contains 42, the product of two random numbers",
                "localhost;expr 6 \\* 7 #",
                vec![marker],
            ),
            proof(
                "in backticks, blind",
                "the listener was connected to: GET /n2 HTTP/1.1",
                "`curl -s http://127.0.0.1:9/n2`",
                vec![visit, argv],
            ),
        ],
    );
    let hostile = finding(
        "x-paths",
        Severity::High,
        argument(HOSTILE, "/files/0/path"),
        HOSTILE,
        vec![proof(HOSTILE, HOSTILE, HOSTILE, vec![Observation::Exit { why: HOSTILE.into() }])],
    );
    let hostile = Finding {
        owasp: vec![HOSTILE.into()],
        reproduce: Some(HOSTILE.into()),
        strategies: vec!["base64".into(), HOSTILE.into()],
        ..hostile
    };
    let long = Finding {
        confidence: Confidence::Suspected,
        reproduce: Some(format!("quintain call read '{}'", "r".repeat(9_000))),
        ..finding(
            "x-paths",
            Severity::Medium,
            argument("read", "/path"),
            &format!("read.path leaves its root {}", "t".repeat(3_000)),
            (0..40)
                .map(|n| {
                    proof(&format!("form {n}"), &"w".repeat(5_000), &"p".repeat(50_000), Vec::new())
                })
                .collect(),
        )
    };
    let by_design = Finding {
        note: Some("its purpose is to fetch any URL".into()),
        ..finding(
            "x-links",
            Severity::Low,
            argument("fetch", "/url"),
            "fetch.url reaches the loopback",
            vec![proof(
                "plain",
                "the listener was connected to",
                "http://127.0.0.1:9/n3",
                Vec::new(),
            )],
        )
    };
    let listed = Finding {
        cwe: Vec::new(),
        reproduce: None,
        replay: None,
        written: Some(Written { file: "suite.yaml".into(), line: 7, column: 5 }),
        ..finding(
            "x-errors",
            Severity::Info,
            Place::Server { server: "payments".into() },
            "the server discloses paths in its instructions",
            vec![FindingProof {
                form: "as listed".into(),
                what: "/home/someone/server.py".into(),
                payload: None,
                baseline: None,
                attempt: Evidence::default(),
                pointer: Some("/instructions".into()),
                sign: None,
                identity: None,
            }],
        )
    };
    vec![shell, hostile, long, by_design, listed]
}

pub(super) fn redteam() -> RedteamReport {
    let findings = findings();
    let attacks: Vec<AttackReport> = ATTACKS
        .into_iter()
        .map(|(attack, trials, hits)| AttackReport {
            pass_at: Vec::new(),
            attack: attack.into(),
            trials,
            hits,
            attempts: trials * 7,
            rate: if trials == 0 { 0.0 } else { hits as f64 / trials as f64 },
            interval: interval(hits, trials),
            unanswered: 0,
            left_out: 0,
            beyond_limit: 0,
            about: None,
        })
        .collect();
    let tool = |tool: &str, works, arguments: &[(&str, &[&str])]| ToolCoverage {
        server: "payments".into(),
        tool: tool.into(),
        works,
        arguments: arguments
            .iter()
            .map(|(name, attacks)| {
                ((*name).into(), attacks.iter().map(|id| (*id).into()).collect())
            })
            .collect(),
    };
    let known = Finding {
        accepted: Some(Accepted {
            reason: format!("goes away in spring {HOSTILE}"),
            expires: Some("2027-03-31".into()),
        }),
        ..finding(
            "x-shell",
            Severity::High,
            argument("legacy", "/name"),
            "Command injection in `legacy.name`",
            vec![proof(
                "after a semicolon",
                "the response contains 42",
                "a;expr 6 \\* 7 #",
                Vec::new(),
            )],
        )
    };
    RedteamReport {
        tokens: 0,
        cost: 0.0,
        takes_text: false,
        unreachable: None,
        risk: Some(risk(&findings, &attacks)),
        frameworks: frameworks(),
        learned: learned(),
        findings,
        suppressed: vec![known],
        unused: Vec::new(),
        attacks,
        not_run: vec![
            NotRun {
                what: "x-objects".into(),
                why: "needs two identities (`redteam.identities`)".into(),
            },
            NotRun { what: HOSTILE.into(), why: HOSTILE.into() },
        ],
        tools: vec![
            tool("ping", true, &[("host", &["x-shell", "x-paths"]), ("count", &["x-errors"])]),
            tool("read", true, &[("path", &["x-shell", "x-paths"])]),
            tool("fetch", true, &[("url", &["x-links"])]),
            tool(HOSTILE, true, &[]),
            tool("mute", false, &[]),
        ],
        silent: vec![
            Silent {
                server: "payments".into(),
                tool: "mute".into(),
                why: "no call worked: missing `id`".into(),
            },
            Silent { server: "payments".into(), tool: HOSTILE.into(), why: HOSTILE.into() },
        ],
        phases: vec![
            PhaseTime { phase: "survey".into(), seconds: 0.05, calls: None },
            PhaseTime { phase: "learn".into(), seconds: 0.5, calls: Some(31) },
            PhaseTime { phase: "attack".into(), seconds: 12.5, calls: Some(1_250) },
        ],
        calls: 1_285,
        seed: 7,
        cut_short: Some("the budget of 1285 calls is used up".into()),
        changes: vec![
            FileChange {
                path: "/home/ann/.payments/settings.json".into(),
                change: FileChangeKind::Modified,
                restored: true,
            },
            FileChange { path: HOSTILE.into(), change: FileChangeKind::Created, restored: false },
        ],
    }
}

/// Not a real framework, for the same reason.
fn frameworks() -> Vec<Coverage> {
    let entry = |id: &str, title: &str, state: CoverageState| Covered {
        id: id.into(),
        title: title.into(),
        state,
        confirmed: usize::from(state == CoverageState::Confirmed) * 2,
        suspected: usize::from(state == CoverageState::Suspected),
        by_design: usize::from(state == CoverageState::ByDesign),
        accepted: 0,
        attacks: vec!["x-shell".into()],
        not_run: Vec::new(),
    };
    let not_run = |what: &str, why: &str| NotRun { what: what.into(), why: why.into() };
    let unseen = |id: &str, title: &str, state, not_run| Covered {
        attacks: Vec::new(),
        not_run,
        ..entry(id, title, state)
    };
    let entries = vec![
        entry("X01", "Shells", CoverageState::Confirmed),
        entry("X02", "Paths", CoverageState::Suspected),
        entry("X03", "Links", CoverageState::ByDesign),
        Covered {
            not_run: vec![not_run("x-idle", "found no place to attack")],
            ..entry("X04", "Errors", CoverageState::Clean)
        },
        unseen(
            "X05",
            "Objects",
            CoverageState::NotRun,
            vec![not_run("x-objects", "needs luck"), not_run("x-idle", "needs luck")],
        ),
        unseen("X06", "Audit", CoverageState::NoAttack, Vec::new()),
    ];
    let coverage = |id: &str, entries| Coverage {
        id: id.to_lowercase(),
        name: id.into(),
        title: format!("{id} Top 6 (2026)"),
        entries,
    };
    let hostile = vec![entry(HOSTILE, HOSTILE, CoverageState::Confirmed)];
    vec![coverage("X", entries), coverage("Others", hostile)]
}

fn learned() -> Insight {
    let gift = |tool: &str, name: &str, examples: &[&str]| DisclosedValue {
        tool: tool.into(),
        name: name.into(),
        count: 12,
        examples: examples.iter().map(|one| (*one).into()).collect(),
    };
    let chain =
        |from: &str, to: &str| Chain { from: from.into(), to: to.into(), argument: "path".into() };
    Insight {
        answered: vec!["ping".into(), "read".into(), "fetch".into(), HOSTILE.into()],
        roots: vec!["/srv/data".into(), HOSTILE.into()],
        values: vec![gift("ping", "id", &["p-1", "p-2"]), gift("fetch", HOSTILE, &[HOSTILE])],
        chains: vec![chain("ping", "read"), chain(HOSTILE, HOSTILE)],
    }
}

/// A trial per attack and place, as a run reports them.
pub(super) fn trials(report: &RedteamReport) -> Vec<CaseResult> {
    let trial = |at: usize, attack: &str, place: &str, title: Option<&str>| {
        let assertion = json!({"type": format!("quintain:redteam:{attack}"), "metric": attack});
        let reason = title.map_or_else(|| format!("no {attack} at {place}"), str::to_owned);
        let verdict = Verdict::of(title.is_none(), reason);
        let component =
            quintain_evidence::result::Component { assertion, place: None, verdict, set: None };
        let case = Case::new(at, at)
            .named(&format!("{attack} at {place}"))
            .prompt("[{\"tool\":\"ping\"}]")
            .exchange(json!({"name": "ping"}), reply("answer"))
            .graded(vec![component]);
        let mut case = case.0;
        case.place = None;
        case.test = json!({
            "vars": case.vars,
            "metadata": {"pluginId": attack, "severity": "high", "strategyId": "basic"},
        });
        case
    };
    let bad = report.findings.iter().filter(|one| {
        one.note.is_none() && one.confidence == Confidence::Confirmed && one.rule != "x-errors"
    });
    let mut cases: Vec<CaseResult> = bad
        .enumerate()
        .map(|(at, one)| trial(at, &one.rule, &one.place.to_string(), Some(&one.title)))
        .collect();
    cases.push(trial(cases.len(), "x-links", "fetch.url", None));
    cases.push(trial(cases.len(), "x-errors", "ping.count", None));
    cases
}

pub(super) fn attack(reporter: &dyn Reporter, options: &Options) -> String {
    attack_report(reporter, options, redteam())
}

/// Formats that are too large for golden files have their own tests.
fn small() -> RedteamReport {
    let mut report = redteam();
    report.findings[2].proofs = vec![proof("form 0", "what", "payload", Vec::new())];
    report.findings[2].reproduce = None;
    report
}

fn attack_report(reporter: &dyn Reporter, options: &Options, report: RedteamReport) -> String {
    let cases = trials(&report);
    let run = run(cases.len());
    let summary =
        Summary { redteam: Some(Box::new(report)), ..super::summary(&run, &cases, false) };
    render(reporter, options, &run, &cases, &summary)
}

#[test]
fn every_format_reports_a_red_team_run() {
    for reporter in all() {
        let id = reporter.meta().id;
        let human = ["console", "txt", "markdown", "junit", "html"].contains(&id);
        let report = if human { redteam() } else { small() };
        let text = attack_report(*reporter, &options(), report);
        golden(&format!("redteam.{id}"), &text);
    }
}

#[test]
fn the_terminal_is_wide_enough_for_all_but_commands() {
    for width in [60, 80, 132] {
        let options = Options { width, ..options() };
        let text = attack(find("console").unwrap(), &options);
        let mut command = false;
        for line in text.lines() {
            // The continuation lines of a command are indented further than other text.
            command =
                line.starts_with("          $ ") || (command && line.starts_with("            "));
            assert!(command || crate::text::columns(line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn severities_are_coloured_and_calls_shown_if_asked() {
    let options = Options { colour: true, verbose: true, ..options() };
    let text = attack_report(find("console").unwrap(), &options, small());
    assert!(text.contains("\u{1b}[31mCRITICAL") && text.contains("\u{1b}[33mMEDIUM"));
    assert!(text.contains("--> payments tools/call"), "{text}");
}

#[test]
fn formats_for_people_stay_short_and_show_what_hides() {
    for id in ["console", "txt", "markdown", "junit", "html"] {
        let text = attack(find(id).unwrap(), &options());
        assert!(text.len() < 250_000, "{id}: {}", text.len());
        for hidden in ['\u{1b}', '\u{202e}', '\u{202c}', '\u{0}', '\r'] {
            assert!(!text.contains(hidden), "{id} shows {hidden:?}");
        }
        assert!(text.contains("U+202E"), "{id} hides it");
    }
}

#[test]
fn the_page_shows_findings_and_what_was_not_run() {
    let page = attack(find("html").unwrap(), &options());
    for outside in [" src=", "url(", "@import", "<link", "<iframe", "<img", " onclick", " style="] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<script>").count(), 1, "what targets say starts no script");
    assert_eq!(page.matches("<article class=\"finding ").count(), 6, "one of them suppressed");
    let (order, _) = page.split_once("suppressed by a baseline").unwrap();
    let order = order.split("<article class=\"finding ").skip(1);
    let order: Vec<&str> = order.map(|card| card.split_once('"').unwrap().0).collect();
    assert_eq!(order, ["critical", "high", "medium", "low", "info"]);
    assert!(page.contains("<h4>Baseline call</h4>") && page.contains("<h4>Attempt</h4>"));
    let (_, frameworks) = page.split_once("<section id=\"frameworks\"").unwrap();
    let (_, audit) = frameworks.split_once("<b>X06</b>").unwrap();
    let (audit, _) = audit.split_once("</li>").unwrap();
    assert!(audit.contains("not run") && audit.contains("no attack tests it"), "{audit}");
    let (_, command) = frameworks.split_once("<b>X01</b>").unwrap();
    assert!(command.split_once("</li>").unwrap().0.contains("2 confirmed"));
}
