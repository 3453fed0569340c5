//! `redteam.identities`: who the target is spoken to as.

use std::collections::BTreeMap;

use quintain_source::{Diagnostics, Fields, Node, Severity as Weight, wrong_type};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};

use crate::suite::names_a_secret;

const MIN_SECRET: usize = 4;

/// Somebody whose credentials are used.
#[derive(Clone, Default)]
pub struct IdentityOrder {
    pub name: String,
    pub role: Option<String>,
    pub env: BTreeMap<String, SecretString>,
    pub headers: Vec<(String, SecretString)>,
    pub default_args: Map<String, Value>,
}

impl IdentityOrder {
    /// What must be shown nowhere: values under names of secrets, and tokens without their scheme.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        let all = self.env.iter().chain(self.headers.iter().map(|(name, value)| (name, value)));
        let texts = all.filter(|(name, _)| names_a_secret(name)).flat_map(|(_, value)| {
            let value = value.expose_secret();
            let bare = value.split_once(' ').map(|(_, token)| token.trim());
            bare.into_iter().chain([value])
        });
        // Shorter texts would turn reports into confetti.
        texts.filter(|text| text.len() >= MIN_SECRET).map(SecretString::from).collect()
    }
}

pub(super) fn read(node: &Node, dx: &mut Diagnostics) -> Vec<IdentityOrder> {
    let Some(items) = node.as_seq() else {
        wrong_type("identities", "a list", node, dx);
        return Vec::new();
    };
    items.iter().filter_map(|item| identity(item, dx)).collect()
}

fn identity(node: &Node, dx: &mut Diagnostics) -> Option<IdentityOrder> {
    let mut fields = Fields::of(node, "an identity", dx)?;
    let name = fields.required("name", dx).and_then(Node::raw);
    let role = fields.string("role", dx);
    let env = pairs(fields.map("env", dx)).into_iter().collect();
    let mut headers = pairs(fields.map("headers", dx));
    headers.extend(fields.map("auth", dx).map(authorization).unwrap_or_default());
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

/// The header that an `auth` map means.
fn authorization(auth: &Node) -> Vec<(String, SecretString)> {
    use base64::Engine as _;
    let text = |name: &str| auth.get(name).and_then(Node::raw).unwrap_or_default();
    match text("type") {
        "bearer" => vec![("Authorization".into(), format!("Bearer {}", text("token")).into())],
        "basic" => {
            let pair = format!("{}:{}", text("username"), text("password"));
            let coded = base64::engine::general_purpose::STANDARD.encode(pair);
            vec![("Authorization".into(), format!("Basic {coded}").into())]
        }
        "api_key" => {
            let name = Some(text("keyName")).filter(|name| !name.is_empty()).unwrap_or("X-API-Key");
            vec![(name.to_owned(), text("value").to_owned().into())]
        }
        _ => Vec::new(),
    }
}
