//! API keys in a header or in the query.

use axum::http::{HeaderMap, Uri};

use super::query_parameter;
use crate::{
    config::{ApiKeyPlacement, Twin},
    credentials,
    identity::Caller,
};

pub(super) fn caller(
    twin: Twin,
    name: &str,
    placement: ApiKeyPlacement,
    uri: &Uri,
    headers: &HeaderMap,
) -> Option<Caller> {
    let in_header = || Some(headers.get(name)?.to_str().ok()?.to_owned());
    let in_query = || query_parameter(uri, name);
    let key = match placement {
        // PLANTED (token-handling): a key that belongs in a header is also accepted from the URL.
        ApiKeyPlacement::Header if twin.is_vulnerable() => in_header().or_else(in_query),
        ApiKeyPlacement::Header => in_header(),
        ApiKeyPlacement::Query => in_query(),
    };
    credentials::user_of(credentials::API_KEYS, &key?).map(Caller::unlimited)
}
