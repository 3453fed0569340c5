//! Reads the `Bearer` or `DPoP` challenge of a `WWW-Authenticate` header (RFC 9110, RFC 6750, RFC 9449,
//! RFC 9728).

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

/// What a server says about the token that it requires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// URL of the protected-resource metadata.
    pub resource_metadata: Option<String>,
    /// The scopes that the refused request needs.
    pub scope: Option<String>,
    /// `invalid_token`, `insufficient_scope`, ...
    pub error: Option<String>,
    /// The server's description of the error.
    pub error_description: Option<String>,
    /// The token must be bound to a key (RFC 9449).
    pub dpop: bool,
}

impl Challenge {
    /// The first `Bearer` challenge in the headers, else the first `DPoP` challenge; empty if there is none.
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let bound = || Self::of_scheme(headers, "dpop").map(|found| Self { dpop: true, ..found });
        Self::of_scheme(headers, "bearer").or_else(bound).unwrap_or_default()
    }

    fn of_scheme(headers: &HeaderMap, scheme: &str) -> Option<Self> {
        let mut values = headers.get_all(WWW_AUTHENTICATE).iter();
        values.find_map(|value| Self::parse(&String::from_utf8_lossy(value.as_bytes()), scheme))
    }

    fn parse(header: &str, scheme: &str) -> Option<Self> {
        let mut challenge = None;
        let mut rest = header;
        while let Some((token, tail)) = word(rest) {
            let tail = tail.trim_start();
            if let Some(tail) = tail.strip_prefix('=') {
                let (value, tail) = value(tail.trim_start());
                rest = tail;
                if let Some(found) = challenge.as_mut() {
                    Self::set(found, token, value);
                }
            } else if challenge.is_some() {
                // The next scheme starts here.
                break;
            } else {
                if token.eq_ignore_ascii_case(scheme) {
                    challenge = Some(Self::default());
                }
                rest = tail;
            }
        }
        challenge
    }

    fn set(&mut self, name: &str, value: String) {
        let field = match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => &mut self.resource_metadata,
            "scope" => &mut self.scope,
            "error" => &mut self.error,
            "error_description" => &mut self.error_description,
            _ => return,
        };
        // A repeated parameter is malformed; the first one counts.
        field.get_or_insert(value);
    }
}

/// The next run of characters up to a separator, and the rest.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches([' ', '\t', ',', '=', '"']);
    let end = text.find([' ', '\t', ',', '=', '"']).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// A token or a quoted string, and the rest.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut out = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, &quoted[at + 1..]),
            '\\' => out.extend(chars.next().map(|(_, escaped)| escaped)),
            c => out.push(c),
        }
    }
    (out, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_parameters_of_a_bearer_challenge_are_read_quoted_or_not() {
        let challenge = Challenge::parse(
            r#"Bearer error=invalid_token, scope="a b" , resource_metadata = "https://h/x?y=\"z\"""#,
            "bearer",
        );
        let challenge = challenge.unwrap();
        assert_eq!(challenge.error.as_deref(), Some("invalid_token"));
        assert_eq!(challenge.scope.as_deref(), Some("a b"));
        assert_eq!(challenge.resource_metadata.as_deref(), Some("https://h/x?y=\"z\""));
    }

    #[test]
    fn other_schemes_before_and_after_are_skipped() {
        let parse = |header| Challenge::parse(header, "bearer");
        let challenge = parse(r#"Basic realm="r", bearer scope=x, Digest scope=y"#);
        assert_eq!(challenge.unwrap().scope.as_deref(), Some("x"));
        assert_eq!(parse(r#"Basic realm="Bearer scope=x""#), None);
    }

    #[test]
    fn a_bound_token_is_wanted_only_where_a_bearer_token_is_not() {
        let challenge = |header: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(WWW_AUTHENTICATE, http::HeaderValue::from_static(header));
            Challenge::from_headers(&headers)
        };
        let bound = challenge(r#"DPoP algs="ES256", error="use_dpop_nonce", scope=x"#);
        assert!(bound.dpop && bound.scope.as_deref() == Some("x"), "{bound:?}");
        assert!(!challenge(r#"DPoP algs="ES256", Bearer scope=x"#).dpop);
        assert!(!challenge("Basic realm=x").dpop);
    }

    proptest! {
        #[test]
        fn no_header_makes_the_parser_panic_or_hang(header in ".*") {
            let _ = Challenge::parse(&header, "bearer");
        }
    }
}
