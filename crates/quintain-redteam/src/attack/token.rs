//! Changes to an identity's credentials before they are sent.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A change to a token. Only the engine knows the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Token {
    /// Random characters of the same length.
    Garbage,
    /// Its first half.
    Truncated,
    /// A JWT with this algorithm and no signature.
    Unsigned(String),
    /// A JWT without its signature, with its algorithm unchanged.
    Stripped,
    /// A JWT with a changed claim and the old signature.
    Tampered,
    /// Another token, which the user provides and the server must refuse.
    Given(Given),
}

/// Tokens that a user can provide and the server must refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// Validly signed, but expired.
    Expired,
    /// Validly signed, but issued for another server.
    OtherAudience,
    /// Validly signed, but read-only.
    ReadOnly,
}

impl Given {
    /// The words that suites use.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("expired", Self::Expired),
        ("otherAudience", Self::OtherAudience),
        ("readOnly", Self::ReadOnly),
    ];
}

impl Token {
    /// A header value with its token changed: `Bearer x` stays a bearer token. None if the token does not have the
    /// required form, or the change does not derive from it.
    pub fn header(&self, value: &str) -> Option<String> {
        match value.split_once(' ') {
            Some((scheme, token)) => Some(format!("{scheme} {}", self.made_from(token.trim())?)),
            None => self.made_from(value),
        }
    }

    /// The changed token.
    pub fn made_from(&self, token: &str) -> Option<String> {
        let length = token.chars().count();
        match self {
            Self::Garbage => {
                Some((0..length.max(8)).map(|at| char::from(b'a' + (at * 7 % 26) as u8)).collect())
            }
            Self::Truncated => (length > 1).then(|| token.chars().take(length / 2).collect()),
            Self::Unsigned(algorithm) => {
                let jwt = Jwt::read(token)?;
                let mut header = jwt.header;
                header.insert("alg".into(), Value::from(algorithm.as_str()));
                Some(format!("{}.{}.", coded(&header), coded(&jwt.claims)))
            }
            Self::Stripped => {
                Jwt::read(token)?;
                let (signed, _) = token.rsplit_once('.')?;
                Some(format!("{signed}."))
            }
            Self::Tampered => {
                let mut jwt = Jwt::read(token)?;
                jwt.claims.insert("tampered".into(), Value::Bool(true));
                let mut parts = token.split('.');
                let (header, signature) = (parts.next()?, parts.nth(1)?);
                Some(format!("{header}.{}.{signature}", coded(&jwt.claims)))
            }
            Self::Given(_) => None,
        }
    }
}

struct Jwt {
    header: Map<String, Value>,
    claims: Map<String, Value>,
}

impl Jwt {
    fn read(token: &str) -> Option<Self> {
        let parts: Vec<&str> = token.split('.').collect();
        let [header, claims, _] = parts.as_slice() else { return None };
        let read = |part: &str| -> Option<Map<String, Value>> {
            let bytes = URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        Some(Self { header: read(header)?, claims: read(claims)? })
    }
}

fn coded(part: &Map<String, Value>) -> String {
    URL_SAFE_NO_PAD.encode(Value::Object(part.clone()).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn jwt() -> String {
        let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.c2lnbmF0dXJl", part(json!({"alg": "HS256"})), part(json!({"sub": "ada"})))
    }

    #[test]
    fn a_signed_token_becomes_an_unsigned_one() {
        let made = Token::Unsigned("None".into()).header(&format!("Bearer {}", jwt())).unwrap();
        let token = made.strip_prefix("Bearer ").unwrap();
        assert!(token.ends_with('.'));
        let read = Jwt::read(token).unwrap();
        assert_eq!((&read.header["alg"], &read.claims["sub"]), (&json!("None"), &json!("ada")));
    }

    #[test]
    fn other_claims_keep_the_old_signature() {
        let made = Token::Tampered.made_from(&jwt()).unwrap();
        assert!(made.ends_with(".c2lnbmF0dXJl") && made != jwt());
        let stripped = Token::Stripped.made_from(&jwt()).unwrap();
        assert!(jwt().starts_with(&stripped));
    }

    #[test]
    fn what_is_no_jwt_has_no_signature_to_lose() {
        for token in ["tok-alice-51c2", "a.b.c", "", "a.b"] {
            assert_eq!(Token::Stripped.made_from(token), None, "{token}");
            assert_eq!(Token::Unsigned("none".into()).made_from(token), None, "{token}");
        }
        assert_eq!(Token::Truncated.header("Bearer abcdef").as_deref(), Some("Bearer abc"));
        assert_ne!(Token::Garbage.made_from("secret-token").as_deref(), Some("secret-token"));
        assert_eq!(Token::Given(Given::Expired).made_from("x"), None);
    }
}
