//! Decides from a server's answer whether the server did what it was asked.

use crate::evidence::Outcome;

/// Beginnings of texts that report a failure although the response is formally a success.
const FAILURES: [&str; 22] = [
    "error",
    "failed",
    "failure",
    "invalid",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "no such",
    "not found",
    "denied",
    "access denied",
    "permission denied",
    "forbidden",
    "refused",
    "unknown",
    "exception",
    "traceback",
    "missing",
    "unsupported",
    "unauthorized",
];
/// Phrases that report a failure in the middle of a short answer.
const REFUSALS: [&str; 12] = [
    " not found",
    " does not exist",
    " doesn't exist",
    "no such file",
    "is not allowed",
    "is not supported",
    "access denied",
    "permission denied",
    "must be an absolute",
    "must be absolute",
    "is not a valid",
    "is required",
];
/// Phrases of refusals whose cause is an unreachable backend. Other arguments do not help then.
const UNREACHABLE: [&str; 14] = [
    "connection refused",
    "econnrefused",
    "could not connect",
    "couldn't connect",
    "unable to connect",
    "failed to connect",
    "max retries exceeded",
    "enotfound",
    "eai_again",
    "getaddrinfo",
    "name resolution",
    "name or service not known",
    "network is unreachable",
    "fetch failed",
];
/// Phrases of errors that a target gives while it does not work, whatever it is asked.
const OUTAGES: [&str; 9] = [
    "rate limit",
    "ratelimit",
    "too many requests",
    "429",
    "503",
    "502 bad gateway",
    "service unavailable",
    "temporarily unavailable",
    "overloaded",
];
/// Number of characters searched: failures are reported at the beginning.
const LOOK: usize = 160;

/// Whether an outcome is an error that a target gives while it is overloaded or not available.
pub fn is_outage(outcome: &Outcome) -> bool {
    let is_error = matches!(outcome, Outcome::ToolError(_) | Outcome::RpcError { .. });
    if !is_error {
        return false;
    }
    let said = outcome.said();
    let end = said.floor_char_boundary(LOOK.min(said.len()));
    let said = said[..end].to_lowercase();
    OUTAGES.iter().any(|phrase| said.contains(phrase))
}

/// Whether an outcome is a success, formally and by its text.
pub fn accepted(outcome: &Outcome) -> bool {
    let Outcome::Reply(result) = outcome else { return false };
    let text = outcome.texts().first().copied().unwrap_or_default().trim_start();
    let end = text.floor_char_boundary(LOOK.min(text.len()));
    let text = text[..end].to_lowercase();
    // Symbols before the text are skipped, except those that open JSON, which is read below.
    let marks = |c: char| !c.is_alphanumeric() && !matches!(c, '{' | '[');
    let plain = text.trim_start_matches(marks);
    if FAILURES.iter().any(|failure| plain.starts_with(failure)) {
        return false;
    }
    let is_sentence = end < LOOK && !plain.starts_with(['{', '[']) && !plain.contains('\n');
    if is_sentence && REFUSALS.iter().any(|refusal| plain.contains(refusal)) {
        return false;
    }
    // Data that reports a failure: `{"success": false}`, `{"error": "..."}`.
    let structured = result.get("structuredContent").cloned();
    let parsed = structured.or_else(|| serde_json::from_str(outcome.texts().first()?).ok());
    let says_no = |value: &serde_json::Value| {
        let told = |key: &str| value.get(key);
        told("error").is_some_and(|error| !error.is_null() && *error != false)
            || ["success", "ok"].iter().any(|key| told(key).is_some_and(|said| *said == false))
            || told("status").is_some_and(|said| *said == "error" || *said == "failed")
    };
    !parsed.as_ref().is_some_and(says_no)
}

/// Whether a refusal reports that a backend of the server is unreachable. The arguments were valid enough to get
/// there.
pub fn is_unreachable(said: &str) -> bool {
    let end = said.floor_char_boundary(4096.min(said.len()));
    let low = said[..end].to_lowercase();
    UNREACHABLE.iter().any(|words| low.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn says(text: &str) -> bool {
        accepted(&Outcome::Reply(json!({"content": [{"type": "text", "text": text}]})))
    }

    #[test]
    fn what_cannot_be_reached_is_told_from_what_is_wrong() {
        for said in ["connect ECONNREFUSED 127.0.0.1:9", "Max retries exceeded with url: /x"] {
            assert!(is_unreachable(said), "{said}");
        }
        assert!(!is_unreachable("url must be an address") && !is_unreachable("not found"));
    }

    #[test]
    fn errors_in_disguise_are_no_success() {
        assert!(says("Saved.") && says("") && says("{\"error\": null}"));
        assert!(!says("File /a/b not found.") && says("Found 3 files.\nb not found"));
        assert!(!says("{\"status\": \"error\"}"));
        assert!(!says("Error: no") && !says("❌ Failed to open") && !says("{\"success\": false}"));
        assert!(!accepted(&Outcome::ToolError(json!({}))));
        assert!(!accepted(&Outcome::TimedOut { after: std::time::Duration::ZERO }));
    }
}
