//! What the user orders of a red-team run: which attacks, how many, as whom, how destructive. Knows nothing of what came
//! of it.

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
pub use provider::ModelOrder;
pub(crate) use provider::ignored as provider_options;
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
use quintain_evidence::result::Place as Written;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::attack::{AnyAttack, Given};
use crate::attacks;
use crate::baseline::Suppression;
use crate::strategies::Tactic;

/// A target whose every call takes seconds would keep a run busy for hours.
const DEFAULT_TIME: Duration = Duration::from_mins(5);
/// promptfoo asks for so many.
const DEFAULT_PROPOSALS: usize = 5;

/// What a red-team run shall do.
#[derive(Clone)]
pub struct Orders {
    pub plugins: Vec<PluginOrder>,
    pub strategies: Arc<[Tactic]>,
    pub purpose: Option<String>,
    /// Who proposes calls that fit the purpose.
    pub model: Option<ModelOrder>,
    pub identities: Vec<IdentityOrder>,
    /// How many calls it is asked for.
    pub proposals: usize,
    /// Where to listen, if not on a free port of the loopback.
    pub listener: Option<(String, u16)>,
    pub seed: u64,
    pub budget_calls: Option<usize>,
    pub budget_time: Option<Duration>,
    pub concurrency: usize,
    /// What tools that destroy may be called with.
    pub destructive: Destructive,
    /// Targets that are not on this machine may be attacked.
    pub allow_remote: bool,
    /// Only these attacks at the places with these keys are made.
    pub only: Option<BTreeSet<(String, String)>>,
    /// How often a hit is tried again.
    pub confirmations: usize,
    /// Findings that are accepted, and the day on which that is asked.
    pub suppressions: Vec<Suppression>,
    pub today: String,
    /// How a command line names the target again: `-- python3 server.py`, `-c quintain.yaml`.
    pub again: Option<String>,
    /// Where servers are written, by their names.
    pub written: BTreeMap<String, Written>,
    /// What was asked for and cannot be done.
    pub not_run: Vec<NotRun>,
    /// Attacks of the suite, whether they are ordered or not.
    pub defined: Vec<Arc<Defined>>,
    /// Tokens that must be refused.
    pub tokens: Vec<(Given, SecretString)>,
    /// From which severity on a confirmed finding fails the run.
    pub fail_on: Option<Severity>,
}

/// One attack that shall be run.
#[derive(Clone)]
pub struct PluginOrder {
    pub attack: AnyAttack,
    /// At most so many places are attacked.
    pub num_tests: Option<usize>,
    /// In the place of that of the attack.
    pub severity: Option<Severity>,
}

impl Default for Orders {
    fn default() -> Self {
        Self {
            plugins: Vec::new(),
            strategies: Arc::new([]),
            purpose: None,
            model: None,
            proposals: DEFAULT_PROPOSALS,
            identities: Vec::new(),
            listener: None,
            seed: 0,
            budget_calls: None,
            budget_time: Some(DEFAULT_TIME),
            concurrency: 4,
            destructive: Destructive::Never,
            allow_remote: false,
            only: None,
            confirmations: 2,
            suppressions: Vec::new(),
            today: String::new(),
            again: None,
            written: BTreeMap::new(),
            not_run: Vec::new(),
            defined: Vec::new(),
            tokens: Vec::new(),
            fail_on: None,
        }
    }
}

impl Orders {
    /// Every attack there is.
    pub fn everything(&mut self) {
        let order = |attack: AnyAttack| PluginOrder { attack, num_tests: None, severity: None };
        let builtin = attacks::all().iter().map(|attack| AnyAttack::Builtin(*attack));
        let defined = self.defined.iter().cloned().map(|attack| AnyAttack::Defined(attack));
        self.plugins = builtin.chain(defined).map(order).collect();
    }

    /// Everything that must be shown nowhere.
    pub fn secrets(&self) -> Vec<Secret> {
        let tokens = self.tokens.iter().flat_map(|(_, token)| of_value(token.expose_secret()));
        tokens.chain(self.identities.iter().flat_map(IdentityOrder::secrets)).collect()
    }

    /// What an attack by these orders sends besides the target's own settings.
    pub fn carried(&self) -> Carried {
        let mut texts: Vec<String> = Vec::new();
        for identity in &self.identities {
            let headers = identity.headers.iter().map(|(_, value)| value);
            let secrets = identity.env.values().chain(headers);
            texts.extend(secrets.map(|secret| secret.expose_secret().to_owned()));
            texts.push(Value::Object(identity.default_args.clone()).to_string());
        }
        texts.extend(self.tokens.iter().map(|(_, token)| token.expose_secret().to_owned()));
        let model = self.model.as_ref().map(|model| {
            let secrets = model.headers.iter().map(|(_, value)| value).chain(&model.key);
            let texts = secrets.map(|secret| secret.expose_secret().to_owned());
            CarriedModel {
                name: model.name.clone(),
                url: model.url.clone(),
                is_own_url: model.is_own_url,
                texts: texts.chain(self.purpose.clone()).collect(),
                key_variable: model.key.is_none().then(|| model.key_variable.clone()),
            }
        });
        Carried { texts, model }
    }
}
