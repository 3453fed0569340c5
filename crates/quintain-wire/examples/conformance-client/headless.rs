//! Logs in without a person, by following redirects. Shared with the tests of logins.

use std::collections::BTreeMap;
use std::time::Duration;

use ::http::Method;
use ::http::header::{COOKIE, LOCATION, SET_COOKIE};
use futures_util::future::BoxFuture;
use quintain_wire::auth::AuthError;
use quintain_wire::auth::oauth::Opener;
use quintain_wire::destination::Destinations;
use quintain_wire::net::{self, Client};
use reqwest::Response;
use url::Url;

/// Follows redirects until the login returns to this machine, without a user.
///
/// For servers that log in automatically, such as test servers; it does not submit forms.
#[derive(Clone, Debug)]
pub(crate) struct HeadlessOpener;

/// Time limit for all redirects together.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of redirects; a login needs fewer.
const REDIRECTS: usize = 20;

impl Opener for HeadlessOpener {
    fn open<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<(), AuthError>> {
        Box::pin(async move {
            tokio::time::timeout(TIMEOUT, follow(url))
                .await
                .unwrap_or_else(|_| Err(AuthError::TimedOut { url: bare(url), after: TIMEOUT }))
        })
    }
}

async fn follow(start: &Url) -> Result<(), AuthError> {
    // The user sees where the login leads, so all destinations are allowed.
    let client = Client::new(TIMEOUT, start, &Destinations::everywhere())
        .map_err(|error| AuthError::Failed(net::chain(&error)))?;
    // The redirect URI is in the URL, so we know where the login ends.
    let home = start.query_pairs().find(|(name, _)| name == "redirect_uri");
    let home = home.map(|(_, uri)| uri.into_owned()).unwrap_or_default();
    let mut cookies = Cookies::default();
    let mut url = start.clone();
    for _ in 0..REDIRECTS {
        let mut request = client.request(Method::GET, url.clone());
        if let Some(header) = cookies.header(&url) {
            request = request.header(COOKIE, header);
        }
        let response = client.send(request).await.map_err(|error| AuthError::Unreachable {
            url: bare(&url),
            reason: error.to_string(),
        })?;
        if bare(&url) == home {
            return if response.status().is_success() { Ok(()) } else { Err(turned_away(&url)) };
        }
        cookies.learn(&url, &response);
        url = next(&url, &response)?;
    }
    let reason = format!("more than {REDIRECTS} redirects");
    Err(AuthError::BadAnswer { url: bare(start), reason })
}

/// The error if the redirect was refused; otherwise the login would wait until its time limit.
fn turned_away(url: &Url) -> AuthError {
    let state = url.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| state);
    let what = match state {
        Some(state) => format!("the `state` of another login, `{state}`"),
        None => "no `state`".to_owned(),
    };
    AuthError::Callback { what }
}

/// A URL for errors: without its query, which may be secret.
fn bare(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}

fn next(url: &Url, response: &Response) -> Result<Url, AuthError> {
    let bad = |reason| AuthError::BadAnswer { url: bare(url), reason };
    let status = response.status();
    let Some(location) = response.headers().get(LOCATION).filter(|_| status.is_redirection())
    else {
        return Err(bad(format!("{status} instead of a redirect; does it require a person?")));
    };
    let location = String::from_utf8_lossy(location.as_bytes());
    match url.join(&location) {
        Ok(next) if matches!(next.scheme(), "http" | "https") => Ok(next),
        _ => Err(bad(format!("a redirect to `{location}`"))),
    }
}

/// A minimal cookie jar: the newest value of each name, per origin.
#[derive(Default)]
struct Cookies(BTreeMap<(String, String), String>);

impl Cookies {
    fn learn(&mut self, url: &Url, response: &Response) {
        let origin = url.origin().ascii_serialization();
        for cookie in response.headers().get_all(SET_COOKIE) {
            let Ok(cookie) = cookie.to_str() else { continue };
            let pair = cookie.split(';').next().unwrap_or_default();
            let Some((name, value)) = pair.split_once('=') else { continue };
            let key = (origin.clone(), name.trim().to_owned());
            if value.trim().is_empty() {
                self.0.remove(&key);
            } else {
                self.0.insert(key, value.trim().to_owned());
            }
        }
    }

    fn header(&self, url: &Url) -> Option<String> {
        let origin = url.origin().ascii_serialization();
        let own = self.0.iter().filter(|((of, _), _)| *of == origin);
        let pairs: Vec<_> = own.map(|((_, name), value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}
