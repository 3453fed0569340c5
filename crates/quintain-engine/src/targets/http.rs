//! HTTP targets.

mod raw;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use quintain_content::secret::names_a_secret;
use quintain_content::text::short;
use quintain_evidence::connection::{ApiKeyPlacement, Auth};
use quintain_evidence::evidence::Outcome;
use quintain_evidence::response::Response;
use quintain_llm::retry_after;
use quintain_suite::suite::{HttpKind, HttpTarget};
use quintain_wire::redact::MASK;
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};
use url::Url;

use super::{Ask, Asked, Sender, Told};
use crate::external_services::ExternalServices;
use crate::web::{Reply, Request, WebError};

const METHOD: &str = "http";
/// Wait before the first retry, if the endpoint asks for no other.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// An endpoint that asks for more is not waited for.
const MAX_WAIT: Duration = Duration::from_mins(1);
/// Longest part of a refusal in a message.
const SHOWN: usize = 200;

impl Sender for HttpKind {
    type Settings = HttpTarget;

    async fn ask(
        &self,
        asked: &Asked<'_, HttpTarget>,
        ask: &Ask<'_>,
        outside: &ExternalServices,
    ) -> Told {
        let target = asked.settings;
        let request = match request(target, ask, outside).await {
            Ok(request) => request,
            Err(why) => return Told::refused(METHOD, json!({"url": target.url}), why),
        };
        let sent = shown(&request);
        match send(target, request, outside).await {
            Ok(reply) => {
                let record = record(&reply);
                let response = match response(target, &reply, &record, outside).await {
                    Ok(response) => response,
                    Err(why) => Response::failed(why),
                };
                let metadata = json!({
                    "status": record["status"],
                    "statusText": record["statusText"],
                    "headers": record["headers"],
                });
                let mut response = response;
                response.metadata.entry("http").or_insert(metadata);
                response.raw = response.raw.or_else(|| record.get("body").cloned());
                Told { method: METHOD, sent, outcome: Outcome::Reply(record), response }
            }
            Err(error) => {
                let why = error.to_string();
                let response = Response::failed(why.clone());
                let outcome = match error {
                    WebError::TimedOut { after } => Outcome::TimedOut { after },
                    WebError::NotAllowed(_) => Outcome::Refused { why },
                    WebError::Lost { .. } => Outcome::Closed { why },
                    WebError::Body(_) => Outcome::Garbled { why, bytes: Vec::new() },
                };
                Told { method: METHOD, sent, outcome, response }
            }
        }
    }
}

/// Sends the request; one that the endpoint refuses with status 429 is sent again after the time that it asks for.
async fn send(
    target: &HttpTarget,
    request: Request,
    outside: &ExternalServices,
) -> Result<Reply, WebError> {
    let mut backoff = FIRST_WAIT;
    for _ in 0..target.max_retries {
        let reply = outside.web.send(request.clone(), outside.time).await?;
        let wait = retry_after(&reply.headers).unwrap_or(backoff);
        if reply.status != StatusCode::TOO_MANY_REQUESTS || wait > MAX_WAIT {
            return Ok(reply);
        }
        tokio::time::sleep(wait).await;
        backoff = MAX_WAIT.min(backoff * 2);
    }
    outside.web.send(request, outside.time).await
}

/// Renders the request.
async fn request(
    target: &HttpTarget,
    ask: &Ask<'_>,
    outside: &ExternalServices,
) -> Result<Request, String> {
    let prompt = Value::String(ask.prompt.to_owned());
    let mut vars = ask.vars.clone();
    vars.insert("prompt".into(), prompt.clone());
    let prompt = match &target.transform_request {
        Some(code) => {
            let (known, context) = (Value::Object(vars.clone()), ask.context());
            let given = [("prompt", &prompt), ("vars", &known), ("context", &context)];
            let made = outside.run(code, "get_transform", &given).await;
            made.map_err(|why| format!("Failed to transform request: {why}"))?
        }
        None => prompt,
    };
    vars.insert("prompt".into(), prompt.clone());
    let filler = Filler { ask, vars: &vars };
    let mut request = match &target.request {
        Some(text) => whole(target, text, &filler)?,
        None => composed(target, &prompt, &filler)?,
    };
    authorize(target, &filler, &mut request)?;
    Ok(request)
}

/// Renders the templates of a request.
struct Filler<'a> {
    ask: &'a Ask<'a>,
    vars: &'a Map<String, Value>,
}

impl Filler<'_> {
    fn text(&self, text: &str) -> Result<String, String> {
        self.ask.templates.render(text, self.vars).map_err(|error| error.to_string())
    }

    /// Renders the strings of a value. A rendered string that is a JSON object or array is parsed.
    fn value(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => {
                let text = self.text(text)?;
                let parsed = serde_json::from_str(&text).ok();
                parsed
                    .filter(|value: &Value| value.is_object() || value.is_array())
                    .unwrap_or(Value::String(text))
            }
            Value::Array(items) => {
                items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?
            }
            Value::Object(entries) => {
                let filled =
                    entries.iter().map(|(name, value)| Ok((self.text(name)?, self.value(value)?)));
                Value::Object(filled.collect::<Result<_, String>>()?)
            }
            other => other.clone(),
        })
    }

    fn header(&self, name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
        let name = self.text(name)?;
        let value = self.text(value)?;
        let parsed = HeaderName::from_bytes(name.as_bytes()).ok();
        match parsed.zip(HeaderValue::from_str(&value).ok()) {
            Some(header) => Ok(header),
            None => Err(format!("invalid header `{name}`")),
        }
    }
}

/// A complete raw request. String variables are JSON-escaped, since they are usually inside a JSON body.
fn whole(target: &HttpTarget, text: &str, filler: &Filler<'_>) -> Result<Request, String> {
    let escaped = filler.vars.iter().map(|(name, value)| {
        let value = match value {
            Value::String(_) => {
                let quoted = value.to_string();
                Value::String(quoted[1..quoted.len() - 1].to_owned())
            }
            other => other.clone(),
        };
        (name.clone(), value)
    });
    let escaped: Map<String, Value> = escaped.collect();
    let text = Filler { ask: filler.ask, vars: &escaped }.text(text)?;
    let https = target.use_https || target.url.starts_with("https");
    let raw = raw::read(&text, if https { "https" } else { "http" })?;
    Ok(Request {
        method: raw.method,
        url: raw.url,
        headers: raw.headers,
        body: raw.body.map(Bytes::from),
    })
}

fn composed(target: &HttpTarget, prompt: &Value, filler: &Filler<'_>) -> Result<Request, String> {
    let method = filler.text(target.method.as_deref().unwrap_or("GET"))?;
    let method = Method::from_bytes(method.as_bytes())
        .map_err(|_| format!("`{method}` is not an HTTP method"))?;
    let url = filler.text(&target.url)?;
    let mut url: Url =
        url.parse().map_err(|error| format!("`{url}` is not a valid URL: {error}"))?;
    for (name, value) in &target.query {
        let value = filler.text(value.expose_secret())?;
        url.query_pairs_mut().append_pair(name, &value);
    }
    let mut headers = HeaderMap::new();
    if let (Some(body), true) = (&target.body, target.method.as_deref() != Some("GET")) {
        let kind =
            if body.is_string() { "application/x-www-form-urlencoded" } else { "application/json" };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in &target.headers {
        let (name, value) = filler.header(name, value.expose_secret())?;
        headers.insert(name, value);
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| kind.contains("application/json"));
    let body = match &target.body {
        Some(_) if method == Method::GET => None,
        Some(body) => Some(Bytes::from(body_text(body, prompt, is_json, filler)?)),
        None => None,
    };
    Ok(Request { method, url, headers, body })
}

fn body_text(
    body: &Value,
    prompt: &Value,
    is_json: bool,
    filler: &Filler<'_>,
) -> Result<String, String> {
    if !is_json {
        return match body {
            Value::String(text) => Ok(filler.text(text)?.trim().to_owned()),
            Value::Object(_) | Value::Array(_) => Err(
                "Content-Type is not application/json, but body is an object or array. The body \
                 must be a string if the Content-Type is not application/json."
                    .to_owned(),
            ),
            other => Ok(other.to_string()),
        };
    }
    let parsed = body.as_str().and_then(|text| serde_json::from_str(text).ok());
    let body = parsed.as_ref().unwrap_or(body);
    if prompt.is_object() || prompt.is_array() {
        // The entries of a transformed prompt override those of the body.
        let mut whole = body.as_object().cloned().unwrap_or_default();
        match prompt {
            Value::Object(entries) => whole.extend(entries.clone()),
            other => return Ok(other.to_string()),
        }
        return Ok(Value::Object(whole).to_string());
    }
    let Value::String(text) = body else {
        return Ok(filler.value(body)?.to_string());
    };
    let rendered = filler.text(text)?;
    if serde_json::from_str::<Value>(&rendered).is_ok() {
        return Ok(rendered);
    }
    // The template inserted a prompt with quotes or line breaks, so the result is not valid JSON.
    match filler.ask.templates.render_json(text, filler.vars) {
        Ok(value) => Ok(value.to_string()),
        Err(_) => Ok(rendered),
    }
}

fn authorize(
    target: &HttpTarget,
    filler: &Filler<'_>,
    request: &mut Request,
) -> Result<(), String> {
    let (name, value) = match &target.auth {
        Auth::None | Auth::OAuth(_) | Auth::Stored => return Ok(()),
        Auth::Bearer { token } => {
            ("authorization".to_owned(), format!("Bearer {}", filler.text(token.expose_secret())?))
        }
        Auth::Basic { username, password } => {
            let pair =
                format!("{}:{}", filler.text(username)?, filler.text(password.expose_secret())?);
            ("authorization".to_owned(), format!("Basic {}", STANDARD.encode(pair)))
        }
        Auth::ApiKey { value, key_name, placement } => {
            let value = filler.text(value.expose_secret())?;
            if *placement == ApiKeyPlacement::Query {
                request.url.query_pairs_mut().append_pair(key_name, &value);
                return Ok(());
            }
            (key_name.clone(), value)
        }
    };
    let parsed = HeaderName::from_bytes(name.as_bytes()).ok();
    let Some((name, mut value)) = parsed.zip(HeaderValue::from_str(&value).ok()) else {
        return Err(format!("the credential is not valid in the header `{name}`"));
    };
    value.set_sensitive(true);
    request.headers.insert(name, value);
    Ok(())
}

/// The request for the record, with likely credentials masked.
fn shown(request: &Request) -> Value {
    let mut url = request.url.clone();
    if url.query_pairs().any(|(name, _)| names_a_secret(&name)) {
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        url.query_pairs_mut().clear().extend_pairs(
            pairs.iter().map(|(name, value)| {
                (name, if names_a_secret(name) { MASK } else { value.as_str() })
            }),
        );
    }
    json!({
        "method": request.method.as_str(),
        "url": url.as_str(),
        "headers": masked(&request.headers),
        "body": request.body.as_ref().map(|body| String::from_utf8_lossy(body)),
    })
}

/// Headers for user code, unmasked.
fn headers(headers: &HeaderMap) -> Map<String, Value> {
    let pair = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.to_string(), Value::from(String::from_utf8_lossy(value.as_bytes())))
    };
    headers.iter().map(pair).collect()
}

/// Headers for the record, with likely credentials masked.
fn masked(map: &HeaderMap) -> Map<String, Value> {
    let mut shown = headers(map);
    let secret =
        map.iter().filter(|(name, value)| value.is_sensitive() || names_a_secret(name.as_str()));
    shown.extend(secret.map(|(name, _)| (name.to_string(), MASK.into())));
    shown
}

fn record(reply: &Reply) -> Value {
    json!({
        "status": reply.status.as_u16(),
        "statusText": reply.status.canonical_reason().unwrap_or_default(),
        "headers": masked(&reply.headers),
        "body": String::from_utf8_lossy(&reply.body),
    })
}

/// Converts the reply to a response.
async fn response(
    target: &HttpTarget,
    reply: &Reply,
    record: &Value,
    outside: &ExternalServices,
) -> Result<Response, String> {
    let text = &record["body"];
    if let Some(code) = &target.validate_status {
        let status = &record["status"];
        let good = outside.run(code, "validate_status", &[("status", status)]).await?;
        if !truthy(&good) {
            let (words, text) = (&record["statusText"], text.as_str().unwrap_or_default());
            let words = words.as_str().unwrap_or_default();
            return Err(format!("HTTP call failed with status {status} {words}: {text}"));
        }
    } else if reply.status == StatusCode::TOO_MANY_REQUESTS {
        // Not an output: an assertion such as `not-contains` would pass.
        let text = short::one_line(text.as_str().unwrap_or_default(), SHOWN);
        return Err(format!("the endpoint refuses more requests for now (status 429): {text}"));
    }
    // Redirects to the same origin were followed. Unless the suite judges the status itself, another one is no answer.
    if target.validate_status.is_none() && reply.status.is_redirection() {
        let to = reply.headers.get(header::LOCATION);
        let to = to.map_or_else(String::new, |to| {
            format!(" to {}", String::from_utf8_lossy(to.as_bytes()))
        });
        let status = reply.status.as_u16();
        return Err(format!("HTTP status {status}: the redirect{to} is not followed"));
    }
    let json = outside.json(&reply.body).unwrap_or_default();
    let Some(code) = &target.transform_response else {
        let output = if truthy(&json) { json } else { text.clone() };
        return Ok(Response { output, ..Response::default() });
    };
    let context = json!({"response": {
        "data": text,
        "status": record["status"],
        "statusText": record["statusText"],
        "headers": headers(&reply.headers),
        "cached": false,
    }});
    let json = if truthy(&json) { json } else { Value::Null };
    let given = [("json", &json), ("text", text), ("context", &context)];
    let made = outside.run(code, "get_transform", &given).await;
    made.map(Response::of_code).map_err(|why| format!("Failed to transform response: {why}"))
}

/// Truthiness as in JavaScript, except NaN, which JSON cannot express.
fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quintain_source::Nunjucks;

    use super::*;

    fn body(template: Value, prompt: Value, is_json: bool) -> Result<String, String> {
        let templates = Nunjucks::new(BTreeMap::new());
        let vars = Map::from_iter([("prompt".to_owned(), prompt.clone())]);
        let ask = Ask { prompt: "", vars: &vars, templates: &templates, options: &vars };
        body_text(&template, &prompt, is_json, &Filler { ask: &ask, vars: &vars })
    }

    #[test]
    fn a_prompt_finds_its_way_into_any_body() {
        let quoted = json!("say \"hi\"\n");
        for (template, prompt, wanted) in [
            (json!({"a": ["{{prompt}}"]}), &quoted, r#"{"a":["say \"hi\"\n"]}"#),
            (json!(r#"{"a": "{{prompt}}"}"#), &quoted, r#"{"a":"say \"hi\"\n"}"#),
            (json!({"a": "{{prompt}}"}), &json!("[1, 2]"), r#"{"a":[1,2]}"#),
            (json!({"a": 1, "b": 2}), &json!({"b": 3}), r#"{"a":1,"b":3}"#),
        ] {
            assert_eq!(body(template, prompt.clone(), true).as_deref(), Ok(wanted));
        }
        assert_eq!(body(json!(" p={{prompt}} "), json!("x"), false).as_deref(), Ok("p=x"));
        assert!(body(json!({}), json!("x"), false).is_err(), "an object needs a JSON type");
    }

    #[test]
    fn credentials_are_masked_in_the_record() {
        let headers = [
            (header::AUTHORIZATION, HeaderValue::from_static("Bearer abc")),
            (header::ACCEPT, HeaderValue::from_static("text/plain")),
        ];
        let request = Request {
            method: Method::GET,
            url: "http://h/?api_key=abc&q=1".parse().unwrap(),
            headers: HeaderMap::from_iter(headers),
            body: None,
        };
        let shown = shown(&request);
        assert_eq!(shown["url"], "http://h/?api_key=***&q=1");
        assert_eq!(shown["headers"], json!({"authorization": "***", "accept": "text/plain"}));
    }
}
