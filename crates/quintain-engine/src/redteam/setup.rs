//! Sets up a run: canary files, listener, shims, and sessions for every identity.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use quintain_content::secret::names_a_secret;
use quintain_evidence::connection::{Auth, Launch, McpTarget};
use quintain_evidence::event::{Event, Phase};
use quintain_evidence::redteam_report::{FileChange, NotRun};
use quintain_evidence::surface::Surface;
use quintain_evidence::tool_call::ToolCall;
use quintain_redteam::attack::{Capabilities, Input, MarkKey};
use quintain_redteam::knowledge::{Hints, Knowledge, aims, aims_in_modes};
use quintain_redteam::opinion::Judge;
use quintain_redteam::orders::IdentityOrder;
use quintain_wire::destination::NotAllowed;

use super::budget::Budget;
use super::canary_files::{self, PlantedFiles};
use super::clock::Clock;
use super::gate::Gate;
use super::identity_sessions::{IdentitySessions, with_env};
use super::learn::{LearnContext, SHARE, broken_off, learn};
use super::listener::OpenListener;
use super::observer::Observer;
use super::previous::StoredKnowledge;
use super::proposals::Proposals;
use super::restore::FileSnapshot;
use super::roots::{self, location};
use super::shims::Shims;
use super::{AttackedTarget, ENV_CANARY, RedteamError, RedteamRun, text};
use crate::eval::Stop;
use crate::masked::Emitted;

/// Everything that is set up for a run. Dropping it removes what was planted.
pub(super) struct Setup {
    /// The MCP servers, if it attacks any.
    target: Option<McpTarget>,
    pub(super) marks: MarkKey,
    pub(super) observer: Observer,
    pub(super) budget: Budget,
    pub(super) gate: Arc<Gate>,
    snapshot: Mutex<FileSnapshot>,
    roots: Vec<PathBuf>,
    http: bool,
    is_local: bool,
    env_canary: Option<String>,
    /// What could not be set up, and why.
    pub(super) not_run: Option<NotRun>,
}

impl Setup {
    pub(super) async fn prepare(
        redteam_run: &RedteamRun<'_>,
        stop: Option<Stop>,
    ) -> Result<Self, RedteamError> {
        let orders = redteam_run.orders;
        let budget = Budget::new(orders, stop);
        let target = match redteam_run.target {
            AttackedTarget::Mcp(target) => target,
            AttackedTarget::Text(target) => {
                return Self::for_text(redteam_run, text::is_remote(target), budget);
            }
        };
        let location = location(target);
        if location.is_remote && !redteam_run.orders.allow_remote {
            return Err(RedteamError::Remote);
        }
        let mut target = target.clone();
        let snapshot = FileSnapshot::take(&target, redteam_run.world);
        let policy = &redteam_run.world.policy;
        let mut roots = roots::declared(&target, &redteam_run.world.cwd);
        // Canary files are planted in a root and next to it.
        roots.retain(|root| policy.file(root.parent().unwrap_or(root)).is_ok());
        let marks = random_key().map_err(RedteamError::CanaryFiles)?;
        let git = redteam_run.world.commands().program("git", None, []).ok();
        let planted = if location.is_local {
            let state_dir = redteam_run.world.state_dir.as_deref();
            let mut planted = PlantedFiles::new(&roots, &marks, state_dir, git.as_deref())
                .map_err(RedteamError::CanaryFiles)?;
            let folders = roots::working_folders(&target, &redteam_run.world.cwd).into_iter();
            for folder in folders.filter(|folder| policy.file(folder).is_ok()) {
                // A target that uses a path as a plain file name writes to its working directory.
                planted.watch(&folder, canary_files::DEPTH).map_err(RedteamError::CanaryFiles)?;
            }
            Some(planted)
        } else {
            None
        };
        let search = redteam_run.world.variable("PATH").cloned().unwrap_or_default();
        // Shims come first in `PATH`. A restricted run must not change which program is found.
        let finds_all = policy.commands.is_everything() && policy.variable("PATH").is_ok();
        let shims = planted.as_ref().filter(|_| finds_all);
        let shims = shims.and_then(|planted| Shims::write(&planted.canaries.root, &search).ok());
        let mut env_canary = None;
        if let Some(shims) = &shims {
            let canary = format!("quintain-canary-{}", marks.marks("environment").mark());
            let path = ("PATH".to_owned(), shims.before(&search));
            with_env(&mut target, &[path, (ENV_CANARY.to_owned(), canary.clone())]);
            // Many targets may write temporary files, so give them a separate folder next to the canary files.
            let temp = planted.as_ref().map(|planted| planted.canaries.root.join("temp"));
            if let Some(temp) = temp.filter(|temp| std::fs::create_dir(temp).is_ok()) {
                with_env(&mut target, &[("TMPDIR".to_owned(), temp.display().to_string())]);
            }
            env_canary = Some(canary).filter(|_| !location.http);
        }
        let (listener, not_run) = match opened(redteam_run, location.is_local).await? {
            Ok(listener) => (listener, None),
            Err(not_run) => (None, Some(not_run)),
        };
        let sleep = redteam_run.world.commands().program("sleep", None, []).ok();
        let gate = Gate::new(orders.destructive, orders.budget_time, sleep);
        Ok(Self {
            target: Some(target),
            marks,
            observer: Observer::new(planted, shims, listener),
            budget,
            snapshot: Mutex::new(snapshot),
            gate: Arc::new(gate),
            roots,
            http: location.http,
            is_local: location.is_local,
            env_canary,
            not_run,
        })
    }

    /// A target that takes text has no files, programs or sessions to observe.
    fn for_text(
        redteam_run: &RedteamRun<'_>,
        is_remote: bool,
        budget: Budget,
    ) -> Result<Self, RedteamError> {
        let orders = redteam_run.orders;
        if is_remote && !orders.allow_remote {
            return Err(RedteamError::Remote);
        }
        Ok(Self {
            target: None,
            marks: random_key().map_err(RedteamError::CanaryFiles)?,
            observer: Observer::new(None, None, None),
            budget,
            snapshot: Mutex::new(FileSnapshot::default()),
            gate: Arc::new(Gate::new(orders.destructive, orders.budget_time, None)),
            roots: Vec::new(),
            http: false,
            is_local: !is_remote,
            env_canary: None,
            not_run: None,
        })
    }

    /// Opens one set of sessions per identity. Without identities, uses the target as configured.
    pub(super) async fn sessions_by_identity(
        &self,
        redteam_run: &RedteamRun<'_>,
    ) -> Result<Vec<IdentitySessions>, RedteamError> {
        let Some(target) = &self.target else { return Ok(Vec::new()) };
        let own = IdentityOrder { name: "default".to_owned(), ..IdentityOrder::default() };
        let orders = &redteam_run.orders.identities;
        let orders: Vec<&IdentityOrder> =
            if orders.is_empty() { vec![&own] } else { orders.iter().collect() };
        let mut sessions_by_identity = Vec::new();
        for order in orders {
            let shim_folder = self.observer.shim_folder();
            sessions_by_identity.push(
                IdentitySessions::open(target, order, redteam_run.world, shim_folder, &self.gate)
                    .await?,
            );
        }
        Ok(sessions_by_identity)
    }

    pub(super) async fn learn(
        &self,
        redteam_run: &RedteamRun<'_>,
        sessions_by_identity: &[IdentitySessions],
        surfaces: &[(String, Surface)],
    ) -> Knowledge {
        let mut knowledge = Knowledge { roots: self.roots.clone(), ..Knowledge::default() };
        let mut hints = self.hints();
        let stored_knowledge =
            redteam_run.previous.and_then(|previous| previous.stored_knowledge.clone());
        let known = stored_knowledge.map(|stored_knowledge| {
            let planted = |planted: &mut PlantedFiles| stored_knowledge.clone().on(planted);
            self.observer.with_planted(planted).unwrap_or(stored_knowledge.knowledge)
        });
        let known = known.unwrap_or_default();
        let canary_folder = self.observer.with_planted(|planted| planted.canaries.root.clone());
        self.gate.add_planted(&hints, canary_folder);
        let learning = async {
            for (at, identity_sessions) in sessions_by_identity.iter().enumerate() {
                let listed;
                let surfaces = if at == 0 {
                    surfaces
                } else {
                    listed = identity_sessions.survey().await;
                    &listed
                };
                self.gate.add_tools(surfaces);
                let known = if at == 0 { &known.baselines[..] } else { &[] };
                let (gate, budget, observer) = (&*self.gate, &self.budget, &self.observer);
                let learn_context = LearnContext { known, gate, budget, observer };
                Box::pin(learn(
                    identity_sessions,
                    at,
                    surfaces,
                    &mut hints,
                    learn_context,
                    &mut knowledge,
                ))
                .await;
            }
        };
        if self.budget.within_part(SHARE, learning).await.is_none() {
            broken_off(surfaces, &self.gate, &mut knowledge);
        }
        // The target may have named further roots.
        knowledge.roots.retain(|root| redteam_run.world.policy.file(root).is_ok());
        let callable: Vec<(String, Surface)> = surfaces
            .iter()
            .map(|(name, surface)| {
                let mut surface = surface.clone();
                surface.tools.retain(|tool| !self.gate.never_calls(tool));
                (name.clone(), surface)
            })
            .collect();
        knowledge.aims = aims(&callable, &knowledge);
        knowledge.aims_in_modes = aims_in_modes(&callable, &knowledge);
        knowledge
    }

    /// The calls that a model proposes, if one is configured. A resumed run reuses the stored proposals.
    pub(super) async fn proposals(
        &self,
        redteam_run: &RedteamRun<'_>,
        surfaces: &[(String, Surface)],
        clock: &mut Clock,
        listen: &mut dyn FnMut(Emitted),
    ) -> Proposals {
        let kept = redteam_run.previous.and_then(|previous| previous.stored_knowledge.as_ref());
        if let Some(stored_knowledge) = kept {
            let calls = stored_knowledge.proposed.clone();
            return Proposals { calls, ..Proposals::default() };
        }
        if self.target.is_none() {
            return Proposals::default();
        }
        let Some(order) =
            redteam_run.orders.model.as_ref().filter(|_| redteam_run.orders.only.is_none())
        else {
            return Proposals::default();
        };
        listen(Event::Phase(Phase::Propose).into());
        let asked =
            self.budget.within(Box::pin(Proposals::ask(order, redteam_run, surfaces))).await;
        let proposals = asked.unwrap_or_else(|| {
            let why = self.budget.why().unwrap_or_else(|| "interrupted".to_owned());
            Proposals::none(order, why)
        });
        clock.end_phase("propose", None);
        proposals
    }

    /// Removes what was planted, restores settings that the target changed, and returns all changes. All sessions must be
    /// closed.
    pub(super) fn restore(&self) -> Vec<FileChange> {
        self.observer.clear();
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).restore()
    }

    /// The knowledge in the form that a resumed run can use.
    pub(super) fn stored_knowledge(
        &self,
        knowledge: &Knowledge,
        proposed: &[ToolCall],
    ) -> StoredKnowledge {
        let canary_folder = self.observer.with_planted(|planted| planted.canaries.root.clone());
        let mark = self.observer.with_planted(|planted| planted.mark().to_string());
        StoredKnowledge {
            canary_folder,
            mark,
            knowledge: knowledge.clone(),
            proposed: proposed.to_vec(),
        }
    }

    fn hints(&self) -> Hints {
        let url =
            self.observer.listener.as_ref().map(|listener| {
                format!("http://{}:{}/", listener.address.host, listener.address.port)
            });
        let mark = self.observer.with_planted(|planted| planted.mark().clone());
        let mark = mark.unwrap_or_else(|| self.marks.marks("word").mark());
        let word = format!("quintain{mark}");
        let mut hints = Hints { url, word, folders: self.roots.clone(), ..Hints::default() };
        self.observer.with_planted(|planted| planted.hint(&self.roots, &mut hints));
        hints
    }

    pub(super) fn capabilities(
        &self,
        redteam_run: &RedteamRun<'_>,
        sessions_by_identity: &[IdentitySessions],
        input: Option<Input>,
    ) -> Capabilities {
        let servers = self.target.iter().flat_map(|target| &target.servers);
        let has_auth = servers.into_iter().any(|server| match &server.launch {
            Launch::Url { headers, auth, .. } => {
                !matches!(auth, Auth::None) || headers.iter().any(|(name, _)| names_a_secret(name))
            }
            _ => false,
        });
        let identities = &redteam_run.orders.identities;
        Capabilities {
            same_host: self.is_local,
            http: self.http,
            sse: sessions_by_identity
                .first()
                .and_then(IdentitySessions::raw_connection)
                .is_some_and(|raw_connection| raw_connection.is_sse()),
            loopback: self.http && self.is_local,
            credentials: has_auth || identities.iter().any(|one| !one.headers.is_empty()),
            identities: sessions_by_identity
                .iter()
                .map(|identity_sessions| identity_sessions.identity.clone())
                .collect(),
            destructive: redteam_run.orders.destructive.is_allowed(),
            env_canary: self.env_canary.clone(),
            input,
            judge: redteam_run
                .orders
                .judge
                .clone()
                .map(|model| Judge { model, samples: redteam_run.orders.judge_samples }),
            given: redteam_run.orders.tokens.iter().map(|(given, _)| *given).collect(),
        }
    }
}

/// Opens the listener, or returns why there is none. An ordered listener that the policy does not allow is an error.
async fn opened(
    redteam_run: &RedteamRun<'_>,
    is_here: bool,
) -> Result<Result<Option<OpenListener>, NotRun>, RedteamError> {
    let ordered = redteam_run.orders.listener.as_ref();
    let (host, port) = match ordered {
        Some((host, port)) => (host.as_str(), *port),
        None if is_here => ("127.0.0.1", 0),
        None => return Ok(Ok(None)),
    };
    let address = if port == 0 { host.to_owned() } else { format!("{host}:{port}") };
    let destinations = redteam_run.world.policy.destinations();
    if destinations.check_pair(host, port).is_ok() {
        let opened = OpenListener::open(host, port).await.map(Some);
        return Ok(
            opened.map_err(|error| left_out(format!("cannot listen on `{address}`: {error}")))
        );
    }
    let denied = NotAllowed::Address(address.clone());
    if ordered.is_some() {
        return Err(RedteamError::Listener { address, denied });
    }
    Ok(Err(left_out(denied.to_string())))
}

fn left_out(why: String) -> NotRun {
    NotRun { what: "what only a connection to Quintain proves".to_owned(), why }
}

/// A random key, so that targets cannot predict marks.
fn random_key() -> std::io::Result<MarkKey> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(MarkKey::new(bytes))
}
