//! A test bench for restricted runs: a folder with a canary, an environment with another, and a listener that counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quintain_engine::eval::{Job, Settings, execute};
use quintain_engine::masked;
use quintain_engine::{Disk, Policy, World, allowed, target_kinds};
use quintain_evidence::event::RunInfo;
use quintain_suite::plan::{Selection, plan};
use quintain_suite::suite::{Consent, Loaded, Purpose, SuiteFile, load};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// In files that only the exact policy lists.
pub(crate) const CANARY: &str = "canary-of-the-file";
/// In the environment.
pub(crate) const VARIABLE: &str = "canary-of-the-variable";

const ANSWER: &str =
    r#"{"pass":true,"score":1,"reason":"heard","access_token":"t","token_type":"Bearer"}"#;

pub(crate) struct Bench {
    dir: TempDir,
    root: PathBuf,
    pub(crate) port: u16,
    connections: Arc<AtomicUsize>,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["secret", "open"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        let provider = "def call_api(prompt, options, context):\n    import os\n    return {'output': 'python ran ' + os.environ.get('SECRET_VARIABLE', '')}\n";
        let files = [
            ("secret/prompt.txt", CANARY.to_owned()),
            ("secret/tests.csv", format!("word\n{CANARY}\n")),
            ("secret/vars.yaml", format!("word: {CANARY}\n")),
            ("secret/target.yaml", format!("id: echo\nlabel: {CANARY}\n")),
            ("secret/default.yaml", format!("vars:\n  word: {CANARY}\n")),
            ("secret/filter.js", format!("module.exports = () => '{CANARY}';\n")),
            ("secret/transform.js", format!("module.exports = () => '{CANARY}';\n")),
            ("secret/server.py", "open('made', 'w').write('x')\n".to_owned()),
            ("open/provider.py", provider.to_owned()),
            ("open/provider.js", "module.exports = async () => ({output: 'js ran'});\n".to_owned()),
            (
                "open/tests.py",
                "def generate_tests():\n    return [{'vars': {'word': 'python ran'}}]\n".to_owned(),
            ),
            (
                "open/evil",
                format!("#!/bin/sh\ntouch {}/made\nexec python3 \"$@\"\n", root.display()),
            ),
        ];
        for (name, text) in files {
            fs::write(root.join(name), text).unwrap();
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::{PermissionsExt as _, symlink};
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(root.join("open/evil"), executable).unwrap();
            symlink(root.join("secret/prompt.txt"), root.join("open/link.txt")).unwrap();
        }
        let socket = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = socket.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = socket.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 4096]).await;
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{ANSWER}",
                    ANSWER.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { dir, root, port, connections }
    }

    pub(crate) fn folder(&self) -> &Path {
        assert!(self.dir.path().exists());
        &self.root
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// What a program or a check wrote.
    pub(crate) fn written(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root.join(name)).ok()
    }

    fn world(&self, policy: &Policy) -> World {
        let mut env: BTreeMap<String, String> = BTreeMap::new();
        env.insert("PATH".to_owned(), std::env::var("PATH").unwrap());
        env.insert("HOME".to_owned(), std::env::var("HOME").unwrap_or_default());
        env.insert("SECRET_VARIABLE".to_owned(), VARIABLE.to_owned());
        // Servers inherit this variable by default.
        env.insert("TZ".to_owned(), VARIABLE.to_owned());
        let state_dir = Some(self.root.join("state"));
        let world = World { env: Arc::new(env), state_dir, ..World::default() };
        world.under(Arc::new(policy.clone()))
    }

    fn load(&self, suite: &Value, world: &World) -> Loaded {
        let file = SuiteFile {
            name: "quintain.yaml".into(),
            text: suite.to_string().into(),
            base_dir: self.root.clone(),
        };
        let purpose = Purpose::Run(Consent::of_the_user());
        load(vec![file], &world.env, allowed(world, Arc::new(Disk)), purpose, &target_kinds())
    }

    /// The kinds of the targets of a suite, by id.
    pub(crate) fn kinds(&self, suite: &Value, policy: &Policy) -> Vec<&'static str> {
        let suite = self.load(suite, &self.world(policy)).suite;
        suite
            .map(|suite| suite.targets.iter().map(|target| target.kind.id).collect())
            .unwrap_or_default()
    }

    /// All output of a run: the diagnostics of the suite, and every event.
    pub(crate) async fn run(&self, suite: &Value, policy: &Policy) -> String {
        let world = self.world(policy);
        let Loaded { suite, diagnostics, sources, .. } = self.load(suite, &world);
        let mut told = String::new();
        for one in &diagnostics {
            let labels = one.labels.iter().map(|label| label.text.as_str());
            let words: Vec<&str> = std::iter::once(one.title.as_str()).chain(labels).collect();
            told.extend([words.join(": "), one.help.join(" "), "\n".to_owned()]);
        }
        let Some(suite) = suite else { return told };
        let plan = plan(&suite, &Selection::default(), 1);
        let info = RunInfo {
            id: "eval-policy".to_owned(),
            created: String::new(),
            description: None,
            config: Value::Null,
            columns: plan.columns.clone(),
            planned: plan.seats.len(),
            options: serde_json::Map::new(),
            tags: BTreeMap::new(),
            version: String::new(),
        };
        let job = Job {
            consent: Consent::of_the_user(),
            suite: &suite,
            plan: &plan,
            sources: &sources,
            world: &world,
            settings: &Settings::default(),
            info: &info,
            earlier: None,
            recording: None,
        };
        let (_stop, stopped) = watch::channel(false);
        execute(&job, stopped, None, &mut |emitted| {
            let event = masked::emitted(emitted, &world.redactor);
            told.push_str(&serde_json::to_string(&*event).unwrap());
            told.push('\n');
        })
        .await;
        told
    }
}
