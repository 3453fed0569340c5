//! What the user orders of a red-team run: which attacks, how many, with which identities, how destructive. Knows
//! nothing about results.

pub(crate) mod defined;
mod destructive;
mod entries;
mod fitting;
mod groups;
mod identities;
mod intent;
mod plugins;
mod policy;
mod provider;
mod read;
mod replay;
mod schema;

pub use defined::{Defined, Reading};
pub use destructive::Destructive;
pub use fitting::{Fit, fitting};
pub use identities::IdentityOrder;
pub use intent::proposed;
pub use plugins::{
    Unavailable, all_unavailable, collection_names, collections, known_names, unavailable,
};
pub(crate) use provider::ignored as provider_options;
pub use provider::{ModelOrder, model_name};
pub(crate) use read::IGNORED;
pub use replay::trial_of;
pub use schema::schema;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use quintain_content::secret::{Secret, of_value};
use quintain_evidence::finding::Severity;
use quintain_evidence::redteam_node::{Carried, CarriedModel};
use quintain_evidence::redteam_report::NotRun;
use quintain_evidence::result::SourcePlace as Written;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::accepted_findings::Suppression;
use crate::attack::{AnyAttack, Given};
use crate::attacks;
use crate::strategies::Tactic;
use crate::suits::Receiver;

/// A target that takes seconds for each call would keep a run busy for hours.
const DEFAULT_TIME: Duration = Duration::from_mins(5);
/// The default of promptfoo.
const DEFAULT_PROPOSALS: usize = 5;
/// An odd number, so that opinions have a majority.
const DEFAULT_SAMPLES: usize = 3;

/// The settings of a red-team run.
#[derive(Clone)]
pub struct Orders {
    pub plugins: Vec<PluginOrder>,
    /// Maximum number of places for each attack, unless its own order differs.
    pub num_tests: Option<usize>,
    pub strategies: Arc<Vec<Tactic>>,
    pub purpose: Option<String>,
    /// Intents in words for an MCP server, which a judge decides.
    pub goals: Vec<String>,
    /// Who is attacked; other attacks do not apply.
    pub receiver: Receiver,
    /// The model that proposes calls for the purpose and writes the messages of conversations, as the suite names it.
    pub model: Option<Value>,
    /// The model that judges what no oracle can decide, as the suite names it.
    pub judge: Option<Value>,
    /// Number of opinions that a judge is asked for.
    pub judge_samples: usize,
    /// How a target that takes text is asked.
    pub prompts: PromptOrder,
    pub identities: Vec<IdentityOrder>,
    /// Number of calls to request from the model.
    pub proposals: usize,
    /// Host and port of the listener, if not a free port of the loopback address.
    pub listener: Option<(String, u16)>,
    pub seed: u64,
    pub budget_calls: Option<usize>,
    pub budget_time: Option<Duration>,
    /// Tokens that the target and other models may use, as far as they report it.
    pub budget_tokens: Option<u64>,
    /// The same in US dollars.
    pub budget_cost: Option<f64>,
    pub concurrency: usize,
    /// Whether and how destructive tools may be called.
    pub destructive: Destructive,
    /// Whether targets on other machines may be attacked.
    pub allow_remote: bool,
    /// Run only these attacks at the places with these keys.
    pub only: Option<BTreeSet<(String, String)>>,
    /// Number of times a hit is repeated.
    pub confirmations: usize,
    /// Accepted findings, and the day for which their expiry is checked.
    pub suppressions: Vec<Suppression>,
    pub today: String,
    /// The target as command-line arguments: `-- python3 server.py`, `-c quintain.yaml`.
    pub reproduction_target: Option<String>,
    /// Where each server is configured, by server name.
    pub written: BTreeMap<String, Written>,
    /// What was requested but cannot run.
    pub not_run: Vec<NotRun>,
    /// Attacks that the suite defines, whether ordered or not.
    pub defined: Vec<Arc<Defined>>,
    /// Tokens that the server must refuse.
    pub tokens: Vec<(Given, SecretString)>,
    /// Minimum severity of a confirmed finding that fails the run.
    pub fail_on: Option<Severity>,
}

/// How a target that takes text is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptOrder {
    /// The variable of the prompts that contains what the user says.
    pub variable: Option<String>,
    /// Sent as the first message, in the role `system`. May contain `{{canary}}` and `{{planted}}`.
    pub system: Option<String>,
    /// Whether the target keeps the conversation itself, by `{{sessionId}}`.
    pub is_stateful: bool,
    /// How often every prompt is sent.
    pub repeat: Option<usize>,
    /// How long to wait for a reply, if the user limits it.
    pub time_limit: Option<Duration>,
}

/// One attack to run.
#[derive(Clone)]
pub struct PluginOrder {
    pub attack: AnyAttack,
    /// Maximum number of places to attack.
    pub num_tests: Option<usize>,
    /// Overrides the severity of the attack.
    pub severity: Option<Severity>,
}

impl Default for Orders {
    fn default() -> Self {
        Self {
            plugins: Vec::new(),
            num_tests: None,
            strategies: Arc::default(),
            purpose: None,
            goals: Vec::new(),
            receiver: Receiver::default(),
            model: None,
            judge: None,
            judge_samples: DEFAULT_SAMPLES,
            prompts: PromptOrder::default(),
            proposals: DEFAULT_PROPOSALS,
            identities: Vec::new(),
            listener: None,
            seed: 0,
            budget_calls: None,
            budget_time: Some(DEFAULT_TIME),
            budget_tokens: None,
            budget_cost: None,
            concurrency: 4,
            destructive: Destructive::Never,
            allow_remote: false,
            only: None,
            confirmations: 2,
            suppressions: Vec::new(),
            today: String::new(),
            reproduction_target: None,
            written: BTreeMap::new(),
            not_run: Vec::new(),
            defined: Vec::new(),
            tokens: Vec::new(),
            fail_on: None,
        }
    }
}

impl Orders {
    /// Orders every attack.
    pub fn everything(&mut self) {
        let order = |attack: AnyAttack| PluginOrder { attack, num_tests: None, severity: None };
        let builtin = attacks::suiting(self.receiver).map(AnyAttack::Builtin);
        let defined = self.defined.iter().cloned().map(|attack| AnyAttack::Defined(attack));
        self.plugins = builtin.chain(defined).map(order).collect();
    }

    /// Everything that must not be shown.
    pub fn secrets(&self) -> Vec<Secret> {
        let tokens = self.tokens.iter().flat_map(|(_, token)| of_value(token.expose_secret()));
        tokens.chain(self.identities.iter().flat_map(IdentityOrder::secrets)).collect()
    }

    /// What these orders send in addition to the target's settings.
    pub fn carried(&self) -> Carried {
        let mut texts: Vec<String> = Vec::new();
        for identity in &self.identities {
            let headers = identity.headers.iter().map(|(_, value)| value);
            let secrets = identity.env.values().chain(headers);
            texts.extend(secrets.map(|secret| secret.expose_secret().to_owned()));
            texts.push(Value::Object(identity.default_args.clone()).to_string());
        }
        texts.extend(self.tokens.iter().map(|(_, token)| token.expose_secret().to_owned()));
        let model = self.model.as_ref().and_then(ModelOrder::of).map(|model| {
            let secrets = model.headers.iter().map(|(_, value)| value).chain(&model.key);
            let texts = secrets.map(|secret| secret.expose_secret().to_owned());
            CarriedModel {
                name: model.name.clone(),
                url: model.url.clone(),
                is_own_url: model.is_own_url,
                texts: texts.chain(self.purpose.clone()).collect(),
                key_variable: model.key.is_none().then(|| model.key_variable.clone()),
                key_file: model.key_file,
            }
        });
        let mut others = Vec::new();
        if let (None, Some(named)) = (&model, &self.model) {
            others.push((
                format!("model `{}` that proposes calls", model_name(named)),
                named.clone(),
            ));
        }
        if let Some(judge) = self.judge.as_ref().filter(|judge| self.model.as_ref() != Some(judge))
        {
            others.push(("judge".to_owned(), judge.clone()));
        }
        Carried { texts, model, others }
    }
}
