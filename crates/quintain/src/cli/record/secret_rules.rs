//! What a capture must not contain: credentials by their form, by the name of their member or header, and the values of
//! variables of this process, which the server inherits.

use std::ops::Range;
use std::sync::LazyLock;

use quintain_content::detect::{self, Confidence, Detector, Family};
use quintain_content::secret::{
    in_queries, is_credential, is_secret, looks_random, names_a_secret, of_named, of_url, of_value,
};
use quintain_engine::secrets::learn;
use quintain_wire::recording::SecretRules;
use quintain_wire::redact::Redactor;
use regex::Regex;
use secrecy::SecretString;

use super::App;

/// Shorter values of variables are words, which would be masked everywhere.
const SHORTEST_VARIABLE: usize = 8;
/// Shorter cookies say nothing.
const SHORTEST_COOKIE: usize = 4;
/// Ends of names that mean a credential and nothing else, without case, dashes and underscores.
const ENDINGS: [&str; 14] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authtoken",
    "authorization",
    "bearertoken",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "sessiontoken",
];
/// Ends of names whose value is a credential where it looks random.
const SESSIONS: [&str; 7] =
    ["cookie", "cookies", "session", "sessionid", "sessid", "sid", "sessionkey"];
/// Names of objects and arrays with credentials, besides the names of credentials.
const CONTAINERS: [&str; 6] =
    ["secrets", "passwords", "apikeys", "accesstokens", "cookies", "privatekeys"];
/// Keys of schemas: a property can be named `password`.
const SCHEMA_KEYS: [&str; 8] =
    ["type", "format", "pattern", "title", "description", "$ref", "$schema", "$id"];
/// Shorter values in such objects are words.
const SHORTEST_CONTAINED: usize = 8;
/// Headers that always contain credentials.
const CREDENTIALS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];
/// Headers whose names only look like that.
const HARMLESS: [&str; 3] = ["www-authenticate", "proxy-authenticate", "authentication-info"];

/// Rules of the detectors.
pub(super) struct DetectorRules(Vec<&'static dyn Detector>);

impl Default for DetectorRules {
    fn default() -> Self {
        let all = detect::all().iter().copied();
        Self(all.filter(|detector| detector.family() == Family::Secret).collect())
    }
}

impl SecretRules for DetectorRules {
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let hits = detect::scan(text, &self.0).into_iter();
        // The lowest confidence is for examples in documentation.
        let hits = hits.filter(|hit| hit.confidence > Confidence::Low);
        let whole = hits.map(|hit| hit.start..end_of_key(text, hit.start).unwrap_or(hit.end));
        whole.chain(credentials_in_text(text)).chain(in_queries(text)).collect()
    }

    fn of_member(&self, name: &str, value: &str) -> Vec<SecretString> {
        if is_secret_member(name, value) {
            of_value(value).into_iter().map(|secret| secret.value).collect()
        } else {
            Vec::new()
        }
    }

    fn is_container(&self, name: &str) -> bool {
        is_credential(name)
            || ends_like_credential(name)
            || CONTAINERS.contains(&plain(name).as_str())
    }

    fn of_contained(&self, name: &str, value: &str) -> Vec<SecretString> {
        if value.contains("://") {
            return of_url(value).into_iter().map(|secret| secret.value).collect();
        }
        let is_of_schema = SCHEMA_KEYS.contains(&name);
        if is_of_schema || !is_mixed(value) || !is_secret("secret", value) {
            return Vec::new();
        }
        vec![value.into()]
    }

    fn of_header(&self, name: &str, value: &str) -> Vec<SecretString> {
        let name = name.to_ascii_lowercase();
        if name.ends_with("cookie") {
            let pairs = value.split(';').filter_map(|pair| pair.split_once('='));
            let values =
                pairs.map(|(_, value)| value.trim()).filter(|value| value.len() >= SHORTEST_COOKIE);
            return std::iter::once(value).chain(values).map(SecretString::from).collect();
        }
        let is_named = names_a_secret(&name) && !HARMLESS.contains(&name.as_str());
        if CREDENTIALS.contains(&name.as_str()) || is_named && is_secret(&name, value) {
            return of_value(value).into_iter().map(|secret| secret.value).collect();
        }
        Vec::new()
    }
}

/// The end of a PEM block that starts here. A block that is cut ends with its last character.
fn end_of_key(text: &str, start: usize) -> Option<usize> {
    const END: &str = "-----END ";
    const DASHES: &str = "-----";
    let block = text.get(start..).filter(|block| block.starts_with("-----BEGIN "))?;
    let body = block.get(1..)?.find(DASHES).map(|at| at + 1 + DASHES.len())?;
    let rest = block.get(body..)?;
    // Line ends are written as escapes in a text within a text.
    let of_key =
        |c: char| c.is_ascii_alphanumeric() || c.is_whitespace() || "+/=\\:,-.".contains(c);
    let limit = rest.find(|c| !of_key(c)).unwrap_or(rest.len());
    let end = match rest[..limit].find(END) {
        Some(at) => {
            rest[at + END.len()..].find(DASHES).map(|end| at + END.len() + end + DASHES.len())
        }
        None => None,
    };
    Some(start + body + end.unwrap_or(limit))
}

/// The tokens behind `Bearer` and `Basic` in commands and logs.
fn credentials_in_text(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    static SCHEME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let (name, token) =
            (r#"(authorization\\?["']?\s?[:=]\s?\\?["']?)?"#, r"[a-z0-9._~+/-]{8,}=*");
        Regex::new(&format!(r"(?i-u){name}\b(?:bearer|basic)\s+({token})")).ok()
    });
    let found = SCHEME.iter().flat_map(move |scheme| scheme.captures_iter(text));
    found.filter_map(|found| {
        let token = found.get(2)?;
        // Without the name of the header it may be prose: "basic understanding".
        (found.get(1).is_some() || looks_random(token.as_str())).then(|| token.range())
    })
}

/// Whether a member is a credential by its name, as far as its value can be one.
fn is_secret_member(name: &str, value: &str) -> bool {
    if is_credential(name) || ends_like_credential(name) {
        return is_secret(name, value);
    }
    let name = plain(name);
    let ends_with = |names: &[&str]| names.iter().any(|ending| name.ends_with(ending));
    if ends_with(&["pwd"]) {
        // Also the working directory.
        let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase() || b"-_ ".contains(&byte));
        return !is_word && is_secret("password", value);
    }
    ends_with(&SESSIONS) && (looks_random(value) || value.split(';').any(is_cookie_of_session))
}

/// Whether `name=value` of a cookie has a value that looks random.
fn is_cookie_of_session(pair: &str) -> bool {
    pair.split_once('=').is_some_and(|(_, value)| is_mixed(value))
}

/// Whether a value has letters and digits in one run that is as long as the shortest passwords.
fn is_mixed(value: &str) -> bool {
    !value.contains(char::is_whitespace)
        && value.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
            run.len() >= SHORTEST_CONTAINED
                && run.bytes().any(|byte| byte.is_ascii_digit())
                && run.bytes().any(|byte| byte.is_ascii_alphabetic())
        })
}

/// A name without case, dashes and underscores.
fn plain(name: &str) -> String {
    name.replace(['-', '_', '.'], "").to_ascii_lowercase()
}

/// Whether a name such as `x-api-key` or `dbPassword` ends with the name of a credential. `nextPageToken` does not.
fn ends_like_credential(name: &str) -> bool {
    let name = plain(name);
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Masks the values of variables that are named like credentials, and credentials in URLs.
pub(super) fn learn_environment(app: &App) {
    for (name, value) in &app.context.env {
        let is_named = names_a_secret(name) && value.len() >= SHORTEST_VARIABLE;
        if is_named || value.contains("://") {
            learn(&of_named(name, value), &app.redactor);
        }
    }
}

/// Masks the values of options and variables that are named like credentials, whatever they look like.
pub(super) fn learn_named_values<'a>(
    words: impl IntoIterator<Item = &'a str>,
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    redactor: &Redactor,
) {
    let words: Vec<&str> = words.into_iter().collect();
    let joined = words.iter().filter_map(|word| word.split_once('='));
    let apart = words.windows(2).map(|pair| (pair[0], pair[1]));
    let apart = apart.filter(|(name, value)| name.starts_with('-') && !value.starts_with('-'));
    let options = joined.chain(apart).map(|(name, value)| (name.trim_start_matches('-'), value));
    for (name, value) in options.chain(variables) {
        // A plain word would be masked everywhere.
        let is_word = value.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == ' ');
        if names_a_secret(name) && value.len() >= SHORTEST_VARIABLE && !is_word {
            learn(&of_value(value), redactor);
        }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn texts(found: &[SecretString]) -> Vec<&str> {
        found.iter().map(ExposeSecret::expose_secret).collect()
    }

    #[test]
    fn headers_with_credentials_are_secrets_in_all_their_parts() {
        let rules = DetectorRules::default();
        assert_eq!(
            texts(&rules.of_header("Authorization", "Bearer abcd1234")),
            ["Bearer abcd1234", "abcd1234"]
        );
        assert_eq!(
            texts(&rules.of_header("cookie", "sid=abcd1234; a=b")),
            ["sid=abcd1234; a=b", "abcd1234"]
        );
        assert!(!rules.of_header("x-api-key", "h3ader-value").is_empty());
        for (name, value) in [
            ("www-authenticate", "Bearer resource_metadata=\"https://h/x\""),
            ("mcp-session-id", "1868a90c-7e2f-4a3b-9c1d-5f6e7a8b9c0d"),
            ("content-type", "application/json"),
        ] {
            assert!(rules.of_header(name, value).is_empty(), "{name}");
        }
    }

    #[test]
    fn members_named_like_credentials_are_secrets_and_tokens_of_the_protocol_are_not() {
        let rules = DetectorRules::default();
        assert!(!rules.of_member("password", "hunter2").is_empty());
        assert!(!rules.of_member("access_token", "abcdefgh").is_empty());
        assert!(!rules.of_member("X-Api-Key", "abcdefgh").is_empty());
        assert!(!rules.of_member("dbPassword", "abcdefgh").is_empty());
        for name in [
            "progressToken",
            "nextPageToken",
            "cursor",
            "nextCursor",
            "requestState",
            "tokens",
            "key",
        ] {
            assert!(rules.of_member(name, "abcdefgh12345678").is_empty(), "{name}");
        }
    }

    #[test]
    fn sessions_and_what_objects_of_credentials_contain_are_secrets_and_words_are_not() {
        let rules = DetectorRules::default();
        for (name, value) in [
            ("pwd", "plainpw7788"),
            ("cookie", "sid=Qx7f9Zk2mP4rT6; theme=dark"),
            ("session", "Qx7f9Zk2mP4rT6Lw"),
            ("sessionId", "f47ac10b-58cc-4372-a567-0e02b2c3d479"),
        ] {
            assert!(!rules.of_member(name, value).is_empty(), "{name}={value}");
        }
        for (name, value) in [
            ("pwd", "/home/user/project"),
            ("pwd", "project-folder"),
            ("cookie", "chocolate"),
            ("session", "morning"),
            ("session", "3"),
            ("side", "Qx7f9Zk2mP4rT6Lw"),
        ] {
            assert!(rules.of_member(name, value).is_empty(), "{name}={value}");
        }
        for name in ["secret", "credentials", "secrets", "auth", "api_keys"] {
            assert!(rules.is_container(name), "{name}");
        }
        assert!(!rules.is_container("tokens") && !rules.is_container("arguments"));
        assert!(!rules.of_contained("value", "deepSecret7788x").is_empty());
        for (name, value) in [
            ("type", "oauth2bearer1"),
            ("value", "string"),
            ("expires", "2026-11-18T20:51:15Z"),
            ("text", "use 8characters1 or more"),
            ("path", "/srv/keys2026a/server.pem"),
            ("issuer", "https://auth2example1.org/tenant"),
        ] {
            assert!(rules.of_contained(name, value).is_empty(), "{name}={value}");
        }
    }

    #[test]
    fn a_private_key_is_found_up_to_its_end() {
        let rules = DetectorRules::default();
        let line = "5TVAM4By7Kq2mXz9Rw3tLp8s+/Jd6HfGc0NbVaQeYuIoPi1Z";
        let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
        for text in [
            format!("{begin}\n{line}\n{line}=\n{end}"),
            format!("{begin}\\n{line}\\n{line}=\\n{end}"),
            format!("{begin}\r\nProc-Type: 4,ENCRYPTED\r\n\r\n{line}\r\n{line}"),
        ] {
            let place = 6..6 + text.len();
            assert_eq!(rules.find(&format!("key: \"{text}\" and more")), vec![place]);
        }
    }

    #[test]
    fn the_token_of_an_authorization_in_a_text_is_found() {
        let rules = DetectorRules::default();
        let token = "q7Zt4Kw2mX9pLr5sVb8nYc3dFg6hJk1aQe0uTiRo";
        for text in [
            format!("curl -H 'Authorization: Bearer {token}' https://h/"),
            format!("authorization=Basic {token}== sent"),
            format!("{{\\\"Authorization\\\": \\\"Bearer {token}\\\"}}"),
            format!("got bearer {token}, ok"),
        ] {
            let found = rules.find(&text);
            assert!(found.iter().any(|place| text[place.clone()].starts_with(token)), "{text}");
        }
        for text in ["a basic understanding of it", "WWW-Authenticate: Bearer resource_metadata"] {
            assert!(rules.find(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn keys_of_vendors_are_found_in_text() {
        let rules = DetectorRules::default();
        let text = "use ghp_16C7e42F292c6912E7710c838347Ae178B4a now";
        assert_eq!(rules.find(text).len(), 1);
        assert!(rules.find("nothing here, id f47ac10b-58cc-4372-a567-0e02b2c3d479").is_empty());
    }
}
