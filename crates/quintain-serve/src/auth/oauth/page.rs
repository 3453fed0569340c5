//! The page that asks the user, and the cookie by which the answer comes from the same browser.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use url::Url;

const COOKIE: &str = "quintain_oauth";

/// What the page shows.
pub(super) struct Page<'a> {
    pub(super) server: &'a str,
    pub(super) client: &'a str,
    pub(super) redirect_uri: &'a str,
    pub(super) scope: Option<&'a str>,
    pub(super) request: &'a str,
    /// Whether the user proves who they are here, with a token.
    pub(super) asks_token: bool,
    pub(super) problem: Option<&'a str>,
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in quintain_source::visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

impl Page<'_> {
    pub(super) fn response(
        &self,
        status: StatusCode,
        cookie: Option<&str>,
        is_secure: bool,
    ) -> Response {
        let scope = self.scope.unwrap_or("everything that you may do, except administration");
        let token = if self.asks_token {
            "<p><label>Your token (<code>quintain token new --subject NAME</code>)<br>\
             <input type=\"password\" name=\"token\" autocomplete=\"off\" required size=\"60\"></label></p>"
        } else {
            ""
        };
        let problem =
            self.problem.map(|what| format!("<p role=\"alert\"><b>{}</b></p>", escaped(what)));
        let html = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{server}: allow access?</title>\
             <style>body{{font:16px sans-serif;max-width:40em;margin:3em auto;padding:0 1em}}</style>\
             <h1>Allow access to {server}?</h1>{problem}\
             <p><b>{client}</b> asks for: {scope}</p><p>It continues at <code>{redirect}</code></p>\
             <form method=\"post\" action=\"authorize\"><input type=\"hidden\" name=\"request\" value=\"{request}\">{token}\
             <p><button name=\"decision\" value=\"allow\">Allow</button> \
             <button name=\"decision\" value=\"deny\" formnovalidate>Deny</button></p></form></html>",
            server = escaped(self.server),
            client = escaped(self.client),
            scope = escaped(scope),
            redirect = escaped(self.redirect_uri),
            request = escaped(self.request),
            problem = problem.unwrap_or_default(),
        );
        let mut response = (status, Html(html)).into_response();
        let headers = response.headers_mut();
        let redirect = Url::parse(self.redirect_uri).ok();
        let target = redirect.map_or_else(String::new, |url| match url.scheme() {
            "http" | "https" => url.origin().ascii_serialization(),
            scheme => format!("{scheme}:"),
        });
        // A separator of policies never gets here; if it does, nothing is added.
        let target = if target.contains([';', ',', ' ', '\'']) { String::new() } else { target };
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'self' {target}"
        );
        let fixed: [(HeaderName, String); 4] = [
            (header::CONTENT_SECURITY_POLICY, policy),
            (header::X_FRAME_OPTIONS, "DENY".to_owned()),
            (header::REFERRER_POLICY, "no-referrer".to_owned()),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ];
        for (name, value) in fixed {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
        if let Some(cookie) = cookie {
            let secure = if is_secure { "; Secure" } else { "" };
            let value = format!(
                "{COOKIE}={cookie}; HttpOnly; SameSite=Lax; Path=/mcp/oauth; Max-Age=600{secure}"
            );
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(header::SET_COOKIE, value);
            }
        }
        response
    }
}

/// The cookie of the browser.
pub(super) fn cookie(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = values.flat_map(|value| value.split(';')).map(str::trim);
    let prefix = format!("{COOKIE}=");
    pairs.find_map(|pair| pair.strip_prefix(&prefix)).map(str::to_owned)
}
