//! Writes a target as an entry of a suite, so that a run can be repeated. Secrets become environment variables.

use std::collections::BTreeMap;

use quintain_evidence::connection::{
    ApiKeyPlacement, Auth, Grant, Launch, McpTarget, ProtocolChoice, Server, Transport,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value, json};

use crate::orders::IdentityOrder;
use quintain_content::secret::names_a_secret;

/// Whether a text contains a secret.
type IsSecret<'a> = &'a dyn Fn(&str) -> bool;

/// The entry of `targets` for this target.
pub fn written_target(label: &str, target: &McpTarget, is_secret: IsSecret<'_>) -> Value {
    let mut config = Map::new();
    let servers: Vec<Value> =
        target.servers.iter().map(|server| written_server(server, is_secret)).collect();
    match <[Value; 1]>::try_from(servers) {
        Ok([only]) => config.insert("server".into(), only),
        Err(servers) => config.insert("servers".into(), servers.into()),
    };
    if let Some(only) = &target.filter.only {
        config.insert("tools".into(), json!(only));
    }
    if !target.filter.exclude.is_empty() {
        config.insert("exclude_tools".into(), json!(target.filter.exclude));
    }
    if !target.default_args.is_empty() {
        config.insert("defaultArgs".into(), target.default_args.clone().into());
    }
    let protocol = match &target.protocol {
        ProtocolChoice::Auto => None,
        ProtocolChoice::Legacy => Some("legacy"),
        ProtocolChoice::Modern => Some("modern"),
        ProtocolChoice::Exact(version) => Some(version.as_str()),
    };
    if let Some(protocol) = protocol {
        config.insert("protocolVersion".into(), protocol.into());
    }
    json!({"id": "mcp", "label": label, "config": config})
}

/// The same target with another identity: its headers, variables and arguments override those of all servers.
pub fn written_identity(
    label: &str,
    target: &McpTarget,
    identity: &IdentityOrder,
    is_secret: IsSecret<'_>,
) -> Value {
    let mut written = written_target(label, target, is_secret);
    let prefix = format!("{}_", variable(&identity.name));
    let secrets = Secrets { prefix: &prefix, is_secret };
    let config = &mut written["config"];
    let servers = match config.get_mut("servers").and_then(Value::as_array_mut) {
        Some(servers) => servers.iter_mut().collect(),
        None => config.get_mut("server").into_iter().collect::<Vec<_>>(),
    };
    for server in servers {
        let lay = |server: &mut Value, key: &str, pairs: Map<String, Value>| {
            if pairs.is_empty() {
                return;
            }
            let mut merged = server[key].as_object().cloned().unwrap_or_default();
            merged.extend(pairs);
            server[key] = merged.into();
        };
        if server.get("url").is_some() {
            lay(server, "headers", secrets.pairs(identity.headers.iter()));
        } else {
            lay(server, "env", secrets.pairs(identity.env.iter()));
        }
    }
    if !identity.default_args.is_empty() {
        let mut merged = config["defaultArgs"].as_object().cloned().unwrap_or_default();
        merged.extend(identity.default_args.clone());
        config["defaultArgs"] = merged.into();
    }
    written
}

fn written_server(server: &Server, is_secret: IsSecret<'_>) -> Value {
    let secrets = Secrets { prefix: "", is_secret };
    let mut written = Map::new();
    match &server.launch {
        Launch::Command { command, args, env, cwd } => {
            named(&mut written, &server.name, command);
            written.insert("command".into(), command.as_str().into());
            process(&mut written, args, env, cwd.as_deref(), &secrets);
        }
        Launch::Path { path, args, env, cwd, .. } => {
            let path = path.display().to_string();
            named(&mut written, &server.name, &path);
            written.insert("path".into(), path.into());
            process(&mut written, args, env, cwd.as_deref(), &secrets);
        }
        Launch::Url { url, headers, auth, transport } => {
            named(&mut written, &server.name, url);
            written.insert("url".into(), secrets.text("MCP_URL", url));
            if !headers.is_empty() {
                let pairs = headers.iter();
                written.insert("headers".into(), secrets.pairs(pairs).into());
            }
            if let Some(auth) = written_auth(auth) {
                written.insert("auth".into(), auth);
            }
            match transport {
                Transport::Auto => {}
                Transport::StreamableHttp => {
                    written.insert("transport".into(), "streamable-http".into());
                }
                Transport::Sse => {
                    written.insert("transport".into(), "sse".into());
                }
            }
        }
    }
    written.into()
}

/// Writes the name of a server, unless it follows from how the server is started.
fn named(written: &mut Map<String, Value>, name: &str, by_itself: &str) {
    if name != by_itself {
        written.insert("name".into(), name.into());
    }
}

fn process(
    written: &mut Map<String, Value>,
    args: &[String],
    env: &BTreeMap<String, SecretString>,
    cwd: Option<&std::path::Path>,
    secrets: &Secrets<'_>,
) {
    if !args.is_empty() {
        let args = args.iter().enumerate();
        let args = args.map(|(at, arg)| secrets.text(&format!("MCP_ARGUMENT_{}", at + 1), arg));
        written.insert("args".into(), args.collect());
    }
    if !env.is_empty() {
        written.insert("env".into(), secrets.pairs(env.iter()).into());
    }
    if let Some(cwd) = cwd {
        written.insert("cwd".into(), cwd.display().to_string().into());
    }
}

/// Credentials come from the environment of whoever runs the suite.
fn written_auth(auth: &Auth) -> Option<Value> {
    let from = |name: &str| format!("{{{{env.{name}}}}}");
    Some(match auth {
        Auth::None => return None,
        Auth::Stored => json!({"type": "stored"}),
        Auth::Bearer { .. } => json!({"type": "bearer", "token": from("MCP_TOKEN")}),
        Auth::Basic { username, .. } => {
            json!({"type": "basic", "username": username, "password": from("MCP_PASSWORD")})
        }
        Auth::ApiKey { key_name, placement, .. } => {
            let mut written =
                json!({"type": "api_key", "value": from("MCP_API_KEY"), "keyName": key_name});
            if *placement == ApiKeyPlacement::Query {
                written["placement"] = "query".into();
            }
            written
        }
        Auth::OAuth(oauth) => {
            let mut written = json!({"type": "oauth"});
            match &oauth.grant {
                Grant::ClientCredentials { key: None } => {}
                Grant::ClientCredentials { key: Some(key) } => {
                    written["privateKey"] = from("MCP_PRIVATE_KEY").into();
                    written["signingAlgorithm"] = key.algorithm.into();
                    if let Some(id) = &key.key_id {
                        written["keyId"] = id.as_str().into();
                    }
                }
                Grant::Password { username, .. } => {
                    written["grantType"] = "password".into();
                    written["username"] = username.as_str().into();
                    written["password"] = from("MCP_PASSWORD").into();
                }
                Grant::JwtBearer { .. } => {
                    written["grantType"] = "jwt_bearer".into();
                    written["assertion"] = from("MCP_ASSERTION").into();
                }
                Grant::IdentityAssertion(provider) => {
                    written["grantType"] = "identity_assertion".into();
                    written["idToken"] = from("MCP_ID_TOKEN").into();
                    written["idpTokenUrl"] = provider.token_url.as_str().into();
                    written["idpClientId"] = provider.client_id.as_str().into();
                    if provider.client_secret.is_some() {
                        written["idpClientSecret"] = from("MCP_IDP_CLIENT_SECRET").into();
                    }
                }
            }
            let told = [
                ("tokenUrl", &oauth.token_url),
                ("clientId", &oauth.client_id),
                ("audience", &oauth.audience),
                ("resource", &oauth.resource),
            ];
            for (key, value) in told {
                if let Some(value) = value {
                    written[key] = value.as_str().into();
                }
            }
            if oauth.client_secret.is_some() {
                written["clientSecret"] = from("MCP_CLIENT_SECRET").into();
            }
            if !oauth.scopes.is_empty() {
                written["scopes"] = json!(oauth.scopes);
            }
            written
        }
    })
}

struct Secrets<'a> {
    /// Prefix of the names of variables.
    prefix: &'a str,
    is_secret: IsSecret<'a>,
}

impl Secrets<'_> {
    fn text(&self, name: &str, text: &str) -> Value {
        if (self.is_secret)(text) { self.variable(name) } else { text.into() }
    }

    fn pairs<'p>(&self, pairs: impl Iterator<Item = impl Into<Pair<'p>>>) -> Map<String, Value> {
        let pairs = pairs.map(Into::into).map(|Pair(name, value)| {
            let value = value.expose_secret();
            let secret = names_a_secret(name) || (self.is_secret)(value);
            let written = if secret { self.variable(name) } else { value.into() };
            (name.to_owned(), written)
        });
        pairs.collect()
    }

    fn variable(&self, name: &str) -> Value {
        format!("{{{{env.{}{}}}}}", self.prefix, variable(name)).into()
    }
}

/// A name and its value, from a map or a list.
struct Pair<'p>(&'p str, &'p SecretString);

impl<'p> From<(&'p String, &'p SecretString)> for Pair<'p> {
    fn from((name, value): (&'p String, &'p SecretString)) -> Self {
        Self(name, value)
    }
}

impl<'p> From<&'p (String, SecretString)> for Pair<'p> {
    fn from((name, value): &'p (String, SecretString)) -> Self {
        Self(name, value)
    }
}

/// `X-Api-Key` becomes `X_API_KEY`.
fn variable(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use quintain_suite::suite::{BUILT_IN, Needed, NoFiles, Purpose, SuiteFile, load};

    const SUITE: &str = "\
targets:
  - id: mcp
    config:
      servers:
        - {name: local, command: python3, args: [server.py, --key=s3cret], env: {MODE: weak, API_TOKEN: abcd1234}}
        - {url: 'http://127.0.0.1:1/mcp', headers: {X-Api-Key: wxyz9876}, auth: {type: bearer, token: tok12345}}
      defaultArgs: {tenant: a}
";

    fn target() -> McpTarget {
        let file =
            SuiteFile { name: "quintain.yaml".into(), text: SUITE.into(), base_dir: "/x".into() };
        let purpose = Purpose::Read(Needed::Target(None));
        let loaded = load(vec![file], &BTreeMap::new(), Arc::new(NoFiles), purpose, BUILT_IN);
        let suite = loaded.suite.unwrap();
        suite.targets[0].as_mcp().unwrap().clone()
    }

    #[test]
    fn secrets_become_variables() {
        let written = written_target("shop", &target(), &|text| text.contains("s3cret"));
        let text = written.to_string();
        for secret in ["s3cret", "abcd1234", "wxyz9876", "tok12345"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        let servers = &written["config"]["servers"];
        assert_eq!(servers[0]["args"], json!(["server.py", "{{env.MCP_ARGUMENT_2}}"]));
        assert_eq!(servers[0]["env"]["MODE"], "weak");
        assert_eq!(servers[0]["env"]["API_TOKEN"], "{{env.API_TOKEN}}");
        assert_eq!(servers[1]["headers"]["X-Api-Key"], "{{env.X_API_KEY}}");
        assert_eq!(servers[1]["auth"]["token"], "{{env.MCP_TOKEN}}");
        assert_eq!(servers[1]["name"], Value::Null, "the URL is name enough");
    }

    #[test]
    fn identities_lie_over_the_target() {
        let identity = IdentityOrder {
            name: "bob".into(),
            env: BTreeMap::from([("API_TOKEN".into(), "efgh5678".to_owned().into())]),
            ..IdentityOrder::default()
        };
        let written = written_identity("shop as bob", &target(), &identity, &|_| false);
        let server = &written["config"]["servers"][0];
        assert_eq!(server["env"]["API_TOKEN"], "{{env.BOB_API_TOKEN}}");
        assert_eq!(server["env"]["MODE"], "weak");
        assert_eq!(written["label"], "shop as bob");
    }
}
