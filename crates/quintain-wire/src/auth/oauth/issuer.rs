//! The identifier of an authorization server, and the well-known URLs of its metadata (RFC 8414).

use url::Url;

use super::GrantContext;
use crate::auth::AuthError;
use crate::auth::error::{bare, shown};

const AUTHORIZATION_SERVER: &str = "oauth-authorization-server";
const OPENID: &str = "openid-configuration";

/// An issuer identifier: a URL without query and fragment, kept as written.
#[derive(Clone, Debug)]
pub(crate) struct Issuer {
    text: String,
    base: Url,
}

impl Issuer {
    /// An issuer that a target or a stored login names; checks that the target may send us there.
    pub(crate) async fn named(text: &str, grant_context: &GrantContext) -> Result<Self, AuthError> {
        let base = grant_context.endpoint(text).await?;
        if base != bare(&base) {
            let reason = "an issuer has no query, no fragment and no user name";
            return Err(AuthError::Unsafe { url: shown(text), reason });
        }
        Ok(Self { text: text.to_owned(), base })
    }

    /// The origin of a server as its own issuer.
    pub(crate) fn origin(server: &Url) -> Self {
        let mut base = bare(server);
        base.set_path("");
        Self { text: server.origin().ascii_serialization(), base }
    }

    /// A server as its own issuer, with its path.
    pub(crate) fn itself(server: &Url) -> Self {
        let base = bare(server);
        Self { text: base.as_str().trim_end_matches('/').to_owned(), base }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_on_origin_of(&self, url: &Url) -> bool {
        self.base.origin() == url.origin()
    }

    /// Whether `found` is this identifier: the same characters (RFC 8414 section 3.3).
    ///
    /// The only exception is the slash after an origin without a path: both spellings are the same URL (RFC 3986 section
    /// 6.2.3) with the same well-known URL, and URL libraries add it automatically.
    pub(crate) fn is(&self, found: &str) -> bool {
        fn without_slash(text: &str) -> &str {
            text.strip_suffix('/').unwrap_or(text)
        }
        let only_origin = self.base.path() == "/";
        found == self.text || (only_origin && without_slash(found) == without_slash(&self.text))
    }

    /// RFC 8414, then OpenID with the path after and before the well-known part; each URL once.
    pub(crate) fn places(&self) -> Vec<Url> {
        let path = path(&self.base);
        let mut places = vec![
            well_known(&self.base, AUTHORIZATION_SERVER, path),
            well_known(&self.base, OPENID, path),
            at(&self.base, &format!("{path}/.well-known/{OPENID}")),
        ];
        places.dedup();
        places
    }

    /// Path before the well-known part (Keycloak), then after it (RFC 8414); each URL once.
    pub(crate) fn places_at_a_server(&self) -> Vec<Url> {
        let path = path(&self.base);
        let mut places = vec![
            at(&self.base, &format!("{path}/.well-known/{AUTHORIZATION_SERVER}")),
            well_known(&self.base, AUTHORIZATION_SERVER, path),
        ];
        places.dedup();
        places
    }
}

/// The path of a URL without a trailing slash.
pub(crate) fn path(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

/// `{origin}/.well-known/{name}{path}`, without the query of the server.
pub(crate) fn well_known(base: &Url, name: &str, path: &str) -> Url {
    at(base, &format!("/.well-known/{name}{path}"))
}

fn at(base: &Url, path: &str) -> Url {
    let mut url = bare(base);
    url.set_path(path);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(text: &str) -> Issuer {
        Issuer { text: text.to_owned(), base: text.parse().unwrap() }
    }

    fn texts(urls: &[Url]) -> Vec<&str> {
        urls.iter().map(Url::as_str).collect()
    }

    #[test]
    fn an_identifier_is_compared_character_by_character() {
        let path = issuer("https://as.example/tenant");
        assert!(path.is("https://as.example/tenant"));
        for other in [
            "https://as.example/tenant/",
            "https://as.example/tenan",
            "https://as.example/Tenant",
            "https://as.example:443/tenant",
            "https://AS.example/tenant",
            "http://as.example/tenant",
            "https://as.example/tenant?x",
            "https://evil.example/tenant",
            " https://as.example/tenant",
            "",
        ] {
            assert!(!path.is(other), "{other:?}");
        }
    }

    #[test]
    fn an_origin_with_and_without_its_slash_is_one_issuer() {
        for (asked, found) in [
            ("https://as.example", "https://as.example/"),
            ("https://as.example/", "https://as.example"),
            ("https://as.example/", "https://as.example/"),
        ] {
            assert!(issuer(asked).is(found), "{asked} {found}");
        }
        for found in ["https://as.example//", "https://as.example/x", "https://as.example.evil"] {
            assert!(!issuer("https://as.example").is(found), "{found}");
        }
    }

    #[test]
    fn an_issuer_with_a_path_has_three_places_and_one_without_has_two() {
        assert_eq!(
            texts(&issuer("https://as/tenant1").places()),
            [
                "https://as/.well-known/oauth-authorization-server/tenant1",
                "https://as/.well-known/openid-configuration/tenant1",
                "https://as/tenant1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(issuer("https://as/").places().len(), 2);
    }

    #[test]
    fn a_server_is_asked_in_the_documented_order_and_without_its_secrets() {
        let server = "https://u:p@h:8443/realms/x/?key=secret#f".parse().unwrap();
        assert_eq!(Issuer::itself(&server).as_str(), "https://h:8443/realms/x");
        assert_eq!(
            texts(&Issuer::itself(&server).places_at_a_server()),
            [
                "https://h:8443/realms/x/.well-known/oauth-authorization-server",
                "https://h:8443/.well-known/oauth-authorization-server/realms/x",
            ]
        );
        assert_eq!(
            texts(&Issuer::origin(&server).places_at_a_server()),
            ["https://h:8443/.well-known/oauth-authorization-server"]
        );
    }
}
