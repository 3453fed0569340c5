//! Where restricted runs take place: a folder with a canary, an environment with another, and a peer that counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quintain_engine::jobs::{EvalWork, Jobs, RedteamWork, RequestNotice, RunRequest, Work};
use quintain_engine::store::SuiteText;
use quintain_engine::{Disk, Policy, Store, World, allowed, target_kinds};
use quintain_suite::suite::{Consent, Purpose, SuiteFile, load};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::peer::{self, Peer};

/// In files that are named by no policy but the exact one.
pub(crate) const CANARY: &str = "canary-of-the-file";
/// In the environment.
pub(crate) const VARIABLE: &str = "canary-of-the-variable";

pub(crate) struct Bench {
    dir: TempDir,
    root: PathBuf,
    pub(crate) peer: Peer,
}

/// What is in the folder `secret`.
fn secrets() -> Vec<(&'static str, String)> {
    let failed = json!({"results": {"results": [
        {"failureReason": 1, "testCase": {"vars": {"word": "x"}}}
    ]}});
    let exports = format!("module.exports = () => '{CANARY}';\n");
    vec![
        ("prompt.txt", CANARY.to_owned()),
        ("tests.csv", format!("word\n{CANARY}\n")),
        ("tests.jsonl", format!("{}\n", json!({"vars": {"word": CANARY}}))),
        ("vars.yaml", format!("word: {CANARY}\n")),
        ("target.yaml", format!("id: echo\nlabel: {CANARY}\n")),
        ("default.yaml", format!("vars:\n  word: {CANARY}\n")),
        ("scenario.yaml", format!("config: [{{vars: {{word: {CANARY}}}}}]\n")),
        ("data.yaml", format!("- vars: {{word: {CANARY}}}\n")),
        ("schema.json", json!({"type": "object", "title": CANARY}).to_string()),
        ("request.txt", format!("POST / HTTP/1.1\nHost: HOST\n\n{CANARY}\n")),
        ("report.json", failed.to_string()),
        ("variables.env", format!("FROM_FILE={CANARY}\n")),
        ("payloads.txt", format!("{CANARY}\n")),
        ("attack.yaml", format!("id: mine\npayloads: [{CANARY}]\nproof: [{{matches: never}}]\n")),
        ("filter.js", exports.clone()),
        ("transform.js", exports),
        ("server.py", "open('made', 'w').write('x')\n".to_owned()),
    ]
}

/// Code that may be read by whoever may run it.
fn programs(root: &Path) -> Vec<(&'static str, String)> {
    let js = |body: &str| format!("module.exports = {body};\n");
    let graded = "({pass: true, score: 1, reason: 'js ran'})";
    let grade = "{'pass': True, 'score': 1, 'reason': 'python ran'}";
    let provider = "def call_api(prompt, options, context):\n    import os\n    return {'output': 'python ran ' + os.environ.get('PLAIN_VARIABLE', '')}\n";
    let marks = |name: &str| format!("#!/bin/sh\ntouch {}/{name}\n", root.display());
    vec![
        ("provider.js", js("async () => ({output: 'js ran'})")),
        ("prompt.js", js("() => 'js ran'")),
        ("tests.js", js("() => [{vars: {word: 'js ran'}}]")),
        ("var.js", js("() => ({output: 'js ran'})")),
        ("metric.js", js("() => 77213")),
        ("config.js", js("() => 'js ran'")),
        ("text.js", js("() => 'js ran'")),
        ("check.js", js(&format!("() => {graded}"))),
        ("expected.csv", format!("word,__expected\nx,\"javascript: {graded}\"\n")),
        ("provider.py", provider.to_owned()),
        ("prompt.py", "def main(context):\n    return 'python ran'\n".to_owned()),
        (
            "tests.py",
            "def generate_tests():\n    return [{'vars': {'word': 'python ran'}}]\n".to_owned(),
        ),
        (
            "var.py",
            "def get_var(name, prompt, others):\n    return {'output': 'python ran'}\n".to_owned(),
        ),
        ("check.py", format!("def get_assert(output, context):\n    return {grade}\n")),
        (
            "text.py",
            "def get_transform(output, context):\n    return 'python ran'\n".to_owned(),
        ),
        (
            "provider.rb",
            "def call_api(prompt, options, context)\n  {'output' => 'ruby ran'}\nend\n".to_owned(),
        ),
        (
            "check.rb",
            "def get_assert(output, context)\n  {'pass' => true, 'score' => 1, 'reason' => 'ruby ran'}\nend\n".to_owned(),
        ),
        ("text.rb", "def get_transform(output, context)\n  'ruby ran'\nend\n".to_owned()),
        (
            "tests.rb",
            "def generate_tests\n  [{'vars' => {'word' => 'ruby ran'}}]\nend\n".to_owned(),
        ),
        ("var.rb", "def get_var(name, prompt, others)\n  {'output' => 'ruby ran'}\nend\n".to_owned()),
        ("evil", marks("made") + "exec python3 \"$@\"\n"),
        ("evil-ruby", marks("made") + "exec ruby \"$@\"\n"),
        ("bin/git", marks("git-ran")),
        ("bin/sleep", marks("sleep-ran") + "exec /bin/sleep 60\n"),
    ]
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["secret", "open/bin"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let peer = Peer::start(|_| {
            peer::json(&json!({
                "pass": true, "score": 1, "reason": "heard", "access_token": "t", "token_type": "Bearer",
            }))
        })
        .await;
        let host = peer.address();
        for (name, text) in secrets() {
            fs::write(root.join("secret").join(name), text.replace("HOST", &host)).unwrap();
        }
        for (name, text) in programs(&root) {
            fs::write(root.join("open").join(name), text).unwrap();
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::{PermissionsExt as _, symlink};
            for name in ["open/evil", "open/evil-ruby", "open/bin/git", "open/bin/sleep"] {
                fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o755)).unwrap();
            }
            symlink(root.join("secret/prompt.txt"), root.join("open/link.txt")).unwrap();
            symlink(root.join("secret"), root.join("open/linked")).unwrap();
        }
        Self { dir, root, peer }
    }

    pub(crate) fn folder(&self) -> &Path {
        assert!(self.dir.path().exists());
        &self.root
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// What a program or a check wrote.
    pub(crate) fn written(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root.join(name)).ok()
    }

    fn world(&self) -> World {
        let mut env: BTreeMap<String, String> = BTreeMap::new();
        // The first programs of the search path record that they were started.
        let own = self.root.join("open/bin").display().to_string();
        env.insert("PATH".to_owned(), format!("{own}:{}", std::env::var("PATH").unwrap()));
        env.insert("HOME".to_owned(), std::env::var("HOME").unwrap_or_default());
        env.insert("PLAIN_VARIABLE".to_owned(), VARIABLE.to_owned());
        // Servers inherit it without being asked.
        env.insert("TZ".to_owned(), VARIABLE.to_owned());
        let state_dir = Some(self.root.join("state"));
        World { env: Arc::new(env), state_dir, cwd: self.root.clone(), ..World::default() }
    }

    /// The kinds of the targets of a suite, by id.
    pub(crate) fn kinds(&self, suite: &Value, policy: &Policy) -> Vec<&'static str> {
        let text = self.text(suite);
        let file = SuiteFile { name: text.name, text: text.text, base_dir: text.base_dir };
        let world = self.world().under(Arc::new(policy.clone()));
        let files = allowed(&world, Arc::new(Disk));
        let purpose = Purpose::Run(Consent::of_the_user());
        let suite = load(vec![file], &world.env, files, purpose, &target_kinds()).suite;
        suite
            .map(|suite| suite.targets.iter().map(|target| target.kind.id).collect())
            .unwrap_or_default()
    }

    /// A suite as a request has it.
    pub(crate) fn text(&self, suite: &Value) -> SuiteText {
        SuiteText {
            name: "quintain.yaml".to_owned(),
            base_dir: self.root.clone(),
            text: suite.to_string().into(),
        }
    }

    /// Everything that a run of a suite reports.
    pub(crate) async fn run(&self, suite: &Value, policy: &Policy) -> String {
        let work = EvalWork { suite: vec![self.text(suite)], ..EvalWork::default() };
        self.submit(Work::Eval(Box::new(work)), policy, None).await
    }

    /// Everything that an attack on the target of a suite reports.
    pub(crate) async fn attack(&self, suite: &Value, policy: &Policy) -> String {
        let work = RedteamWork { suite: vec![self.text(suite)], ..RedteamWork::default() };
        self.submit(Work::Redteam(Box::new(work)), policy, None).await
    }

    /// Where jobs run that may use everything.
    pub(crate) fn jobs(&self, store: Option<&Store>) -> Jobs {
        Jobs::new(self.world(), Arc::new(Disk), store.cloned())
    }

    /// Everything that a job reports: what is wrong with the request, every event, and how it ended.
    pub(crate) async fn submit(
        &self,
        work: Work,
        policy: &Policy,
        store: Option<&Store>,
    ) -> String {
        tell(&self.jobs(store), work, policy).await
    }

    /// The same for another owner.
    pub(crate) async fn submit_as(
        &self,
        owner: &str,
        work: Work,
        policy: &Policy,
        store: Option<&Store>,
    ) -> String {
        tell_as(owner, &self.jobs(store), work, policy).await
    }
}

/// The same of a job that runs somewhere.
pub(crate) async fn tell(jobs: &Jobs, work: Work, policy: &Policy) -> String {
    tell_as("test", jobs, work, policy).await
}

async fn tell_as(owner: &str, jobs: &Jobs, work: Work, policy: &Policy) -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let request = RunRequest {
        id: format!("run-{}", NUMBER.fetch_add(1, Ordering::SeqCst)),
        created: "2026-01-01T00:00:00Z".to_owned(),
        version: "0".to_owned(),
        owner: owner.to_owned(),
        policy: policy.clone(),
        stored: jobs.store.is_some(),
        description: None,
        tags: BTreeMap::new(),
        work,
    };
    // What a client sends is what arrives elsewhere.
    let text = serde_json::to_string(&request).unwrap();
    let mut told = String::new();
    let mut notify = |notice: RequestNotice<'_>| match notice {
        RequestNotice::Diagnostics(_, diagnostics) => {
            for one in diagnostics {
                let labels = one.labels.iter().map(|label| label.text.as_str());
                let words: Vec<&str> = std::iter::once(one.title.as_str()).chain(labels).collect();
                told.extend([words.join(": "), one.help.join(" "), "\n".to_owned()]);
            }
        }
        RequestNotice::Warning(text) => told.extend([text.as_str(), "\n"]),
        RequestNotice::Error(what, help) => told.extend([what, help.unwrap_or_default()]),
    };
    let submitted = jobs.submit(serde_json::from_str(&text).unwrap(), &mut notify).await;
    let mut handle = match submitted {
        Ok(handle) => handle,
        Err(error) => return format!("{told}{error}\n"),
    };
    while let Some(event) = handle.next().await {
        told.push_str(&serde_json::to_string(&event).unwrap());
        told.push('\n');
    }
    match handle.outcome().await {
        Ok(outcome) => told.extend(outcome.unreachable),
        Err(error) => told.push_str(&error.to_string()),
    }
    told
}
