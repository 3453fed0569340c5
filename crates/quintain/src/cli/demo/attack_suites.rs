//! The attacks on the practice target: suites as users write them, run as `quintain redteam run` runs them.

use std::path::PathBuf;

use quintain_demo::{Auth, DemoConfig, PlantedPlace, PlantedWeakness, Running, Twin, serve_http};
use quintain_engine::jobs::OrderRequest;
use quintain_engine::jobs::PreparedRun;
use quintain_engine::jobs::RedteamWork;
use quintain_engine::jobs::RunRequest;
use quintain_engine::jobs::Work;
use quintain_engine::store::SuiteText;
use quintain_evidence::connection::{Launch, McpTarget};
use quintain_evidence::finding::Finding;
use quintain_redteam::orders::Destructive;

use super::folder;
use crate::cli::App;
use crate::cli::job;
use crate::cli::reports::Feed;

/// One attacking suite.
pub(super) struct AttackSuite {
    pub(super) name: &'static str,
    /// A short description, for progress.
    pub(super) what: &'static str,
    pub(super) suite: &'static str,
    /// May include destructive tools: everything they can destroy was created for this attack.
    destructive: Destructive,
    /// Whether some of its attacks measure time.
    pub(super) measures: bool,
}

pub(super) const ATTACK_SUITES: [AttackSuite; 4] = [
    AttackSuite {
        name: "server",
        what: "one customer, over stdio",
        suite: include_str!("attack_suites/server.yaml"),
        destructive: Destructive::Never,
        measures: true,
    },
    AttackSuite {
        name: "people",
        what: "two customers, over HTTP",
        suite: include_str!("attack_suites/people.yaml"),
        destructive: Destructive::Never,
        measures: false,
    },
    AttackSuite {
        name: "roles",
        what: "an administrator and two customers, over HTTP",
        suite: include_str!("attack_suites/roles.yaml"),
        destructive: Destructive::All,
        measures: false,
    },
    AttackSuite {
        name: "stream",
        what: "two customers, over HTTP+SSE",
        suite: include_str!("attack_suites/stream.yaml"),
        destructive: Destructive::Never,
        measures: false,
    },
];

/// The result of attacking a twin with one suite.
pub(super) struct AttackedTwin {
    pub(super) attack_suite: &'static str,
    pub(super) twin: Twin,
    pub(super) findings: Vec<Finding>,
    pub(super) interrupted: bool,
}

pub(super) fn word(twin: Twin) -> &'static str {
    match twin {
        Twin::Vulnerable => "vulnerable",
        Twin::Patched => "patched",
    }
}

impl AttackSuite {
    /// Whether this suite has to find the weakness.
    pub(super) fn seeks(&self, weakness: &PlantedWeakness) -> bool {
        let attack_suite = match (weakness.rule, weakness.place) {
            (_, PlantedPlace::Http("sessionId")) => "stream",
            (_, PlantedPlace::Http(_)) => "people",
            // Refunds are destructive.
            ("bfla", _) | ("bola", PlantedPlace::Argument { tool: "refund_payment", .. }) => {
                "roles"
            }
            ("bola", _) => "people",
            _ => "server",
        };
        self.name == attack_suite
    }

    /// Writes the suite to the folder of its reports.
    pub(super) fn write(&self, app: &App) {
        folder::write(&format!("{}.yaml", self.name), &folder::suite(self.suite, app), app);
    }

    pub(super) fn file(&self) -> PathBuf {
        folder::path(&format!("{}.yaml", self.name))
    }

    /// Path of the report about a twin.
    pub(super) fn report(&self, twin: Twin) -> PathBuf {
        folder::path(&format!("{}-{}.html", word(twin), self.name))
    }

    /// Attacks one twin, and stops all processes that it starts.
    pub(super) async fn run(&self, twin: Twin, app: &App) -> Result<AttackedTwin, String> {
        let mut prepared = self.prepare(app).await?;
        let target = prepared.target_mut().ok_or("the suite has no target")?;
        let running = self.open(twin, target, app).await?;
        prepared.name(&format!("techmart, {}", word(twin)));
        let mut feed = Feed::new(app);
        if let Err(why) = feed.own_file(&self.report(twin), app) {
            // A folder that is not writable must not stop the demo.
            app.console.warn(&why);
        }
        let outcome = job::follow(prepared, app, |event| feed.event(event)).await;
        if let Some(running) = running {
            running.shutdown().await.map_err(|error| error.to_string())?;
        }
        let summary = outcome.map_err(|error| error.to_string())?.summary;
        feed.finish_quietly(&app.console);
        let report = summary.redteam.ok_or("the attack has no report")?;
        Ok(AttackedTwin {
            attack_suite: self.name,
            twin,
            findings: report.findings,
            interrupted: summary.interrupted,
        })
    }

    async fn prepare(&self, app: &App) -> Result<PreparedRun, String> {
        let text = SuiteText {
            name: self.file().display().to_string(),
            base_dir: app.context.cwd.clone(),
            text: self.suite.into(),
        };
        let orders = OrderRequest { destructive: self.destructive, ..OrderRequest::default() };
        let work = RedteamWork { suite: vec![text], orders, ..RedteamWork::default() };
        let work = Work::Redteam(Box::new(work));
        let request = RunRequest { stored: false, ..job::request("redteam", work, app) };
        let prepared = job::prepare(&job::jobs(app, None), request, app).await;
        prepared.map_err(|refusal| job::refused(&refusal, app).0)
    }

    /// Replaces the example target of the suite by the twin: by the command of this program, or by a served URL.
    async fn open(
        &self,
        twin: Twin,
        target: &mut McpTarget,
        app: &App,
    ) -> Result<Option<Running>, String> {
        let mut running = None;
        for server in &mut target.servers {
            match &mut server.launch {
                Launch::Command { command, args, .. } => {
                    *command = app.context.program.display().to_string();
                    args.retain(|arg| arg != "--vulnerable");
                    args.push(format!("--{}", word(twin)));
                }
                Launch::Url { url, .. } => {
                    let config = DemoConfig::new(twin).with_auth(Auth::Bearer);
                    let served = serve_http(config).await.map_err(|error| error.to_string())?;
                    *url = if url.ends_with("/sse") { served.sse_url() } else { served.url() };
                    running = Some(served);
                }
                Launch::Path { .. } => {}
            }
        }
        Ok(running)
    }
}
