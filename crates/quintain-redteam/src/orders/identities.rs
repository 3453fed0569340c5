//! `redteam.identities`: the identities used to call the target.

use std::collections::BTreeMap;

use quintain_content::secret::Secret;
use quintain_evidence::connection::of_pairs;
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Severity as Weight, wrong_type};
use secrecy::SecretString;
use serde_json::{Map, Value};

/// A user and their credentials.
#[derive(Clone, Default)]
pub struct IdentityOrder {
    pub name: String,
    pub role: Option<String>,
    pub env: BTreeMap<String, SecretString>,
    pub headers: Vec<(String, SecretString)>,
    pub default_args: Map<String, Value>,
}

impl IdentityOrder {
    /// What must not be shown: credentials in variables and headers.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        of_pairs(self.env.iter().chain(self.headers.iter().map(|(name, value)| (name, value))))
    }
}

pub(super) fn read(node: &Node, dx: &mut Diagnostics) -> Vec<IdentityOrder> {
    let Some(items) = node.as_seq() else {
        wrong_type("identities", "a list", node, dx);
        return Vec::new();
    };
    let mut found: Vec<IdentityOrder> = Vec::new();
    for item in items {
        let Some(one) = identity(item, dx) else { continue };
        if found.iter().any(|known| known.name == one.name) {
            let title = format!("duplicate identity `{}`", one.name);
            let at = item.get("name").unwrap_or(item).span;
            let diagnostic = Diagnostic::error("config::taken-name", title).at(at, "the second");
            dx.push(diagnostic.help("rename one of them"));
            continue;
        }
        found.push(one);
    }
    found
}

fn identity(node: &Node, dx: &mut Diagnostics) -> Option<IdentityOrder> {
    let mut fields = Fields::of(node, "an identity", dx)?;
    let name = fields.required("name", dx).and_then(Node::raw);
    let role = fields.string("role", dx);
    let env = pairs(fields.map("env", dx)).into_iter().collect();
    let mut headers = pairs(fields.map("headers", dx));
    headers.extend(fields.get("auth").and_then(|node| authorization(node, dx)).unwrap_or_default());
    let default_args = fields.map("defaultArgs", dx).map(Node::to_json_map).unwrap_or_default();
    fields.finish(Weight::Error, dx);
    Some(IdentityOrder { name: name?.to_owned(), role, env, headers, default_args })
}

pub(super) fn pairs(node: Option<&Node>) -> Vec<(String, SecretString)> {
    let entries = node.and_then(Node::as_map).unwrap_or_default().iter();
    let pairs = entries.filter_map(|(key, value)| {
        Some((key.text.clone(), SecretString::from(value.raw()?.to_owned())))
    });
    pairs.collect()
}

/// How an identity authenticates.
#[derive(Clone, Copy)]
enum Scheme {
    None,
    Bearer,
    Basic,
    ApiKey,
}

const SCHEMES: [(&str, Scheme); 4] = [
    ("bearer", Scheme::Bearer),
    ("basic", Scheme::Basic),
    ("api_key", Scheme::ApiKey),
    ("none", Scheme::None),
];

/// The header for an `auth` map. Credentials that are not understood are an error: without them, two identities would
/// be the same.
fn authorization(auth: &Node, dx: &mut Diagnostics) -> Option<Vec<(String, SecretString)>> {
    use base64::Engine as _;
    let mut fields = Fields::of(auth, "the `auth` of an identity", dx)?;
    fields.required("type", dx);
    let scheme = fields.choice("type", &SCHEMES, dx)?;
    let mut text = |name: &'static str| fields.required(name, dx).and_then(Node::raw);
    let header = match scheme {
        Scheme::None => None,
        Scheme::Bearer => Some(("Authorization".to_owned(), format!("Bearer {}", text("token")?))),
        Scheme::Basic => {
            let (name, password) = (text("username"), text("password"));
            let pair = format!("{}:{}", name?, password?);
            let coded = base64::engine::general_purpose::STANDARD.encode(pair);
            Some(("Authorization".to_owned(), format!("Basic {coded}")))
        }
        Scheme::ApiKey => {
            let value = text("value")?.to_owned();
            let name = fields.string("keyName", dx).filter(|name| !name.is_empty());
            fields.choice("placement", &[("header", ())], dx);
            Some((name.unwrap_or_else(|| "X-API-Key".to_owned()), value))
        }
    };
    fields.finish(Weight::Error, dx);
    Some(header.into_iter().map(|(name, value)| (name, value.into())).collect())
}
