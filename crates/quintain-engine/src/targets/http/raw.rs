//! Parses a raw HTTP request: request line, headers, an empty line, the body.

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use url::Url;

/// A parsed request.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
}

/// Parses a rendered request.
///
/// # Errors
/// When the request is invalid.
pub(super) fn read(text: &str, scheme: &str) -> Result<Raw, String> {
    let wrong = |why: String| format!("Error parsing raw HTTP request: {why}");
    let text = text.trim().replace("\r\n", "\n");
    let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let (method, rest) = first
        .split_once(' ')
        .ok_or_else(|| wrong(format!("`{first}` is not METHOD PATH HTTP/1.1")))?;
    // The path may contain spaces from a variable.
    let path = rest.rsplit_once(' ').filter(|(_, version)| version.starts_with("HTTP/"));
    let path = path.map_or(rest, |(path, _)| path).trim();
    let method = Method::from_bytes(method.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| wrong(format!("the header `{line}` has no colon")))?;
        let name = HeaderName::from_bytes(name.trim().as_bytes());
        let name = name.map_err(|error| wrong(error.to_string()))?;
        let value = HeaderValue::from_str(value.trim());
        headers.append(name, value.map_err(|error| wrong(error.to_string()))?);
    }
    let host = headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
    let host = host.ok_or_else(|| wrong("the `Host` header is missing".to_owned()))?;
    let base: Url = format!("{scheme}://{host}")
        .parse()
        .map_err(|error| wrong(format!("`{host}`: {error}")))?;
    let url = base.join(path).map_err(|error| wrong(format!("`{path}`: {error}")))?;
    headers.remove(http::header::CONTENT_LENGTH);
    let body = Some(body.trim()).filter(|body| !body.is_empty()).map(str::to_owned);
    Ok(Raw { method, url, headers, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_apart() {
        let text = "\nPOST /ask?q=a b HTTP/1.1\nHost: h:81\nContent-Type: application/json\nContent-Length: 3\n\n{\"a\": 1}\n\nb\n";
        let raw = read(text, "https").unwrap();
        assert_eq!((raw.method, raw.url.as_str()), (Method::POST, "https://h:81/ask?q=a%20b"));
        assert_eq!(raw.body.as_deref(), Some("{\"a\": 1}\n\nb"));
        assert_eq!(raw.headers.len(), 2);
        for wrong in
            ["", "GET", "GET / HTTP/1.1", "GET / HTTP/1.1\nHost", "GET / HTTP/1.1\nHost: a b"]
        {
            assert!(read(wrong, "http").is_err(), "{wrong}");
        }
    }
}
