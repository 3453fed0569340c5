//! The effects of attacking one target: what the attack starts and contacts.

use std::collections::BTreeMap;

use quintain_evidence::connection::McpTarget;
use quintain_evidence::effects::{Contact, Effects};
use quintain_evidence::redteam_node::Carried;
use quintain_source::Scope;

use super::collect::{Collector, Models};
use crate::suite::{MCP, Suite, Target};
use crate::target::{Defined, bare};

/// The effects of attacking these MCP servers; without them, the target of the suite with this name. Templates in the suite
/// are not expanded.
pub fn of_attack(
    name: &str,
    target: Option<&McpTarget>,
    suite: &Suite,
    carried: &Carried,
    models: &Models<'_>,
    inherited: &[&str],
) -> Effects {
    let mut found = Collector::new(suite, models, inherited);
    let defined = Defined(vec![&suite.written_env]);
    let content = defined.variables(carried.texts.iter().map(String::as_str), Scope::Env);
    let own = suite.targets.iter().find(|one| one.name() == name);
    let servers = target.map(|target| Target {
        id: MCP.id.to_owned(),
        label: Some(name.to_owned()),
        kind: &MCP,
        settings: Box::new(target.clone()),
        offered: serde_json::Map::new(),
        prompts: None,
        transform: None,
        delay: None,
        env: own.map_or_else(BTreeMap::new, |own| own.env.clone()),
        span: quintain_source::Span::default(),
    });
    if let Some(target) = servers.as_ref().or(own) {
        found.target(target, &content);
    }
    if let Some(model) = &carried.model {
        let texts = model.texts.iter().map(String::as_str).chain([model.url.as_str()]);
        let mut receives = defined.variables(texts, Scope::Env);
        receives.names.extend(model.key_variable.clone());
        let what = format!("model `{}` that proposes calls", model.name);
        let url = bare(&model.url);
        let url = if model.is_own_url { url } else { format!("{url}, or OPENAI_BASE_URL if set") };
        let files = model.key_file.iter().cloned().collect();
        found.contact(Contact { what, url, receives, files });
    }
    for (what, model) in &carried.others {
        found.model(what, model, &content);
    }
    if let Some(judge) = &models.judge {
        found.model("judge", judge, &content);
    }
    found.finish()
}
