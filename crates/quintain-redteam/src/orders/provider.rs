//! `redteam.provider`: a model that may propose calls. It never judges.

use quintain_evidence::redteam_report::NotRun;
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, wrong_type};
use secrecy::SecretString;

use super::identities::pairs;

const OPENAI: &str = "https://api.openai.com/v1";
const OLLAMA: &str = "http://127.0.0.1:11434/v1";

/// Options of providers without an effect.
const IGNORED: [&str; 6] = ["label", "organization", "top_p", "seed", "stop", "response_format"];

/// Options of providers that are accepted and have no effect.
pub(crate) fn ignored() -> impl Iterator<Item = &'static str> {
    IGNORED.into_iter()
}

/// A model at an address with OpenAI's chat completions API.
#[derive(Debug, Clone)]
pub struct ModelOrder {
    /// The user's name for it, for reports.
    pub name: String,
    /// The base URL, without `/chat/completions`.
    pub url: String,
    /// Whether the suite sets the address; otherwise the environment may override it.
    pub is_own_url: bool,
    pub model: String,
    pub key: Option<SecretString>,
    /// The variable that contains the key, if the suite does not.
    pub key_variable: String,
    pub headers: Vec<(String, SecretString)>,
    pub temperature: f64,
    pub max_tokens: u64,
}

/// Reads a provider: `openai:chat:MODEL`, `ollama:chat:MODEL`, or a map with `id` and `config`. One with another API is
/// reported as not run.
pub(super) fn read(node: &Node, dx: &mut Diagnostics) -> Result<ModelOrder, Option<NotRun>> {
    if let Some(id) = node.raw() {
        return named(id).ok_or_else(|| Some(foreign(id)));
    }
    let Some(mut fields) = Fields::of(node, "the provider", dx) else { return Err(None) };
    let Some(id) = fields.required("id", dx) else { return Err(None) };
    let Some(name) = id.raw() else {
        wrong_type("id", "text", id, dx);
        return Err(None);
    };
    let config = fields.get("config");
    for name in IGNORED {
        fields.get(name);
    }
    fields.finish(quintain_source::Severity::Warning, dx);
    let mut order = named(name).ok_or_else(|| Some(foreign(name)))?;
    if let Some(config) = config {
        configure(&mut order, config, dx);
    }
    Ok(order)
}

fn configure(order: &mut ModelOrder, config: &Node, dx: &mut Diagnostics) {
    let Some(mut fields) = Fields::of(config, "the configuration of the provider", dx) else {
        return;
    };
    let url = fields.string("apiBaseUrl", dx);
    let host = fields.string("apiHost", dx).map(|host| format!("https://{host}/v1"));
    if let Some(url) = url.or(host) {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let title = format!("`{url}` is not a valid URL of a model");
            let diagnostic = Diagnostic::error("config::bad-url", title).at(config.span, "");
            dx.push(diagnostic.help("write it as http://127.0.0.1:8080/v1"));
        }
        url.trim_end_matches('/').clone_into(&mut order.url);
        order.is_own_url = true;
    }
    order.key = fields.string("apiKey", dx).map(SecretString::from);
    if let Some(variable) = fields.string("apiKeyEnvar", dx) {
        order.key_variable = variable;
    }
    if let Some(model) = fields.string("model", dx) {
        order.model = model;
    }
    if let Some(node) = fields.get("temperature") {
        order.temperature = node.as_f64().unwrap_or(order.temperature);
    }
    if let Some(node) = fields.get("max_tokens") {
        order.max_tokens = node.as_u64().unwrap_or(order.max_tokens);
    }
    order.headers = pairs(fields.map("headers", dx));
    for name in IGNORED {
        fields.get(name);
    }
    fields.finish(quintain_source::Severity::Warning, dx);
}

fn named(id: &str) -> Option<ModelOrder> {
    let (kind, rest) = id.split_once(':')?;
    let url = match kind {
        "openai" => OPENAI,
        "ollama" => OLLAMA,
        _ => return None,
    };
    // `openai:chat:gpt-4o`, `openai:gpt-4o`; names of models may contain colons.
    let model = ["chat:", "completion:", "responses:"]
        .iter()
        .find_map(|way| rest.strip_prefix(way))
        .unwrap_or(rest);
    Some(ModelOrder {
        name: id.to_owned(),
        url: url.to_owned(),
        is_own_url: kind == "ollama",
        model: model.to_owned(),
        key: None,
        key_variable: "OPENAI_API_KEY".to_owned(),
        headers: Vec::new(),
        temperature: 0.7,
        max_tokens: 1024,
    })
}

fn foreign(id: &str) -> NotRun {
    NotRun {
        what: format!("provider {id}"),
        why: "only models with OpenAI's chat completions API are supported: \
              {id: openai:chat:MODEL, config: {apiBaseUrl: ...}}"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_source::{SourceFile, Sources};

    use super::*;

    fn order(text: &str) -> (Result<ModelOrder, Option<NotRun>>, usize) {
        let (mut sources, mut dx) = (Sources::new(), Diagnostics::new());
        let id = sources.add(SourceFile::new("x.yaml", text));
        let node = quintain_source::read(&sources, id, &mut dx).unwrap();
        let order = read(&node, &mut dx);
        (order, dx.iter().count())
    }

    #[test]
    fn short_names_are_read() {
        let order = order("openai:chat:gpt-4o").0.unwrap();
        assert_eq!((order.url.as_str(), order.model.as_str()), (OPENAI, "gpt-4o"));
        let order = named("ollama:chat:llama3.2:1b").unwrap();
        assert_eq!((order.url.as_str(), order.model.as_str()), (OLLAMA, "llama3.2:1b"));
    }

    #[test]
    fn any_address_will_do() {
        let (order, wrong) = order(
            "id: openai:chat:tiny\nconfig: {apiBaseUrl: 'http://127.0.0.1:9/v1/', apiKey: k, temperature: 0}",
        );
        let order = order.unwrap();
        assert_eq!(order.url, "http://127.0.0.1:9/v1");
        assert!(order.is_own_url && order.key.is_some() && wrong == 0);
    }

    #[test]
    fn other_languages_are_named() {
        let not_run = order("anthropic:messages:x").0.unwrap_err().unwrap();
        assert_eq!(not_run.what, "provider anthropic:messages:x");
    }

    #[test]
    fn addresses_are_checked() {
        assert_eq!(order("{id: openai:chat:x, config: {apiBaseUrl: nowhere}}").1, 1);
    }
}
