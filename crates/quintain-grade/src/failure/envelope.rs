//! JSON that as a whole states a failure, such as `{"error": "..."}` or `{"success": false}`. Objects that carry what was
//! asked for are contents, also if they count or list errors.

mod keys;
mod values;

use serde_json::{Map, Value};

use self::keys::{
    CLASSES, CODES, ENVELOPE, ERROR, ERROR_WORDS, EXIT, EXPLAINS, FAILED, FAILED_WORDS, HTTP,
    REFUSED_WORDS, STATUS, SUCCESS, WRAPPERS,
};
use self::values::{
    is_empty, is_error, is_error_class, is_error_key, is_error_list, is_failed, is_false,
    is_http_error, is_none, nonzero, plain,
};
use super::subject::Subject;
use super::text;
use crate::canonical::scalar;
use crate::word_list;

const MAX_DEPTH: usize = 4;
/// Objects with more keys carry data.
const MAX_KEYS: usize = 24;
/// An object that says how a change ended has few keys; a whole record has more.
const MAX_OWN: usize = 8;
/// A longer body of a response is content.
const MAX_BODY: usize = 200;

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
            // A row with a code and a message is a row, wherever it comes from.
            [one @ Value::Object(map)] if !subject.is_log && Fields::new(map).names_failure() => {
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

    /// Whether a key names a failure or a success, rather than a state or a code.
    fn names_failure(&self) -> bool {
        let named = self.entries.iter().any(|(_, key, _)| is_error_key(key));
        named
            || [ERROR, FAILED, SUCCESS, "iserror"].iter().any(|keys| self.of(keys).next().is_some())
    }

    /// The key that states a failure of the whole.
    fn flag(&self, subject: &Subject<'_>) -> Option<&'v str> {
        if self.of(SUCCESS).any(|(_, value)| *value == Value::Bool(true)) {
            return None;
        }
        let carries = self.carries(subject);
        let unsuccessful = self.of(SUCCESS).find(|(key, value)| {
            is_false(value)
                || value.as_i64() == Some(0) && matches!(plain(key).as_str(), "ok" | "success")
        });
        let not_done = || {
            let done = self.entries.iter().find(|(name, _, value)| {
                **value == Value::Bool(false) && subject.is_done_key(name)
            });
            done.map(|(_, key, value)| (*key, *value))
        };
        let unsuccessful = unsuccessful.or_else(not_done);
        let declared = self.of(FAILED).find(|(_, value)| **value == Value::Bool(true));
        // `isError` is about the call, whatever else is there.
        let marked = self.of("iserror").find(|(_, value)| **value == Value::Bool(true));
        if let Some((key, _)) = marked {
            return Some(key);
        }
        let error = self.of(ERROR).find(|(_, value)| is_error(value));
        let error = error.or_else(|| {
            let named = self
                .entries
                .iter()
                .find(|(_, key, value)| is_error_key(key) && value.is_string() && is_error(value));
            named.map(|(_, key, value)| (*key, *value))
        });
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
            // What a tool that changes something says about its own work. A state that was asked for is none.
            let is_own = subject.changes
                && !subject.runs
                && !subject.is_question
                && self.entries.len() <= MAX_OWN
                && !self
                    .of(STATUS)
                    .any(|(_, word)| word.as_str().is_some_and(|word| subject.is_argument(word)));
            if is_own {
                return Some(key);
            }
            let is_bare = self.entries.len() == 1 && subject.reads && !is_certain;
            return (carries <= least && (explained || !is_bare)).then_some(key);
        }
        if carries > Carries::Arguments || subject.is_log || subject.is_question {
            return None;
        }
        let errors = self.of("errors").find(|(_, value)| is_error_list(value));
        errors.map(|(key, _)| key).or_else(|| self.exit())
    }

    /// The exit status of a program that only complained.
    fn exit(&self) -> Option<&'v str> {
        let said = |key| self.of(key).any(|(_, value)| !is_empty(value));
        let (key, _) = self.of(EXIT).find(|(_, value)| nonzero(value).is_some())?;
        (said("stderr") && !said("stdout output")).then_some(key)
    }

    /// A word or number for how the call ended, and whether it cannot be the state of a record.
    fn status(&self, subject: &Subject<'_>) -> Option<(&'v str, bool)> {
        let word = self.of(STATUS).find_map(|(key, value)| {
            let word = plain(value.as_str()?);
            let is_state = subject.is_state || subject.is_question;
            let is_refused = word_list::contains(REFUSED_WORDS, &word) && !is_state;
            let is_certain = word_list::contains(ERROR_WORDS, &word) || is_refused;
            let is_type = plain(key) == "type";
            let is_failed = word_list::contains(FAILED_WORDS, &word) && !is_type;
            (is_certain || (is_failed && !is_state)).then_some((key, is_certain && !is_state))
        });
        let http = || {
            let (key, _) = self.of(HTTP).find(|(key, value)| is_http_error(key, value))?;
            (!subject.is_state && !subject.is_question).then_some((key, true))
        };
        let code = || {
            let (key, value) = self.of("code errorcode").next()?;
            let word = value.as_str()?;
            let is_code = is_failed(&plain(word)) || text::is_system_code(word);
            (is_code && self.explanation().is_some()).then_some((key, true))
        };
        // `{"errcode": 40013, "errmsg": ...}`, `{"code": -1, "message": ...}`
        let number = || {
            let mut codes = self.of(CODES).filter(|(_, value)| nonzero(value).is_some());
            let mut negative = self
                .of("code status result")
                .filter(|(_, value)| nonzero(value).is_some_and(|number| number < 0));
            let (key, _) = codes.next().or_else(|| negative.next())?;
            self.explanation().map(|_| (key, true))
        };
        let class = || {
            let mut classes = self
                .of(CLASSES)
                .filter(|(_, value)| value.as_str().is_some_and(is_error_class) && !subject.is_log);
            classes.next().filter(|_| self.explanation().is_some()).map(|(key, _)| (key, true))
        };
        word.or_else(http).or_else(code).or_else(number).or_else(class)
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
        let is_problem = self.of("title").next().is_some()
            && self.of("status").any(|(key, value)| is_http_error(key, value));
        let is_response = self
            .of("status statuscode httpstatus httpstatuscode httpcode")
            .any(|(key, value)| is_http_error(key, value));
        // The form of JSend: what is wrong with each field.
        let is_refused = self
            .of("status")
            .any(|(_, word)| word.as_str().is_some_and(|word| matches!(word, "fail" | "error")));
        let is_class = |value: &Value| value.as_str().is_some_and(is_error_class);
        let others = self.entries.iter().filter(|(name, key, value)| {
            let is_body = name == "body"
                && is_response
                && value.as_str().is_some_and(|text| text.len() <= MAX_BODY);
            !(word_list::contains(ENVELOPE, name)
                || name.starts_with("error")
                || name.starts_with("failure")
                || name.starts_with('_')
                || name == "response" && is_false(value)
                || name == "data" && is_refused && value.is_object() && is_error_list(value)
                || word_list::contains(EXIT, name)
                || name == "stderr"
                || is_error_key(key)
                || word_list::contains(CLASSES, name) && is_class(value)
                || is_body
                || (is_problem && name == "type"))
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
    fn changes_state_how_they_ended() {
        for (name, value) in [
            ("charge_card", json!({"id": null, "status": "failed", "failure_reason": "limit"})),
            ("create_invite", json!({"statusCode": 503, "body": "Service Unavailable"})),
            (
                "create_invite",
                json!({"type": "about:blank", "title": "Conflict", "status": 409, "detail": "exists"}),
            ),
            ("create_export", json!({"state": "FAILED", "id": "x7"})),
            ("charge_card", json!({"status": "declined"})),
            ("add_member", json!({"added": false, "reason": "duplicate"})),
            ("merge_branch", json!({"merged": false, "message": "has conflicts"})),
            ("create_invite", json!({"ok": 0})),
        ] {
            assert!(states(name, json!({}), value.clone()), "{name} {value}");
        }
        for (name, args, value) in [
            ("get_payment", json!({}), json!({"id": "p-1", "status": "failed", "amount": 12})),
            (
                "set_status",
                json!({"status": "rejected"}),
                json!({"id": "a1", "status": "rejected"}),
            ),
            ("run_tests", json!({}), json!({"status": "failed", "passed": 12})),
            ("create_task", json!({"title": "x"}), json!({"id": "t9", "completed": false})),
            ("create_or_update_page", json!({}), json!({"created": false, "sha": "a1b2"})),
            ("get_counts", json!({}), json!({"ok": 3, "success": 0, "total": 9})),
        ] {
            assert!(!states(name, args, value.clone()), "{name} {value}");
        }
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
            json!({"errcode": 40013, "errmsg": "invalid appid"}),
            json!({"ret": -3, "msg": "session is over"}),
            json!({"code": -1, "message": "unknown city"}),
            json!({"cod": "404", "message": "city is not known"}),
            json!({"Response": "False", "Error": "Movie not found!"}),
            json!({"status": "fail", "data": {"city": "no such city"}}),
            json!({"status": "NOT_FOUND"}),
            json!({"status": 502, "body": "Bad Gateway"}),
            json!({"__type": "ResourceNotFoundException", "message": "Requested resource"}),
            json!({"type": "ValidationError", "message": "city is empty"}),
            json!({"is_error": true, "content": "nope"}),
            json!({"tool_error": "service offline"}),
            json!({"errors": {"city": ["is invalid"]}}),
            json!({"exit_code": 1, "stdout": "", "stderr": "no such city"}),
            json!({"faultcode": "soap:Server", "faultstring": "broken"}),
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
            json!([{"code": 500, "message": "Internal Server Error"}]),
            json!({"hits": [{"title": "Error: x", "error": "y"}]}),
            json!({"id": "b-17", "status": "failed", "finished": "2024-05-01"}),
            json!({"payment": "p1", "amount": 12, "success": false, "reason": "card declined"}),
            json!({"status": "failed"}),
            json!({"results": [], "error": null}),
            json!({"temperature": 404, "code": 500, "unit": "K"}),
            json!({"status": "ok", "message": "failed logins: 3"}),
            json!({"status": "open", "error": "login page crashes"}),
            json!({"errcode": 0, "errmsg": "ok", "data": {"a": 1}}),
            json!({"ret": 0, "msg": "success"}),
            json!({"code": 7, "message": "hello"}),
            json!({"status": "fail", "data": {"score": 3, "tries": 2}}),
            json!({"status": 502, "visitors": 12}),
            json!({"type": "TypeError", "count": 12, "first_seen": "2026-05-01"}),
            json!({"last_error": "timeout"}),
            json!({"errors": {"2026-05-01": 3, "2026-05-02": 0}}),
            json!({"exit_code": 1, "stdout": "3 passed, 1 failed", "stderr": ""}),
            json!({"exit_code": 0, "stdout": "", "stderr": "warning: slow"}),
            json!({"standard_error": "0.03", "mean": 7}),
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
        assert!(!states("check_link", json!({}), json!({"status": "NOT_FOUND"})));
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
