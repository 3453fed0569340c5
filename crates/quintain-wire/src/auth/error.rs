//! Why there are no credentials: what is wrong, where, and what to do about it.

use std::path::PathBuf;
use std::time::Duration;

use http::StatusCode;
use url::Url;

/// One URL that discovery asked, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// What was asked.
    pub url: Url,
    /// What came of it, e.g. `404 Not Found`.
    pub outcome: String,
}

/// Why there are no credentials.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AuthError {
    /// A failure that fits nowhere else.
    #[error("{0}")]
    Failed(String),
    /// A secret that is there but empty; usually an unset environment variable.
    #[error("{what} is empty; is the environment variable it comes from set?")]
    Empty {
        /// Which secret.
        what: &'static str,
    },
    /// A secret with line breaks or control characters.
    #[error("{what} holds characters that no HTTP header can carry; check it for line breaks")]
    Unsendable {
        /// Which secret.
        what: &'static str,
    },
    /// Basic auth splits at the first colon, so the user name cannot have one.
    #[error("the user name (`auth.username`) contains a colon, which HTTP Basic cannot express")]
    ColonInUsername,
    /// The name of the API key is no header name.
    #[error("`{name}` (`auth.keyName`) is not a valid header name; use letters, digits and dashes")]
    HeaderName {
        /// The name as given.
        name: String,
    },
    /// Something that the grant needs was not given.
    #[error("{grant} needs {what}; add it to `auth`")]
    Missing {
        /// The grant that was asked for.
        grant: &'static str,
        /// What it needs.
        what: &'static str,
    },
    /// An endpoint that must not see credentials.
    #[error("refusing to talk to {url}: {reason}")]
    Unsafe {
        /// The endpoint.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The policy does not let us go there; nothing was sent.
    #[error(transparent)]
    NotAllowed(#[from] crate::destination::NotAllowed),
    /// The authorization server could not be reached or broke off.
    #[error("{url} cannot be reached: {reason}")]
    Unreachable {
        /// What was asked.
        url: String,
        /// What the network said.
        reason: String,
    },
    /// The authorization server took too long.
    #[error("{url} did not answer within {} s", .after.as_secs_f32())]
    TimedOut {
        /// What was asked.
        url: String,
        /// How long we waited.
        after: Duration,
    },
    /// An answer that makes no sense.
    #[error("{url} gave an answer that cannot be used: {reason}")]
    BadAnswer {
        /// What was asked.
        url: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The token endpoint refused the grant.
    #[error(
        "{url} refused the {grant} grant ({status}): {error}{description}; check the client id, the secret and the scopes"
    )]
    TokenRefused {
        /// The token endpoint.
        url: String,
        /// Which grant was refused.
        grant: String,
        /// The status of the answer.
        status: StatusCode,
        /// The OAuth error code, or what else could be read.
        error: String,
        /// Empty, or the server's words with a leading colon.
        description: String,
    },
    /// No metadata document was found.
    #[error("no OAuth metadata found for {server}; set `auth.tokenUrl`, or serve one of{}", list(.tried))]
    Discovery {
        /// The server whose authorization server we looked for.
        server: String,
        /// Every URL tried, in order.
        tried: Vec<Attempt>,
    },
    /// The metadata belongs to another issuer (RFC 8414 section 3.3).
    #[error(
        "{url} describes the issuer `{found}` but was asked for `{expected}`; another server's metadata is not to be trusted"
    )]
    IssuerMismatch {
        /// The metadata document.
        url: String,
        /// The issuer it was asked for.
        expected: String,
        /// The issuer it names.
        found: String,
    },
    /// Users would log in at one server and the code would go to another.
    #[error(
        "the issuer `{issuer}` sends users to log in at {page} but the code to {token}, and does not promise `iss`; that could be the login page of another server"
    )]
    BorrowedLogin {
        /// The issuer.
        issuer: String,
        /// Where users would log in.
        page: String,
        /// Where the code would go.
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
        /// The resource it names.
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
    /// There is no way to get a client id.
    #[error(
        "the authorization server {issuer} offers no client registration; register a client there and give its id with `--client-id`"
    )]
    NoRegistration {
        /// The authorization server.
        issuer: String,
    },
    /// Dynamic registration failed.
    #[error(
        "{url} refused to register a client ({status}): {reason}; register one by hand and give its id with `--client-id`"
    )]
    RegistrationRefused {
        /// The registration endpoint.
        url: String,
        /// The status of the answer.
        status: StatusCode,
        /// The server's words.
        reason: String,
    },
    /// The client id belongs to another authorization server.
    #[error(
        "the server now uses the authorization server {found}, but the client id belongs to {expected}; run `quintain login {server}` again"
    )]
    IssuerChanged {
        /// The server under test.
        server: String,
        /// The issuer the client is registered with.
        expected: String,
        /// The issuer that is now announced.
        found: String,
    },
    /// The redirect that ends the login cannot be trusted.
    #[error("the login was answered with {what}; the answer was thrown away, try again")]
    Callback {
        /// What is wrong with it.
        what: String,
    },
    /// The user or the authorization server said no.
    #[error("the login was refused: {error}{description}")]
    Denied {
        /// The OAuth error code.
        error: String,
        /// Empty, or the server's words with a leading colon.
        description: String,
    },
    /// Nobody finished the login.
    #[error("nobody finished the login within {} s; run it again and open the printed URL", .after.as_secs())]
    LoginTimedOut {
        /// How long we waited.
        after: Duration,
    },
    /// A token that was renewed because of a refusal is refused as well.
    #[error(
        "{url} still answers {status} after the token was renewed{detail}; check audience, scopes and the server's clock"
    )]
    StillRefused {
        /// Who refuses.
        url: String,
        /// The status of the refusal.
        status: StatusCode,
        /// Empty, or the server's words with a leading colon.
        detail: String,
    },
    /// More scopes are wanted than can be had.
    #[error("{url} wants the scope `{scope}`, which {reason}")]
    Scope {
        /// Who refuses.
        url: String,
        /// The scopes it wants.
        scope: String,
        /// Why asking again is no use.
        reason: &'static str,
    },
    /// Only stored logins may be used and none fits.
    #[error("{reason}; run `quintain login {server}`")]
    LoginNeeded {
        /// The server under test.
        server: String,
        /// Why the stored login does not do.
        reason: String,
    },
    /// The private key cannot sign.
    #[error("the private key (`auth.privateKey`) cannot sign with {algorithm}: {reason}")]
    Key {
        /// The signature algorithm.
        algorithm: String,
        /// What the library said.
        reason: String,
    },
    /// The file with the stored logins cannot be read or written.
    #[error("{} cannot be used to store logins: {reason}", .path.display())]
    Storage {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}

fn list(tried: &[Attempt]) -> String {
    use std::fmt::Write as _;
    tried.iter().fold(String::new(), |mut text, Attempt { url, outcome }| {
        let _ = write!(text, "\n  {url}: {outcome}");
        text
    })
}

/// A URL as errors show it and files are named by it: without user, query and fragment, which may be
/// secret.
pub(crate) fn bare(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // These fail for URLs that cannot have a user, which is what we want.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

/// How much of a stranger's words is worth showing.
const SHOWN: usize = 300;

/// A stranger's words made fit for a terminal: short, one line, nothing invisible.
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

/// The words of an OAuth error, ready to be put behind its code.
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
            tried: vec![Attempt { url, outcome: "404 Not Found".to_owned() }],
        };
        assert_eq!(
            error.to_string(),
            "no OAuth metadata found for https://h/mcp; set `auth.tokenUrl`, or serve one of\
             \n  https://h/.well-known/oauth-authorization-server: 404 Not Found"
        );
    }
}
