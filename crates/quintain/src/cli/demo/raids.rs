//! The attacks on the practice target: suites as users write them, run as `quintain redteam run` runs them.

use std::path::PathBuf;

use quintain_demo::{Auth, DemoConfig, Place, Running, Twin, Weakness, serve_http};
use quintain_engine::jobs::OrderRequest;
use quintain_engine::jobs::Prepared;
use quintain_engine::jobs::RedteamWork;
use quintain_engine::jobs::RunRequest;
use quintain_engine::jobs::Work;
use quintain_engine::store::SuiteText;
use quintain_evidence::connection::{Launch, McpTarget};
use quintain_evidence::finding::Finding;
use quintain_redteam::orders::Destructive;

use super::folder;
use crate::cli::Desk;
use crate::cli::job;
use crate::cli::reports::Feed;

/// One suite that attacks.
pub(super) struct Raid {
    pub(super) name: &'static str,
    /// In a few words, for progress.
    pub(super) what: &'static str,
    pub(super) suite: &'static str,
    /// Tools that destroy are called, too: everything they can destroy was made for the raid.
    destructive: Destructive,
    /// Some of its attacks measure time.
    pub(super) measures: bool,
}

pub(super) const RAIDS: [Raid; 4] = [
    Raid {
        name: "server",
        what: "one customer, over stdio",
        suite: include_str!("raids/server.yaml"),
        destructive: Destructive::Never,
        measures: true,
    },
    Raid {
        name: "people",
        what: "two customers, over HTTP",
        suite: include_str!("raids/people.yaml"),
        destructive: Destructive::Never,
        measures: false,
    },
    Raid {
        name: "roles",
        what: "an administrator and two customers, over HTTP",
        suite: include_str!("raids/roles.yaml"),
        destructive: Destructive::All,
        measures: false,
    },
    Raid {
        name: "stream",
        what: "two customers, over HTTP+SSE",
        suite: include_str!("raids/stream.yaml"),
        destructive: Destructive::Never,
        measures: false,
    },
];

/// What came of a raid on a twin.
pub(super) struct Raided {
    pub(super) raid: &'static str,
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

impl Raid {
    /// Whether it is this raid that has to find a weakness.
    pub(super) fn seeks(&self, weakness: &Weakness) -> bool {
        let raid = match (weakness.rule, weakness.place) {
            (_, Place::Http("sessionId")) => "stream",
            (_, Place::Http(_)) => "people",
            // Refunds destroy.
            ("bfla", _) | ("bola", Place::Argument { tool: "refund_payment", .. }) => "roles",
            ("bola", _) => "people",
            _ => "server",
        };
        self.name == raid
    }

    /// Writes the suite beside its reports.
    pub(super) fn write(&self, desk: &Desk) {
        folder::write(&format!("{}.yaml", self.name), &folder::suite(self.suite, desk), desk);
    }

    pub(super) fn file(&self) -> PathBuf {
        folder::path(&format!("{}.yaml", self.name))
    }

    /// The report of a raid.
    pub(super) fn report(&self, twin: Twin) -> PathBuf {
        folder::path(&format!("{}-{}.html", word(twin), self.name))
    }

    /// Attacks one twin. What it starts ends with it.
    pub(super) async fn run(&self, twin: Twin, desk: &Desk) -> Result<Raided, String> {
        let mut prepared = self.prepare(desk).await?;
        let target = prepared.target_mut().ok_or("the suite has no target")?;
        let running = self.open(twin, target, desk).await?;
        prepared.name(&format!("techmart, {}", word(twin)));
        let mut feed = Feed::new(desk);
        if let Err(why) = feed.own_file(&self.report(twin), desk) {
            // A folder that cannot be written to must not keep anybody from the demonstration.
            desk.console.warn(&why);
        }
        let outcome = job::follow(prepared, desk, |event| feed.event(event)).await;
        if let Some(running) = running {
            running.shutdown().await.map_err(|error| error.to_string())?;
        }
        let summary = outcome.map_err(|error| error.to_string())?.summary;
        feed.finish_quietly(&desk.console);
        let report = summary.redteam.ok_or("the attack has no report")?;
        Ok(Raided {
            raid: self.name,
            twin,
            findings: report.findings,
            interrupted: summary.interrupted,
        })
    }

    async fn prepare(&self, desk: &Desk) -> Result<Prepared, String> {
        let text = SuiteText {
            name: self.file().display().to_string(),
            base_dir: desk.context.cwd.clone(),
            text: self.suite.into(),
        };
        let orders = OrderRequest { destructive: self.destructive, ..OrderRequest::default() };
        let work = RedteamWork { suite: vec![text], orders, ..RedteamWork::default() };
        let work = Work::Redteam(Box::new(work));
        let request = RunRequest { stored: false, ..job::request("redteam", work, desk) };
        let prepared = job::prepare(&job::jobs(desk, None), request, desk).await;
        prepared.map_err(|refusal| job::refused(&refusal, desk).0)
    }

    /// Puts the twin where the suite has its example: this program, or an address that is free.
    async fn open(
        &self,
        twin: Twin,
        target: &mut McpTarget,
        desk: &Desk,
    ) -> Result<Option<Running>, String> {
        let mut running = None;
        for server in &mut target.servers {
            match &mut server.launch {
                Launch::Command { command, args, .. } => {
                    *command = desk.context.program.display().to_string();
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
