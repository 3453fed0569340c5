//! Which texts of a connection are secrets.

use quintain_content::secret::{Secret, of_named, of_url, of_value};
use quintain_source::is_template;
use secrecy::{ExposeSecret, SecretString};

use super::{Auth, Grant, Launch};

/// The secrets in a server's command line, environment, URL or headers.
pub fn of_launch(launch: &Launch) -> Vec<Secret> {
    match launch {
        Launch::Command { args, env, .. } | Launch::Path { args, env, .. } => {
            let urls = args.iter().flat_map(|arg| of_url(arg));
            urls.chain(of_pairs(env.iter())).collect()
        }
        Launch::Url { url, headers, auth, .. } => {
            let mut found = of_url(url);
            found.extend(of_pairs(headers.iter().map(|(name, value)| (name, value))));
            found.extend(of_auth(auth));
            found
        }
    }
}

/// The secrets among variables or headers.
pub fn of_pairs<'a>(pairs: impl Iterator<Item = (&'a String, &'a SecretString)>) -> Vec<Secret> {
    let pairs = pairs.map(|(name, value)| (name, value.expose_secret()));
    pairs
        .filter(|(_, value)| !is_template(value))
        .flat_map(|(name, value)| of_named(name, value))
        .collect()
}

pub fn of_auth(auth: &Auth) -> Vec<Secret> {
    let mut urls = Vec::new();
    let values = match auth {
        Auth::None | Auth::Stored => Vec::new(),
        Auth::Bearer { token } => vec![token],
        Auth::Basic { password, .. } => vec![password],
        Auth::ApiKey { value, .. } => vec![value],
        Auth::OAuth(oauth) => {
            urls.extend(oauth.token_url.iter().flat_map(|url| of_url(url)));
            if let Grant::IdentityAssertion(provider) = &oauth.grant {
                urls.extend(of_url(&provider.token_url));
            }
            oauth.client_secret.iter().chain(oauth.grant.secrets()).collect()
        }
    };
    let values = values.into_iter().map(ExposeSecret::expose_secret);
    let values = values.filter(|value| !is_template(value));
    urls.into_iter().chain(values.flat_map(of_value)).collect()
}
