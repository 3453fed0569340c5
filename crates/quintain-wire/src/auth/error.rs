//! Errors of authentication: what is wrong, where, and what to do about it.

use std::path::PathBuf;
use std::time::Duration;

use http::StatusCode;
use url::Url;

/// One URL that discovery requested, and the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryAttempt {
    /// The URL.
    pub url: Url,
    /// The result, such as `404 Not Found`.
    pub outcome: String,
}

/// Why there are no credentials.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AuthError {
    /// Any other failure.
    #[error("{0}")]
    Failed(String),
    /// A secret that is set but empty; usually an unset environment variable.
    #[error("{what} is empty; is the environment variable it comes from set?")]
    Empty {
        /// Which secret.
        what: &'static str,
    },
    /// A secret with line breaks or control characters.
    #[error(
        "{what} contains characters that are not allowed in HTTP headers; check it for line breaks"
    )]
    Unsendable {
        /// Which secret.
        what: &'static str,
    },
    /// Basic auth splits at the first colon, so the user name cannot have one.
    #[error("the user name (`auth.username`) contains a colon, which HTTP Basic cannot express")]
    ColonInUsername,
    /// The name of the API key is not a valid header name.
    #[error("`{name}` (`auth.keyName`) is not a valid header name; use letters, digits and dashes")]
    HeaderName {
        /// The name as given.
        name: String,
    },
    /// A required setting of the grant is missing.
    #[error("{grant} needs {what}; add it to `auth`")]
    Missing {
        /// The grant.
        grant: &'static str,
        /// The missing setting.
        what: &'static str,
    },
    /// An endpoint that must not receive credentials.
    #[error("refusing to talk to {url}: {reason}")]
    Unsafe {
        /// The endpoint.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The policy does not allow the destination; nothing was sent.
    #[error(transparent)]
    NotAllowed(#[from] crate::destination::NotAllowed),
    /// The authorization server could not be reached, or the connection failed.
    #[error("{url} cannot be reached: {reason}")]
    Unreachable {
        /// The requested URL.
        url: String,
        /// The network error.
        reason: String,
    },
    /// The authorization server took too long.
    #[error("{url} did not respond within {} s", .after.as_secs_f32())]
    TimedOut {
        /// The requested URL.
        url: String,
        /// How long we waited.
        after: Duration,
    },
    /// A response that is not valid.
    #[error("{url} sent an unusable response: {reason}")]
    BadAnswer {
        /// The requested URL.
        url: String,
        /// What is wrong with the response.
        reason: String,
    },
    /// The token endpoint refused the grant.
    #[error(
        "{url} refused the {grant} grant ({status}): {error}{description}; check the client id, the secret and the scopes"
    )]
    TokenRefused {
        /// The token endpoint.
        url: String,
        /// The refused grant.
        grant: String,
        /// The status of the response.
        status: StatusCode,
        /// The OAuth error code, or the start of the body.
        error: String,
        /// Empty, or the server's description with a leading colon.
        description: String,
    },
    /// No metadata document was found.
    #[error("no OAuth metadata found for {server}; set `auth.tokenUrl`, or serve one of{}", list(.tried))]
    Discovery {
        /// The server whose authorization server was searched for.
        server: String,
        /// All requested URLs, in order.
        tried: Vec<DiscoveryAttempt>,
    },
    /// The metadata belongs to another issuer (RFC 8414 section 3.3).
    #[error(
        "{url} describes the issuer `{found}` instead of `{expected}`; metadata of another server is not trusted"
    )]
    IssuerMismatch {
        /// The metadata document.
        url: String,
        /// The expected issuer.
        expected: String,
        /// The issuer in the document.
        found: String,
    },
    /// Users would log in at one server, and the code would be sent to another.
    #[error(
        "the issuer `{issuer}` has its login page at {page} but its token endpoint at {token}, and does not support `iss`; \
         the login page could belong to another server"
    )]
    BorrowedLogin {
        /// The issuer.
        issuer: String,
        /// Origin of the login page.
        page: String,
        /// Origin of the token endpoint.
        token: String,
    },
    /// The protected-resource metadata belongs to another server (RFC 9728 section 3.3).
    #[error(
        "{url} describes the resource `{found}`, which is not {server}; no token is requested for another server"
    )]
    ResourceMismatch {
        /// The metadata document.
        url: String,
        /// The server under test.
        server: String,
        /// The resource in the document.
        found: String,
    },
    /// The authorization server does not offer PKCE with S256.
    #[error(
        "the authorization server {issuer} does not support PKCE with S256, which MCP requires"
    )]
    NoPkce {
        /// The authorization server.
        issuer: String,
    },
    /// The authorization server does not support registration, and no client id is set.
    #[error(
        "the authorization server {issuer} offers no client registration; register a client there and pass its id with `--client-id`"
    )]
    NoRegistration {
        /// The authorization server.
        issuer: String,
    },
    /// Dynamic registration failed.
    #[error(
        "{url} refused to register a client ({status}): {reason}; register one manually and pass its id with `--client-id`"
    )]
    RegistrationRefused {
        /// The registration endpoint.
        url: String,
        /// The status of the response.
        status: StatusCode,
        /// The server's description.
        reason: String,
    },
    /// The client id belongs to another authorization server.
    #[error(
        "the server now uses the authorization server {found}, but the client id belongs to {expected}; run `quintain login {server}` again"
    )]
    IssuerChanged {
        /// The server under test.
        server: String,
        /// The issuer that the client is registered with.
        expected: String,
        /// The issuer that the server names now.
        found: String,
    },
    /// The redirect that ends the login is not valid.
    #[error("the redirect of the login has {what}; it was ignored, try again")]
    Callback {
        /// What is wrong with it.
        what: String,
    },
    /// The user or the authorization server refused the login.
    #[error("the login was refused: {error}{description}")]
    Denied {
        /// The OAuth error code.
        error: String,
        /// Empty, or the server's description with a leading colon.
        description: String,
    },
    /// The user did not finish the login in time.
    #[error("the login was not finished within {} s; run it again and open the printed URL", .after.as_secs())]
    LoginTimedOut {
        /// How long we waited.
        after: Duration,
    },
    /// A new token is refused, too.
    #[error(
        "{url} still answers {status} with a new token{detail}; check audience, scopes and the server's clock"
    )]
    StillRefused {
        /// The refusing URL.
        url: String,
        /// The status of the refusal.
        status: StatusCode,
        /// Empty, or the server's description with a leading colon.
        detail: String,
    },
    /// The server requires scopes that a login cannot get.
    #[error("{url} requires the scope `{scope}`, which {reason}")]
    Scope {
        /// The refusing URL.
        url: String,
        /// The required scopes.
        scope: String,
        /// Why another login does not help.
        reason: &'static str,
    },
    /// Only stored logins may be used, and none is usable.
    #[error("{reason}; run `quintain login {server}`")]
    LoginNeeded {
        /// The server under test.
        server: String,
        /// Why the stored login cannot be used.
        reason: String,
    },
    /// The private key cannot sign.
    #[error("the private key (`auth.privateKey`) cannot sign with {algorithm}: {reason}")]
    Key {
        /// The signature algorithm.
        algorithm: String,
        /// The error of the library.
        reason: String,
    },
    /// The file with the stored logins cannot be read or written.
    #[error("{} cannot be used to store logins: {reason}", .path.display())]
    Storage {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
}

fn list(tried: &[DiscoveryAttempt]) -> String {
    use std::fmt::Write as _;
    tried.iter().fold(String::new(), |mut text, DiscoveryAttempt { url, outcome }| {
        let _ = write!(text, "\n  {url}: {outcome}");
        text
    })
}

/// A URL for errors and file names: without user, query and fragment, which may be secret.
pub(crate) fn bare(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // These fail for URLs that cannot have a user, which is fine.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

/// Maximum length of texts from servers in messages.
const SHOWN: usize = 300;

/// A text from a server for a terminal: short, one line, without invisible characters.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::new();
    for (count, c) in text.trim().chars().enumerate() {
        if count == SHOWN {
            out.push('…');
            break;
        }
        match c {
            '\n' | '\t' => out.push(' '),
            c if c.is_control() || invisible(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// The description of an OAuth error, to append to its code.
pub(crate) fn described(text: Option<&str>) -> String {
    text.map(shown).filter(|text| !text.is_empty()).map(|t| format!(": {t}")).unwrap_or_default()
}

fn invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_words_lose_their_escape_codes_and_their_length() {
        assert_eq!(shown("a\u{1b}[2J\u{202e}b\nc"), "a\\u{1b}[2J\\u{202e}b c");
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), SHOWN + 1);
    }

    #[test]
    fn a_failed_discovery_lists_every_url_and_its_answer() {
        let url: Url = "https://h/.well-known/oauth-authorization-server".parse().unwrap();
        let error = AuthError::Discovery {
            server: "https://h/mcp".to_owned(),
            tried: vec![DiscoveryAttempt { url, outcome: "404 Not Found".to_owned() }],
        };
        assert_eq!(
            error.to_string(),
            "no OAuth metadata found for https://h/mcp; set `auth.tokenUrl`, or serve one of\
             \n  https://h/.well-known/oauth-authorization-server: 404 Not Found"
        );
    }
}
