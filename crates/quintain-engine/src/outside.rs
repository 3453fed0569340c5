//! What code and targets of the user are run with: interpreters, the web, the environment.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quintain_evidence::code::{Code, Language};
use quintain_evidence::question::Answer;
use quintain_script::{Host, ScriptError};
use quintain_suite::code::RunCode as _;
use quintain_suite::suite::Consent;
use quintain_wire::redact::Redactor;
use serde_json::Value;

use crate::interpreters::{Call, Interpreters};
use crate::policy::{Commands, Policy};
use crate::web::Web;
use crate::world::World;

/// `REQUEST_TIMEOUT_MS` without a value.
const REQUEST_TIME: Duration = Duration::from_mins(5);
/// `WEBHOOK_TIMEOUT` without a value.
const WEBHOOK_TIME: Duration = Duration::from_secs(5);

/// Whatever a run reaches beyond its MCP servers.
pub(crate) struct Outside {
    pub(crate) host: Host,
    pub(crate) interpreters: Interpreters,
    pub(crate) web: Web,
    pub(crate) commands: Commands,
    pub(crate) policy: Arc<Policy>,
    /// Knows every secret of the run.
    pub(crate) redactor: Redactor,
    /// How long a request, a command or a call may take.
    pub(crate) time: Duration,
    pub(crate) webhook_time: Duration,
    /// How many bytes of an answer are held.
    pub(crate) limit: usize,
    /// Objects, arrays and members of an answer that is held as a value.
    parts: usize,
}

impl Outside {
    /// `env` is what code of the suite sees of the environment.
    pub(crate) fn new(consent: Consent, env: BTreeMap<String, String>, world: &World) -> Self {
        let time = millis(&env, "REQUEST_TIMEOUT_MS").unwrap_or(REQUEST_TIME);
        let webhook_time = millis(&env, "WEBHOOK_TIMEOUT").unwrap_or(WEBHOOK_TIME);
        let limit = world.limits.message_bytes;
        Self {
            interpreters: Interpreters::new(consent, env.clone(), time, limit, world.commands()),
            host: Host { env, ..Host::default() },
            web: Web::new(limit, world.policy.destinations()),
            commands: world.commands(),
            policy: world.policy.clone(),
            redactor: world.redactor.clone(),
            time,
            webhook_time,
            limit,
            parts: world.limits.parts,
        }
    }

    /// What came from outside as a value.
    ///
    /// # Errors
    /// When it is no JSON, or has too many parts to be held.
    pub(crate) fn json(&self, bytes: &[u8]) -> Result<Value, String> {
        // A part costs tens of bytes in memory and as few as two on the wire.
        let parts = bytes.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        if parts > self.parts {
            return Err(format!("it has more than {} parts", self.parts));
        }
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    pub(crate) fn env(&self) -> &BTreeMap<String, String> {
        &self.host.env
    }

    /// Runs code in its language. JavaScript that is inline sees the arguments by their names;
    /// `function` is the one to call in a file of Python or Ruby that names none.
    ///
    /// # Errors
    /// Says what went wrong in the code, or why it cannot be run.
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

/// # Errors
/// Why there is no value.
pub(crate) fn value(answer: Answer) -> Result<Value, String> {
    match answer {
        Answer::Value(value) => Ok(value),
        Answer::Failed(why) | Answer::Unavailable(why) => Err(why),
        Answer::Exchange(_) | Answer::Reply(_) => {
            Err("that is not an answer of an interpreter".to_owned())
        }
    }
}

fn millis(env: &BTreeMap<String, String>, name: &str) -> Option<Duration> {
    env.get(name)?.parse().ok().filter(|millis| *millis > 0).map(Duration::from_millis)
}
