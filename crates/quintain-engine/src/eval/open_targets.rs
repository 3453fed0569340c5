//! The open targets of a run.

use futures_util::future::{BoxFuture, FutureExt as _, join_all};
use quintain_evidence::code::Code;
use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::probe::Step;
use quintain_evidence::response::Response;
use quintain_evidence::surface::Surface;
use quintain_suite::suite::Target;

use super::{EvalRun, within};
use crate::external_services::ExternalServices;
use crate::inquiry::AskTarget;
use crate::sessions::{RouteError, Sessions};
use crate::targets::{self, Ask, Open, Opening};

/// Why a target is not open if the run ended first.
const NO_TIME: &str = "time limit reached before the target answered";

/// All targets of a run, by their position in the suite.
pub(super) struct OpenTargets<'a> {
    open_targets: Vec<OpenTarget<'a>>,
}

/// One target.
pub(super) struct OpenTarget<'a> {
    pub(super) target: &'a Target,
    pub(super) surfaces: Vec<(String, Surface)>,
    connection: Connection,
}

enum Connection {
    Mcp(Sessions),
    /// Takes text. Has no session.
    Text,
    /// Nothing is sent: the answers are recorded.
    Recorded,
    /// Could not be opened. Every case of the target ends with this error.
    Failed(String),
    /// No case needs it.
    Unused,
}

impl<'a> OpenTargets<'a> {
    /// Opens every target that a case needs, concurrently.
    pub(super) async fn open(job: &EvalRun<'a>) -> Self {
        let open = |planned_case: &&quintain_suite::plan::PlannedCase| !job.is_done(planned_case);
        let needed = |at: usize| {
            job.plan.cases.iter().filter(open).any(|planned_case| planned_case.target == at)
        };
        let opening = job.suite.targets.iter().enumerate();
        let open_targets = opening.map(|(at, target)| OpenTarget::open(target, needed(at), job));
        Self { open_targets: join_all(open_targets).await }
    }

    pub(super) fn get(&self, target: usize) -> &OpenTarget<'a> {
        &self.open_targets[target]
    }

    /// Why targets could not be opened.
    pub(super) fn unreachable(&self) -> Vec<String> {
        let closed =
            self.open_targets.iter().filter_map(|open_target| match &open_target.connection {
                Connection::Failed(why) => Some(why.clone()),
                _ => None,
            });
        closed.collect()
    }

    /// The surfaces of the targets, by target name.
    pub(super) fn surfaces(&self) -> impl Iterator<Item = (&str, &[(String, Surface)])> {
        let listed =
            self.open_targets.iter().filter(|open_target| !open_target.surfaces.is_empty());
        listed.map(|open_target| (open_target.target.name(), open_target.surfaces.as_slice()))
    }

    pub(super) async fn close(&self) {
        join_all(self.open_targets.iter().map(|open_target| async {
            if let Connection::Mcp(sessions) = &open_target.connection {
                sessions.close().await;
            }
        }))
        .await;
    }
}

impl<'a> OpenTarget<'a> {
    async fn open(target: &'a Target, needed: bool, job: &EvalRun<'_>) -> Self {
        let open_target = |connection, surfaces| Self { target, surfaces, connection };
        if !needed {
            return open_target(Connection::Unused, Vec::new());
        }
        if let Some(recording) = job.recording {
            return open_target(Connection::Recorded, recording.surfaces(target.name()));
        }
        // Metrics compare calls with what servers list.
        let wants_survey = job.suite.tests.tests.want_survey || job.metrics.is_some();
        let opening = Opening { world: job.world, wants_survey };
        match within(job.settings.max_time, targets::open(target, &opening)).await {
            Some(Ok(Open::Text)) => open_target(Connection::Text, Vec::new()),
            Some(Ok(Open::Sessions(sessions, surfaces))) => {
                open_target(Connection::Mcp(sessions), surfaces)
            }
            Some(Err(why)) => open_target(Connection::Failed(why), Vec::new()),
            None => open_target(Connection::Failed(NO_TIME.to_owned()), Vec::new()),
        }
    }

    pub(super) fn speaks_mcp(&self) -> bool {
        self.target.as_mcp().is_some()
    }

    pub(super) fn transform_response(&self) -> Option<&Code> {
        self.target.as_mcp()?.transform_response.as_ref()
    }

    /// Why nothing can be sent; `None` if the target is open.
    pub(super) fn closed(&self) -> Option<&str> {
        match &self.connection {
            Connection::Failed(why) => Some(why),
            Connection::Unused => Some("the target was not opened"),
            Connection::Mcp(_) | Connection::Text | Connection::Recorded => None,
        }
    }

    /// Sends text.
    pub(super) async fn ask(
        &self,
        ask: &Ask<'_>,
        external_services: &ExternalServices,
    ) -> (Exchange, Response) {
        targets::ask(self.target, ask, external_services).await
    }

    /// Sends one step to an MCP server.
    pub(super) async fn step(&self, step: &Step) -> Exchange {
        let Connection::Mcp(sessions) = &self.connection else {
            let why = self.closed().unwrap_or("the target is not an MCP server");
            return Exchange::of_step(step, Outcome::Refused { why: why.to_owned() });
        };
        let sent = sessions.step(step).await;
        sent.unwrap_or_else(|error| {
            Exchange::of_step(step, Outcome::Refused { why: route_words(&error) })
        })
    }
}

impl AskTarget for OpenTarget<'_> {
    fn call<'f>(&'f self, step: &'f Step) -> BoxFuture<'f, Result<Exchange, String>> {
        async move {
            match &self.connection {
                Connection::Recorded => {
                    Err("this call was not made when the run was recorded".to_owned())
                }
                _ => Ok(self.step(step).await),
            }
        }
        .boxed()
    }
}

/// Strips the prefix, since reports add it again.
fn route_words(error: &RouteError) -> String {
    let words = error.to_string();
    words.strip_prefix("MCP tool error: ").unwrap_or(&words).to_owned()
}
