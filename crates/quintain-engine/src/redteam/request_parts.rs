//! What a raw request consists of besides its body, and how much of a response is read.

use http::HeaderMap;
use url::Url;

pub(super) const MAX_BODY: usize = 1 << 20;

/// The URL and headers of one request.
#[derive(Clone)]
pub(super) struct RequestParts {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
}
