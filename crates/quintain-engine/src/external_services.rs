//! Everything that user code and text targets run with: interpreters, HTTP, commands, the environment.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quintain_evidence::code::{Code, Language};
use quintain_script::{Host, ScriptError};
use quintain_suite::code::RunCode as _;
use quintain_suite::suite::Consent;
use quintain_wire::redact::Redactor;
use serde_json::Value;

use crate::interpreters::{Call, Interpreters, value};
use crate::models::ModelAccess;
use crate::policy::{Commands, Policy};
use crate::web::Web;
use crate::world::World;

/// Default of `REQUEST_TIMEOUT_MS`.
const REQUEST_TIME: Duration = Duration::from_mins(5);
/// Default of `WEBHOOK_TIMEOUT`.
const WEBHOOK_TIME: Duration = Duration::from_secs(5);

/// Everything that a run uses besides its MCP servers.
pub(crate) struct ExternalServices {
    pub(crate) host: Host,
    pub(crate) interpreters: Interpreters,
    pub(crate) web: Arc<Web>,
    pub(crate) models: ModelAccess,
    pub(crate) commands: Commands,
    pub(crate) policy: Arc<Policy>,
    /// Knows every secret of the run.
    pub(crate) redactor: Redactor,
    /// Time limit of a request, a command or a call.
    pub(crate) time: Duration,
    pub(crate) webhook_time: Duration,
    /// Maximum size of an answer in bytes.
    pub(crate) limit: usize,
    /// Maximum number of objects, arrays and members in a JSON answer.
    parts: usize,
}

impl ExternalServices {
    /// `env` is what code of the suite sees of the environment.
    pub(crate) fn new(consent: Consent, env: BTreeMap<String, String>, world: &World) -> Self {
        let time = millis(&env, "REQUEST_TIMEOUT_MS").unwrap_or(REQUEST_TIME);
        let webhook_time = millis(&env, "WEBHOOK_TIMEOUT").unwrap_or(WEBHOOK_TIME);
        let limit = world.limits.message_bytes;
        let web = Arc::new(Web::new(limit, world.policy.destinations()));
        Self {
            models: ModelAccess::new(env.clone(), web.clone(), world),
            interpreters: Interpreters::new(consent, env.clone(), time, limit, world.commands()),
            host: Host { env, ..Host::default() },
            web,
            commands: world.commands(),
            policy: world.policy.clone(),
            redactor: world.redactor.clone(),
            time,
            webhook_time,
            limit,
            parts: world.limits.parts,
        }
    }

    /// Parses an answer as JSON.
    ///
    /// # Errors
    /// When it is not valid JSON or has too many parts.
    pub(crate) fn json(&self, bytes: &[u8]) -> Result<Value, String> {
        // A part takes tens of bytes in memory, but may take only two on the wire.
        let parts = bytes.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        if parts > self.parts {
            return Err(format!("it has more than {} parts", self.parts));
        }
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    pub(crate) fn env(&self) -> &BTreeMap<String, String> {
        &self.host.env
    }

    /// Runs code in its language. Inline JavaScript sees the arguments by name. `function` is the function to call in a
    /// Python or Ruby file if the code does not name one.
    ///
    /// # Errors
    /// When the code fails or cannot run.
    pub(crate) async fn run(
        &self,
        code: &Code,
        function: &str,
        arguments: &[(&str, &Value)],
    ) -> Result<Value, String> {
        if code.language() == Language::JavaScript {
            self.policy.interpreter(Language::JavaScript).map_err(|denied| denied.to_string())?;
            let made = self.javascript(code, arguments).await;
            return made.map_err(|error| match error {
                ScriptError::Thrown { message, .. } => message,
                other => other.to_string(),
            });
        }
        let arguments: Vec<Value> = arguments.iter().map(|(_, value)| (*value).clone()).collect();
        let call = Call { code, function, arguments: &arguments, executable: None };
        value(self.interpreters.call(&call).await)
    }

    /// Code of the user may compute for seconds, so it does not run where the responses of targets are read.
    async fn javascript(
        &self,
        code: &Code,
        arguments: &[(&str, &Value)],
    ) -> Result<Value, ScriptError> {
        let script = code.script();
        let owned = |(name, value): &(&str, &Value)| ((*name).to_owned(), (*value).clone());
        let arguments: Vec<(String, Value)> = arguments.iter().map(owned).collect();
        let host = self.host.clone();
        let run = tokio::task::spawn_blocking(move || {
            let arguments: Vec<(&str, &Value)> =
                arguments.iter().map(|(name, value)| (name.as_str(), value)).collect();
            script.run(&arguments, &host)
        });
        run.await.unwrap_or_else(|error| Err(ScriptError::Engine { why: error.to_string() }))
    }

    pub(crate) async fn close(&self) {
        self.interpreters.close().await;
    }
}

fn millis(env: &BTreeMap<String, String>, name: &str) -> Option<Duration> {
    env.get(name)?.parse().ok().filter(|millis| *millis > 0).map(Duration::from_millis)
}
