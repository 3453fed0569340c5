//! Every kind of target with what is needed to open and ask it, one per file. To add one: write the file, its `mod` line
//! and its line in `ALL`. The kinds that are part of suites are read in `quintain-suite` and asked here; a new kind
//! implements both traits, `TargetKind` and `Sender`, in its file.

mod code;
mod echo;
mod exec;
mod http;
mod mcp;
mod models;

use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::response::Response;
use quintain_evidence::surface::Surface;
use quintain_source::Nunjucks;
use quintain_suite::suite::{self, Target, TargetKind};
use quintain_suite::target::Settings;
use serde_json::{Map, Value, json};

use crate::external_services::ExternalServices;
use crate::sessions::Sessions;
use crate::world::World;

/// All kinds of targets.
static ALL: &[&dyn AnySender] = &[
    &suite::McpKind,
    &suite::EchoKind,
    &suite::HttpKind,
    &suite::ExecKind,
    &suite::CodeKind,
    &suite::ModelKind,
];

/// The kinds of targets that suites are read with.
pub fn kinds() -> Vec<&'static dyn TargetKind> {
    ALL.iter().map(|kind| *kind as &dyn TargetKind).collect()
}

/// A kind of target that can be asked.
trait Sender: TargetKind {
    /// What its reader makes of an entry.
    type Settings: Settings;

    /// Opens a target for a run. Targets that take text have nothing to open.
    fn open(
        &self,
        _: &Asked<'_, Self::Settings>,
        _: &Opening<'_>,
    ) -> impl Future<Output = Result<Open, String>> + Send {
        std::future::ready(Ok(Open::Text))
    }

    /// Sends a prompt. What goes wrong is part of the answer.
    fn ask(
        &self,
        target: &Asked<'_, Self::Settings>,
        ask: &Ask<'_>,
        outside: &ExternalServices,
    ) -> impl Future<Output = Told> + Send;

    /// Whether an answer takes time that is worth measuring.
    fn takes_time(&self) -> bool {
        true
    }
}

/// A target with its settings.
struct Asked<'a, S> {
    target: &'a Target,
    settings: &'a S,
}

impl<S> Asked<'_, S> {
    /// The `options` argument of user programs: the target's id, label and configuration.
    fn options(&self, config: &Map<String, Value>) -> Value {
        let mut options = Map::new();
        options.insert("id".into(), self.target.id.clone().into());
        if let Some(label) = &self.target.label {
            options.insert("label".into(), label.clone().into());
        }
        options.insert("config".into(), config.clone().into());
        Value::Object(options)
    }
}

/// What a target is opened with.
pub(crate) struct Opening<'a> {
    pub(crate) world: &'a World,
    /// Whether the tests ask for what a server lists.
    pub(crate) wants_survey: bool,
}

/// A target that can be asked.
pub(crate) enum Open {
    /// Takes text. Has no session.
    Text,
    /// MCP servers, and what they list.
    Sessions(Sessions, Vec<(String, Surface)>),
}

/// What to send to a target.
pub(crate) struct Ask<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) vars: &'a Map<String, Value>,
    pub(crate) templates: &'a Nunjucks,
    /// Options of the test that change those of a model for this prompt.
    pub(crate) options: &'a Map<String, Value>,
}

impl Ask<'_> {
    /// The `context` argument of user programs.
    fn context(&self) -> Value {
        json!({"vars": self.vars, "prompt": {"raw": self.prompt, "label": self.prompt}})
    }
}

/// The result: the record of the exchange and the response.
struct Told {
    method: &'static str,
    sent: Value,
    outcome: Outcome,
    response: Response,
}

impl Told {
    /// The result if nothing was sent.
    fn refused(method: &'static str, sent: Value, why: impl Into<String>) -> Self {
        let why = why.into();
        let response = Response::failed(why.clone());
        Self { method, sent, outcome: Outcome::Refused { why }, response }
    }
}

/// A sender whatever the type of its settings.
trait AnySender: TargetKind {
    fn open_any<'f>(
        &'f self,
        target: &'f Target,
        opening: &'f Opening<'_>,
    ) -> BoxFuture<'f, Result<Open, String>>;

    fn ask_any<'f>(
        &'f self,
        target: &'f Target,
        ask: &'f Ask<'_>,
        outside: &'f ExternalServices,
    ) -> BoxFuture<'f, Told>;

    fn takes_any_time(&self) -> bool;
}

/// Settings that another kind has read; a mistake in a reader.
const WRONG_SETTINGS: &str = "the settings of the target are not those of its kind";

impl<K: Sender> AnySender for K {
    fn open_any<'f>(
        &'f self,
        target: &'f Target,
        opening: &'f Opening<'_>,
    ) -> BoxFuture<'f, Result<Open, String>> {
        async move {
            let settings = target.settings::<K::Settings>().ok_or(WRONG_SETTINGS)?;
            self.open(&Asked { target, settings }, opening).await
        }
        .boxed()
    }

    fn ask_any<'f>(
        &'f self,
        target: &'f Target,
        ask: &'f Ask<'_>,
        outside: &'f ExternalServices,
    ) -> BoxFuture<'f, Told> {
        async move {
            match target.settings::<K::Settings>() {
                Some(settings) => self.ask(&Asked { target, settings }, ask, outside).await,
                None => Told::refused("ask", Value::Null, WRONG_SETTINGS),
            }
        }
        .boxed()
    }

    fn takes_any_time(&self) -> bool {
        self.takes_time()
    }
}

fn sender(target: &Target) -> Option<&'static dyn AnySender> {
    ALL.iter().copied().find(|kind| kind.meta().id == target.kind.id)
}

/// Opens a target.
///
/// # Errors
/// Why it cannot be asked.
pub(crate) async fn open(target: &Target, opening: &Opening<'_>) -> Result<Open, String> {
    match sender(target) {
        Some(sender) => sender.open_any(target, opening).await,
        None => Err(unknown(target)),
    }
}

/// Sends a prompt to a target. Failures are part of the response.
pub(crate) async fn ask(
    target: &Target,
    ask: &Ask<'_>,
    outside: &ExternalServices,
) -> (Exchange, Response) {
    let started = Instant::now();
    let sender = sender(target);
    let told = match sender {
        Some(sender) => sender.ask_any(target, ask, outside).await,
        None => Told::refused("ask", Value::Null, unknown(target)),
    };
    let takes_time = sender.is_none_or(AnySender::takes_any_time);
    let took = if takes_time { started.elapsed() } else { Duration::ZERO };
    let exchange = Exchange::new(target.name(), told.method, told.sent, told.outcome).within(took);
    (exchange, told.response)
}

fn unknown(target: &Target) -> String {
    format!("targets of the kind `{}` cannot be asked", target.kind.id)
}

#[cfg(test)]
mod tests;
