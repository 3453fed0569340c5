//! JSON that as a whole states a failure, such as `{"error": "..."}` or `{"success": false}`. Objects that carry what was
//! asked for are contents, also if they count or list errors.

use serde_json::{Map, Value};

use super::subject::Subject;
use super::text;
use crate::canonical::scalar;
use crate::word_list;

/// Keys that describe a failure or the response itself. Their values are not what was asked for.
const ENVELOPE: &str = "\
    attempts cause code correlationid detail details docs documentationurl duration \
    durationms elapsed elapsedms err errmsg error errorcode errordescription errordetails \
    errorid errormessage errormsg errorname errors errortype exception failed failure fault \
    haserror help hint httpcode httpstatus httpstatuscode instance iserror jsonrpc message \
    meta method msg name ok path provider reason requestid retryable retryafter stack \
    stacktrace status statuscode statustext suberrors success succeeded successful \
    suggestion time timestamp title tool trace traceback";
/// Keys whose texts explain.
const EXPLAINS: &str = "\
    cause description detail details err errmsg error errordescription errormessage errormsg \
    exception failure failurereason message msg reason";
/// Keys of an error as text or object.
const ERROR: &str = "\
    err errmsg error errordescription errormessage errormsg exception failure fault";
/// Keys that are false if the call failed.
const SUCCESS: &str = "\
    ok status succeeded success successful";
/// Keys that are true if the call failed.
const FAILED: &str = "\
    error failed haserror iserror";
/// Keys of a word for how the call ended.
const STATUS: &str = "\
    outcome result state status type";
/// Keys of a status of HTTP.
const HTTP: &str = "\
    code errorcode httpcode httpstatus httpstatuscode status statuscode error";
/// Words for a call that failed, which are not states of records.
const ERROR_WORDS: &str = "\
    err error exception fatal fatalerror internalerror internalservererror ko servererror";
/// Words for a call that failed, or for the state of a record.
const FAILED_WORDS: &str = "\
    aborted accessdenied badrequest denied errored fail failed failure forbidden invalid \
    invalidargument invalidrequest notfound permissiondenied ratelimited ratelimitexceeded \
    rejected resourceexhausted serviceunavailable timedout timeout toomanyrequests \
    unauthenticated unauthorized unavailable unknownerror validationerror";
/// Values of `error` for none.
const NO_ERROR: [&str; 12] =
    ["", "0", "false", "n/a", "na", "nil", "no", "no error", "none", "null", "ok", "success"];
/// Objects with one of these keys alone wrap the content.
const WRAPPERS: &str = "\
    body content data detail message output payload response result text";
const MAX_DEPTH: usize = 4;
/// Objects with more keys carry data.
const MAX_KEYS: usize = 24;

/// Where a value states that all failed, and its words.
pub(super) fn states_failure(value: &Value, subject: &Subject<'_>) -> Option<(String, String)> {
    states_within(value, subject, MAX_DEPTH)
}

fn states_within(value: &Value, subject: &Subject<'_>, depth: usize) -> Option<(String, String)> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::String(text) => {
            text::states_failure(text.trim(), subject).then(|| (String::new(), text.clone()))
        }
        Value::Object(map) => in_object(map, subject, depth),
        // A list of one error is an error; longer lists are contents.
        Value::Array(items) => match items.as_slice() {
            [one @ Value::Object(_)] if !subject.is_log => {
                let (pointer, text) = states_within(one, subject, depth)?;
                Some((format!("/0{pointer}"), text))
            }
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn in_object(
    map: &Map<String, Value>,
    subject: &Subject<'_>,
    depth: usize,
) -> Option<(String, String)> {
    if map.len() > MAX_KEYS {
        return None;
    }
    let fields = Fields::new(map);
    if let Some(key) = fields.flag(subject) {
        let text = fields.explanation().unwrap_or_else(|| Value::Object(map.clone()).to_string());
        return Some((pointer(key), text));
    }
    if fields.carries(subject) <= Carries::Arguments {
        let said = fields.of("detail message msg reason").find(|(_, value)| {
            value.as_str().is_some_and(|text| text::states_failure(text.trim(), subject))
        });
        if let Some((key, Value::String(text))) = said {
            return Some((pointer(key), text.clone()));
        }
    }
    let (key, inner) = map.iter().next().filter(|_| map.len() == 1)?;
    // Results for each of several arguments name them as keys.
    if !word_list::contains(WRAPPERS, &plain(key)) && !subject.is_argument(key) {
        return None;
    }
    let (below, text) = states_within(inner, subject, depth)?;
    Some((pointer(key) + &below, text))
}

fn pointer(key: &str) -> String {
    format!("/{}", quintain_content::json_value::pointer_token(key))
}

/// The fields of an object by their names without case and separators.
struct Fields<'v> {
    entries: Vec<(String, &'v str, &'v Value)>,
}

impl<'v> Fields<'v> {
    fn new(map: &'v Map<String, Value>) -> Self {
        let entries = map.iter().map(|(key, value)| (plain(key), key.as_str(), value));
        Self { entries: entries.collect() }
    }

    fn of<'f>(&'f self, keys: &'f str) -> impl Iterator<Item = (&'v str, &'v Value)> + 'f {
        let known = self.entries.iter().filter(|(name, ..)| word_list::contains(keys, name));
        known.map(|(_, key, value)| (*key, *value))
    }

    /// The key that states a failure of the whole.
    fn flag(&self, subject: &Subject<'_>) -> Option<&'v str> {
        if self.of(SUCCESS).any(|(_, value)| *value == Value::Bool(true)) {
            return None;
        }
        let carries = self.carries(subject);
        let unsuccessful = self.of(SUCCESS).find(|(_, value)| is_false(value));
        let declared = self.of(FAILED).find(|(_, value)| **value == Value::Bool(true));
        let error = self.of(ERROR).find(|(_, value)| is_error(value));
        let explained = self.explanation().is_some();
        let status = self.status(subject);
        if let Some((key, _)) = unsuccessful.or(declared) {
            let acted = !subject.reads && explained;
            // The answer to a question is no: `{"status": 404, "ok": false}`.
            if subject.is_question && !explained {
                return None;
            }
            return (carries == Carries::Nothing || carries == Carries::Arguments || acted)
                .then_some(error.map_or(key, |(key, _)| key));
        }
        if let Some((key, _)) = error {
            // The record of something that failed: its id, its state and its error.
            let is_record = subject.reads && carries == Carries::Arguments && status.is_some();
            // The error is one of several facts: `{"status": "open", "error": "..."}`.
            let is_fact = status.is_none() && self.of("status").any(|(_, word)| word.is_string());
            let is_asked = subject.is_named_log || is_fact;
            let acted = !subject.reads && status.is_some();
            return (!is_asked && !is_record && (carries <= Carries::Arguments || acted))
                .then_some(key);
        }
        if let Some((key, is_certain)) = status {
            let least =
                if subject.reads && !is_certain { Carries::Nothing } else { Carries::Arguments };
            let is_bare = self.entries.len() == 1 && subject.reads && !is_certain;
            return (carries <= least && (explained || !is_bare)).then_some(key);
        }
        let (key, _) = self.of("errors").find(|(_, value)| is_error_list(value))?;
        (carries <= Carries::Arguments && !subject.is_log && !subject.is_question).then_some(key)
    }

    /// A word or number for how the call ended, and whether it cannot be the state of a record.
    fn status(&self, subject: &Subject<'_>) -> Option<(&'v str, bool)> {
        let word = self.of(STATUS).find_map(|(key, value)| {
            let word = plain(value.as_str()?);
            let is_certain = word_list::contains(ERROR_WORDS, &word);
            let is_type = plain(key) == "type";
            let is_failed = word_list::contains(FAILED_WORDS, &word) && !is_type;
            let is_state = subject.is_state || subject.is_question;
            (is_certain || (is_failed && !is_state)).then_some((key, is_certain && !is_state))
        });
        let http = || {
            let (key, _) = self.of(HTTP).find(|(key, value)| is_http_error(key, value))?;
            (!subject.is_state && !subject.is_question).then_some((key, true))
        };
        let code = || {
            let (key, value) = self.of("code errorcode").next()?;
            let word = plain(value.as_str()?);
            let is_code = word_list::contains(FAILED_WORDS, &word)
                || word_list::contains(ERROR_WORDS, &word)
                || text::is_system_code(value.as_str()?);
            (is_code && self.explanation().is_some()).then_some((key, true))
        };
        word.or_else(http).or_else(code)
    }

    /// What explains the failure, in words.
    fn explanation(&self) -> Option<String> {
        let texts = self.of(EXPLAINS).filter_map(|(_, value)| match value {
            Value::String(text) if !is_none(text) => Some(text.clone()),
            Value::Object(inner) => Fields::new(inner).plain_explanation(),
            _ => None,
        });
        texts.max_by_key(String::len)
    }

    fn plain_explanation(&self) -> Option<String> {
        let mut texts = self.of(EXPLAINS).filter_map(|(_, value)| value.as_str());
        texts.next().map(str::to_owned)
    }

    /// Whether the object carries data besides what describes the failure.
    fn carries(&self, subject: &Subject<'_>) -> Carries {
        let others = self.entries.iter().filter(|(name, ..)| {
            !word_list::contains(ENVELOPE, name)
                && !name.starts_with("error")
                && !name.starts_with('_')
        });
        let each = others.map(|(name, _, value)| match value {
            _ if is_empty(value) => Carries::Nothing,
            Value::String(word) if word_list::contains(STATUS, name) && is_failed(&plain(word)) => {
                Carries::Nothing
            }
            _ if scalar(value).is_some_and(|scalar| subject.is_argument(&scalar)) => {
                Carries::Arguments
            }
            _ => Carries::Data,
        });
        each.max().unwrap_or(Carries::Nothing)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Carries {
    Nothing,
    /// Arguments of the call, repeated.
    Arguments,
    Data,
}

/// A key or word without case and separators.
fn plain(key: &str) -> String {
    let letters = key.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn is_failed(word: &str) -> bool {
    word_list::contains(ERROR_WORDS, word) || word_list::contains(FAILED_WORDS, word)
}

fn is_false(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => !flag,
        Value::String(text) => text.eq_ignore_ascii_case("false"),
        _ => false,
    }
}

fn is_none(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    NO_ERROR.contains(&text.as_str())
}

/// Numbers are measurements or counters.
fn is_error(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag,
        Value::String(text) => !is_none(text) && text.trim().parse::<f64>().is_err(),
        Value::Object(map) => {
            let mut texts = map.values().filter_map(Value::as_str);
            texts.any(|text| !is_none(text))
        }
        Value::Null | Value::Number(_) | Value::Array(_) => false,
    }
}

fn is_error_list(value: &Value) -> bool {
    value.as_array().is_some_and(|items| {
        !items.is_empty() && items.iter().all(|item| item.is_string() || item.is_object())
    })
}

fn is_http_error(key: &str, value: &Value) -> bool {
    let number = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    // Errors of JSON-RPC are negative.
    let is_rpc = plain(key) == "code";
    number.is_some_and(|number| {
        (400..600).contains(&number) || (is_rpc && (-32_800..=-32_000).contains(&number))
    })
}

/// Zero, false, null and empty values are no data.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_empty),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::Call;
    use serde_json::json;

    use super::*;

    fn states(name: &str, args: Value, value: Value) -> bool {
        let call = Call::tool(name, args);
        states_failure(&value, &Subject::new(&call, None)).is_some()
    }

    #[test]
    fn envelopes_of_failures() {
        for value in [
            json!({"error": "city not found"}),
            json!({"error": {"code": 404, "message": "Not Found"}}),
            json!({"error": true, "message": "no quota left"}),
            json!({"err": "boom"}),
            json!({"errorMessage": "Missing Authentication Token"}),
            json!({"success": false}),
            json!({"success": false, "message": "try later", "data": null, "count": 0}),
            json!({"ok": false, "error": "channel_not_found"}),
            json!({"status": "error", "message": "quota exceeded"}),
            json!({"status": "failed", "reason": "upstream"}),
            json!({"status": 500, "title": "Internal Server Error"}),
            json!({"statusCode": 404, "message": "Not Found"}),
            json!({"code": -32602, "message": "Invalid params"}),
            json!({"code": "NOT_FOUND", "message": "no such item"}),
            json!({"code": "ENOENT", "message": "no such file"}),
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            json!({"errors": [{"message": "Cannot query field"}], "data": null}),
            json!({"result": "Error: upstream timed out"}),
            json!({"data": {"error": "nope, not today"}}),
            json!({"detail": "Error: Not authenticated"}),
            json!({"isError": true, "message": "x"}),
            json!({"message": "Not Found", "documentation_url": "https://example.com/docs"}),
            json!([{"error": "bad request"}]),
            json!({"city": "Paris", "error": "no data"}),
            json!({"success": false, "city": "Paris", "error": "no data", "results": []}),
        ] {
            assert!(states("get_weather", json!({"city": "Paris"}), value.clone()), "{value}");
        }
    }

    #[test]
    fn contents_that_mention_errors() {
        for value in [
            json!({"errors": 0, "warnings": 3}),
            json!({"error_count": 12, "errors": ["a", "b"], "total": 40}),
            json!({"error": null, "data": {"a": 1}}),
            json!({"error": "", "temperature": 21}),
            json!({"error": 0.03, "estimate": 7.1}),
            json!({"success": true, "error": "2 rows skipped"}),
            json!({"updated": 5, "failed": 2, "errors": ["row 7"]}),
            json!([{"error": "a"}, {"error": "b"}]),
            json!({"hits": [{"title": "Error: x", "error": "y"}]}),
            json!({"id": "b-17", "status": "failed", "finished": "2024-05-01"}),
            json!({"payment": "p1", "amount": 12, "success": false, "reason": "card declined"}),
            json!({"status": "failed"}),
            json!({"results": [], "error": null}),
            json!({"temperature": 404, "code": 500, "unit": "K"}),
            json!({"status": "ok", "message": "failed logins: 3"}),
            json!({"status": "open", "error": "login page crashes"}),
        ] {
            assert!(!states("get_item", json!({"id": "7"}), value.clone()), "{value}");
        }
    }

    #[test]
    fn the_record_of_a_failed_job_is_content() {
        let failed = json!({"job_id": 17, "status": "failed", "error": "out of memory"});
        assert!(!states("get_job", json!({"job_id": 17}), failed.clone()));
        assert!(states("start_job", json!({"job_id": 17}), failed));
        assert!(!states(
            "get_job_status",
            json!({}),
            json!({"status": "failed", "message": "disk full"})
        ));
        assert!(!states("check_link", json!({}), json!({"status": 404, "message": "Not Found"})));
        assert!(!states("check_url", json!({}), json!({"status": 404, "ok": false})));
        assert!(!states("get_last_error", json!({}), json!({"error": "NullPointerException"})));
        assert!(!states("validate", json!({}), json!({"valid": false, "errors": ["a"]})));
        assert!(!states("validate", json!({}), json!({"errors": ["a is required"]})));
    }

    #[test]
    fn results_by_argument_are_looked_into() {
        let failed =
            json!({"/a.md": {"result": "error", "reason": "line 3 is too long", "hash": null}});
        assert!(states("edit_files", json!({"files": [{"path": "/a.md"}]}), failed.clone()));
        assert!(!states("edit_files", json!({}), failed));
    }

    #[test]
    fn acting_tools_explain_with_data() {
        let refused =
            json!({"success": false, "order": "A-1", "stock": 2, "reason": "out of stock"});
        assert!(states("place_order", json!({}), refused.clone()));
        assert!(!states("get_order", json!({}), refused));
        assert!(!states(
            "run_tests",
            json!({}),
            json!({"success": false, "passed": 9, "failed": 2})
        ));
    }
}
