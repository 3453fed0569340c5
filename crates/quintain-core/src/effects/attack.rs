//! What an attack on one target would start and contact.

use std::collections::BTreeMap;

use quintain_evidence::connection::McpTarget;
use quintain_evidence::effects::{Contact, Effects};
use quintain_source::Scope;
use secrecy::ExposeSecret;
use serde_json::Value;

use super::collect::Collector;
use super::names::{Defined, bare};
use super::targets;
use crate::redteam::Orders;
use crate::suite::{Suite, Target, TargetKind};

/// What an attack on this target would do. The suite and its orders are as they are written.
pub fn of_attack(
    name: &str,
    target: &McpTarget,
    suite: &Suite,
    orders: &Orders,
    inherited: &[&str],
) -> Effects {
    let mut found = Collector::new(suite, inherited);
    let defined = Defined(vec![&suite.written_env]);
    // Who the target is spoken to as, and what it must refuse.
    let mut texts: Vec<String> = Vec::new();
    for identity in &orders.identities {
        let secrets = identity.env.values().chain(identity.headers.iter().map(|(_, value)| value));
        texts.extend(secrets.map(|secret| secret.expose_secret().to_owned()));
        texts.push(Value::Object(identity.default_args.clone()).to_string());
    }
    texts.extend(orders.tokens.iter().map(|(_, token)| token.expose_secret().to_owned()));
    let content = defined.variables(texts.iter().map(String::as_str), Scope::Env);
    let own = suite.targets.iter().find(|one| one.name() == name);
    let target = Target {
        id: "mcp".to_owned(),
        label: Some(name.to_owned()),
        kind: TargetKind::Mcp(Box::new(target.clone())),
        offered: serde_json::Map::new(),
        prompts: None,
        transform: None,
        delay: None,
        env: own.map_or_else(BTreeMap::new, |own| own.env.clone()),
        span: quintain_source::Span::default(),
    };
    targets::collect(&target, &content, &mut found);
    if let Some(model) = &orders.model {
        let secrets = model.headers.iter().map(|(_, value)| value).chain(&model.key);
        let texts = secrets.map(ExposeSecret::expose_secret).chain([model.url.as_str()]);
        let purpose = orders.purpose.as_deref().unwrap_or_default();
        let mut receives = defined.variables(texts.chain([purpose]), Scope::Env);
        if model.key.is_none() {
            receives.names.insert(model.key_variable.clone());
        }
        let what = format!("model `{}` that proposes calls", model.name);
        let url = bare(&model.url);
        let url = if model.is_own_url { url } else { format!("{url}, or OPENAI_BASE_URL if set") };
        found.contact(Contact { what, url, receives });
    }
    found.finish()
}
