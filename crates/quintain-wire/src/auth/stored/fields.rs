//! Serialises fields of stored logins that serde does not support.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use url::Url;

pub(super) mod address {
    use super::{Deserialize, Url};

    pub(in super::super) fn serialize<S: serde::Serializer>(
        url: &Url,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(url.as_str())
    }

    pub(in super::super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<Url, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

pub(super) mod secret {
    use super::{Deserialize, ExposeSecret, SecretString};

    pub(in super::super) fn serialize<S: serde::Serializer>(
        secret: &SecretString,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(secret.expose_secret())
    }

    pub(in super::super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<SecretString, D::Error> {
        String::deserialize(from).map(SecretString::from)
    }
}

pub(super) mod optional_secret {
    use super::{Deserialize, ExposeSecret, SecretString, Serialize};

    #[expect(clippy::ref_option, reason = "serde dictates the signature")]
    pub(in super::super) fn serialize<S: serde::Serializer>(
        secret: &Option<SecretString>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(ExposeSecret::expose_secret).serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<Option<SecretString>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(SecretString::from))
    }
}
