//! `redteam.provider`, `redteam.judge` and the models of strategies: plain data, as the suite names them. Who answers is
//! decided elsewhere.

use quintain_source::{Diagnostic, Diagnostics, Node, wrong_type};
use secrecy::SecretString;
use serde_json::Value;

const OPENAI: &str = "https://api.openai.com/v1";
const OLLAMA: &str = "http://127.0.0.1:11434/v1";

/// Options of providers without an effect.
const IGNORED: [&str; 6] = ["label", "organization", "top_p", "seed", "stop", "response_format"];

/// Options of providers that are accepted and have no effect.
pub(crate) fn ignored() -> impl Iterator<Item = &'static str> {
    IGNORED.into_iter()
}

/// Reads a model: an id, or a map with `id` and `config`.
pub(super) fn read(node: &Node, dx: &mut Diagnostics) -> Option<Value> {
    let id = if node.raw().is_some() { Some(node) } else { node.get("id") };
    let Some(id) = id else {
        wrong_type("provider", "the id of a model, or a map with `id` and `config`", node, dx);
        return None;
    };
    if id.raw().is_none_or(str::is_empty) {
        wrong_type("id", "text", id, dx);
        return None;
    }
    let url = node.get("config").and_then(|config| config.get("apiBaseUrl"));
    if let Some((url, text)) = url.and_then(|url| Some((url, url.raw()?)))
        && !text.contains("{{")
        && !text.starts_with("http://")
        && !text.starts_with("https://")
    {
        let title = format!("`{text}` is not a valid URL of a model");
        let diagnostic = Diagnostic::error("config::bad-url", title).at(url.span, "");
        dx.push(diagnostic.help("write it as http://127.0.0.1:8080/v1"));
        return None;
    }
    Some(node.to_json())
}

/// The name of a model in reports.
pub fn model_name(model: &Value) -> &str {
    model.as_str().or_else(|| model.get("id")?.as_str()).unwrap_or("the model")
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
    /// The file that contains the key, if the suite names one.
    pub key_file: Option<String>,
    pub headers: Vec<(String, SecretString)>,
    pub temperature: f64,
    pub max_tokens: u64,
}

impl ModelOrder {
    /// The model at such an address that a suite names; none if it has another API.
    pub fn of(model: &Value) -> Option<Self> {
        let mut order = named(model_name(model))?;
        let Some(config) = model.get("config") else { return Some(order) };
        let text = |name: &str| config.get(name).and_then(Value::as_str).map(str::to_owned);
        let host = text("apiHost").map(|host| format!("https://{host}/v1"));
        if let Some(url) = text("apiBaseUrl").or(host) {
            url.trim_end_matches('/').clone_into(&mut order.url);
            order.is_own_url = true;
        }
        order.key = text("apiKey").map(SecretString::from);
        order.key_variable = text("apiKeyEnvar").unwrap_or(order.key_variable);
        order.key_file = text("apiKeyFile");
        order.model = text("model").unwrap_or(order.model);
        let number = |name: &str| config.get(name).and_then(Value::as_f64);
        order.temperature = number("temperature").unwrap_or(order.temperature);
        let most = config.get("max_tokens").and_then(Value::as_u64);
        order.max_tokens = most.unwrap_or(order.max_tokens);
        let headers = config.get("headers").and_then(Value::as_object).into_iter().flatten();
        let headers = headers.filter_map(|(name, value)| {
            Some((name.clone(), SecretString::from(value.as_str()?.to_owned())))
        });
        order.headers = headers.collect();
        Some(order)
    }
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
        key_file: None,
        headers: Vec::new(),
        temperature: 0.7,
        max_tokens: 1024,
    })
}

#[cfg(test)]
mod tests {
    use quintain_source::{SourceFile, Sources};

    use super::*;

    fn model(text: &str) -> (Option<Value>, usize) {
        let (mut sources, mut dx) = (Sources::new(), Diagnostics::new());
        let id = sources.add(SourceFile::new("x.yaml", text));
        let node = quintain_source::read(&sources, id, &mut dx).unwrap();
        let model = read(&node, &mut dx);
        (model, dx.iter().count())
    }

    #[test]
    fn short_names_are_read() {
        let order = ModelOrder::of(&model("openai:chat:gpt-4o").0.unwrap()).unwrap();
        assert_eq!((order.url.as_str(), order.model.as_str()), (OPENAI, "gpt-4o"));
        let order = named("ollama:chat:llama3.2:1b").unwrap();
        assert_eq!((order.url.as_str(), order.model.as_str()), (OLLAMA, "llama3.2:1b"));
    }

    #[test]
    fn any_address_will_do() {
        let (model, wrong) = model(
            "id: openai:chat:tiny\nconfig: {apiBaseUrl: 'http://127.0.0.1:9/v1/', apiKey: k, temperature: 0}",
        );
        let order = ModelOrder::of(&model.unwrap()).unwrap();
        assert_eq!(order.url, "http://127.0.0.1:9/v1");
        assert!(order.is_own_url && order.key.is_some() && wrong == 0);
    }

    #[test]
    fn other_providers_stay_as_they_are_written() {
        let (value, wrong) = model("{id: anthropic:messages:x, config: {max_tokens: 9}}");
        let value = value.unwrap();
        assert_eq!((model_name(&value), wrong), ("anthropic:messages:x", 0));
        assert!(ModelOrder::of(&value).is_none());
    }

    #[test]
    fn mistakes_are_reported() {
        assert_eq!(model("{id: openai:chat:x, config: {apiBaseUrl: nowhere}}").1, 1);
        assert_eq!(model("{config: {}}").1, 1);
        assert_eq!(model("[a]").1, 1);
    }
}
