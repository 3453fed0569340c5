//! A restricted run reaches nothing that its policy does not name, whatever key of a suite asks for it: a table of
//! suites, each of which is denied without an entry and works with it.

mod access;
mod attack;
mod bench;
mod elsewhere;
mod peer;
mod requests;
mod table;
mod unreached;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bench::Bench;
use futures_util::stream::{self, StreamExt as _};
use quintain_engine::{Access, Policy, target_kinds};
use quintain_evidence::effects::Variables;
use quintain_evidence::question::Question;
use quintain_suite::suite::{Needed, NoFiles, Purpose, SuiteFile, TargetKind, load};
use quintain_suite::target::Reach;
use table::{List, Row, Sign, rows};

/// Most of the time is spent waiting for programs that are started.
const AT_ONCE: usize = 8;
const DENIED: &str = "the policy of this run does not allow";

fn emptied(policy: &Policy, list: List) -> Policy {
    let mut policy = policy.clone();
    match list {
        List::Files => policy.files = Access::Only(Vec::new()),
        List::Variables => policy.variables = Access::Only(Vec::new()),
        List::Commands => policy.commands = Access::Only(Vec::new()),
        List::Interpreters => policy.interpreters = Access::Only(Vec::new()),
        List::Addresses => policy.addresses = Access::Only(Vec::new()),
        List::Logins => policy.logins = false,
    }
    policy
}

fn is_shown(bench: &Bench, row: &Row, told: &str) -> bool {
    match &row.sign {
        Sign::Says(text) => told.contains(text),
        Sign::Connects => bench.peer.connections() > 0,
        Sign::Hears(text) => bench.peer.heard().contains(text),
        Sign::Writes(name) => bench.written(name).is_some(),
        Sign::WritesText(name, text) => {
            bench.written(name).is_some_and(|found| found.contains(text))
        }
        Sign::NotDenied => !told.contains(DENIED),
    }
}

/// What is wrong with a row under a policy, if anything.
async fn flaw(at: usize, under: Under) -> Option<String> {
    // A fresh bench, so that nothing is left of the previous run.
    let bench = Bench::new().await;
    let row = rows(&bench).swap_remove(at);
    let policy = match under {
        Under::Exact => row.policy.clone(),
        Under::Emptied => emptied(&row.policy, row.list),
        Under::Nothing => Policy::nothing(),
    };
    let told = bench.run(&row.suite, &policy).await;
    let shown = is_shown(&bench, &row, &told);
    if shown != matches!(under, Under::Exact) {
        return Some(format!("{}: shown {shown} under {policy:?}\n{told}\n", row.key));
    }
    let asked = row.asks.filter(|_| matches!(under, Under::Emptied))?;
    let says = told.contains(&asked) && told.contains(DENIED);
    (!says).then(|| format!("{}: the denial does not mention {asked}\n{told}\n", row.key))
}

#[derive(Clone, Copy)]
enum Under {
    Exact,
    Emptied,
    Nothing,
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_policy_names_works_and_nothing_else_does() {
    let count = rows(&Bench::new().await).len();
    let all = (0..count)
        .flat_map(|at| [Under::Exact, Under::Emptied, Under::Nothing].map(|under| flaw(at, under)));
    let flaws = stream::iter(all).buffer_unordered(AT_ONCE);
    let wrong: Vec<String> = Box::pin(flaws.filter_map(async |flaw| flaw).collect()).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rows that show what a kind of target can reach.
fn rows_of_target(kind: &str) -> &'static [&'static str] {
    match kind {
        "mcp" => &["server command", "server path", "server cwd", "server url"],
        "http" => &["http target", "http target as a whole request"],
        "exec" => &["exec target"],
        "code" => &["python target", "javascript target", "ruby target"],
        "model" => &["model target", "target of a test", "key of a model"],
        _ => &[],
    }
}

/// Whether the target in the example of a kind starts or contacts anything.
fn reaches_something(kind: &dyn TargetKind) -> bool {
    let meta = kind.meta();
    let example = meta.docs.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let text = example.expect(meta.id).into();
    let file = SuiteFile { name: "quintain.yaml".into(), text, base_dir: "/x".into() };
    let purpose = Purpose::Read(Needed::Nothing);
    let loaded = load(vec![file], &BTreeMap::new(), Arc::new(NoFiles), purpose, &target_kinds());
    // Whatever needs a file reaches at least that.
    let Some(suite) = loaded.suite else { return true };
    let content = Variables::default();
    suite.targets.iter().any(|target| !Reach::of(target, &suite.env, &content, &[]).is_empty())
}

#[tokio::test]
async fn every_kind_of_target_that_reaches_something_has_a_row() {
    let bench = Bench::new().await;
    let rows = rows(&bench);
    let shown: BTreeSet<&str> =
        rows.iter().flat_map(|row| bench.kinds(&row.suite, &row.policy)).collect();
    for kind in target_kinds() {
        let id = kind.meta().id;
        assert!(
            shown.contains(id) || !reaches_something(kind),
            "targets of the kind `{id}` reach something: add a row to policy/table.rs"
        );
        for name in rows_of_target(id) {
            assert!(rows.iter().any(|row| row.key == *name), "{name}");
        }
    }
}

/// The same for what a check can ask.
fn rows_of_question(question: &Question) -> &'static [&'static str] {
    match question {
        Question::Run { .. } => &["python assertion", "ruby assertion"],
        Question::Post { .. } => &["webhook"],
        Question::Read(_) => &["snapshot"],
        // A call goes to the target, which is open already.
        Question::Call { .. } | Question::Say(_) => &["server command"],
        Question::Model(_) => {
            &["judge of an assertion", "judge of a suite", "judge for embeddings"]
        }
    }
}

#[tokio::test]
async fn every_kind_of_question_has_a_row() {
    let bench = Bench::new().await;
    let rows = rows(&bench);
    let keys: Vec<&str> = rows.iter().map(|row| row.key).collect();
    let step = quintain_evidence::probe::Step::Request {
        method: String::new(),
        params: serde_json::Map::new(),
        server: None,
    };
    let code =
        quintain_evidence::code::Code::program(quintain_evidence::code::Language::Python, "1");
    let file = quintain_evidence::kept_file::KeptFile::new(bench.folder(), "a");
    let questions = [
        Question::Run { code, function: String::new(), arguments: Vec::new() },
        Question::Post { url: String::new(), body: serde_json::Value::Null },
        Question::Read(file),
        Question::Call { step, nth: 0 },
    ];
    for name in questions.iter().flat_map(rows_of_question) {
        assert!(keys.contains(name), "{name}");
    }
}
