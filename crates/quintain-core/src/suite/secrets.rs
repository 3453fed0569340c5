//! Which texts must never be shown: what a redactor is fed with.

use quintain_source::is_template;
use secrecy::{ExposeSecret, SecretString};

use super::provider::Env;
use super::{Auth, Grant, Launch, Suite, TargetKind};

/// Shorter texts would turn reports into confetti.
const MIN_LENGTH: usize = 4;
const MARKS: [&str; 9] =
    ["token", "secret", "password", "passwd", "passphrase", "key", "auth", "credential", "cookie"];

/// Whether a variable or header of this name is likely to hold a credential.
pub fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    MARKS.iter().any(|mark| name.contains(mark))
}

/// The secrets of all targets, and those of the environment that the suite mentions by name.
pub(super) fn collect(suite: &Suite, texts: &[&str], env: &Env) -> Vec<SecretString> {
    let targets = suite.targets.iter();
    let mut found: Vec<SecretString> =
        targets.flat_map(|target| of_target(&target.kind)).cloned().collect();
    let mentioned = |name: &str| texts.iter().any(|text| text.contains(name));
    let variables = env.iter().filter(|(name, _)| names_a_secret(name) && mentioned(name));
    found.extend(variables.map(|(_, value)| SecretString::from(value.clone())));
    found.retain(|secret| secret.expose_secret().len() >= MIN_LENGTH);
    found
}

fn of_target(target: &TargetKind) -> Vec<&SecretString> {
    match target {
        TargetKind::Mcp(mcp) => {
            mcp.servers.iter().flat_map(|server| of_launch(&server.launch)).collect()
        }
        TargetKind::Http(http) => {
            let named = http.headers.iter().chain(&http.query);
            let named = named.filter(|(name, value)| {
                names_a_secret(name) && !is_template(value.expose_secret())
            });
            named.map(|(_, value)| value).chain(of_auth(&http.auth)).collect()
        }
        _ => Vec::new(),
    }
}

fn of_launch(launch: &Launch) -> Vec<&SecretString> {
    match launch {
        Launch::Command { env, .. } | Launch::Path { env, .. } => {
            env.iter().filter(|(name, _)| names_a_secret(name)).map(|(_, value)| value).collect()
        }
        Launch::Url { headers, auth, .. } => {
            let headers = headers.iter().filter(|(name, _)| names_a_secret(name));
            headers.map(|(_, value)| value).chain(of_auth(auth)).collect()
        }
    }
}

fn of_auth(auth: &Auth) -> Vec<&SecretString> {
    match auth {
        Auth::None | Auth::Stored => Vec::new(),
        Auth::Bearer { token } => vec![token],
        Auth::Basic { password, .. } => vec![password],
        Auth::ApiKey { value, .. } => vec![value],
        Auth::OAuth(oauth) => {
            let password = match &oauth.grant {
                Grant::ClientCredentials => None,
                Grant::Password { password, .. } => Some(password),
            };
            oauth.client_secret.iter().chain(password).collect()
        }
    }
}
