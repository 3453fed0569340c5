//! What a conformance run must show: the failures we know, and the checks a silent client would not earn.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Result;

/// Scenarios in which the right client stops before it gets a token.
const ENDS_WITHOUT_TOKEN: &[&str] = &[
    "auth/scope-retry-limit",
    "auth/resource-mismatch",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "auth/dpop",
    "auth/dpop-nonce",
];

/// Known failures with their reasons, by suite and scenario.
#[derive(Debug, Default)]
pub(crate) struct KnownFailures(BTreeMap<(String, String), String>);

impl KnownFailures {
    /// Reads lines of the form `suite scenario : reason`; `#` starts a comment line.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut known = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let bad = |what: &str| format!("expected-failures line {}: {what}", number + 1);
            let (names, reason) =
                line.split_once(" : ").ok_or_else(|| bad("want `suite scenario : reason`"))?;
            let words: Vec<&str> = names.split_whitespace().collect();
            let [suite, scenario] = words[..] else {
                return Err(bad("want one suite and one scenario before the colon"));
            };
            let key = (suite.to_owned(), scenario.to_owned());
            if known.insert(key, reason.trim().to_owned()).is_some() {
                return Err(bad("listed twice"));
            }
        }
        Ok(Self(known))
    }

    pub(crate) fn reason(&self, suite: &str, scenario: &str) -> Option<&str> {
        self.0.get(&(suite.to_owned(), scenario.to_owned())).map(String::as_str)
    }

    /// Entries that name no scenario the suites have.
    pub(crate) fn unknown(&self, exists: impl Fn(&str, &str) -> bool) -> Vec<&str> {
        let strays = self.0.keys().filter(|(suite, scenario)| !exists(suite, scenario));
        strays.map(|(_, scenario)| scenario.as_str()).collect()
    }
}

/// Judges one scenario; the list is what went wrong, and empty when it passed.
pub(crate) fn judge(scenario: &str, exit: Option<i32>, checks: Option<&[Value]>) -> Vec<String> {
    let Some(exit) = exit else { return vec!["no end within the limit".into()] };
    let Some(checks) = checks else { return vec![format!("no results, exit code {exit}")] };
    let mut faults: Vec<String> = checks
        .iter()
        .filter(|check| matches!(check["status"].as_str(), Some("FAILURE" | "WARNING")))
        .map(complaint)
        .collect();
    let earned = |word: &str| {
        checks.iter().any(|check| {
            check["status"] == "SUCCESS" && (check["id"] == word || check["name"] == word)
        })
    };
    for word in demanded(scenario) {
        // A failed check is already on the list.
        if !earned(&word) && !faults.iter().any(|fault| fault.starts_with(&word)) {
            faults.push(format!("{word}: never earned"));
        }
    }
    if faults.is_empty() && !checks.iter().any(|check| check["status"] == "SUCCESS") {
        faults.push("no check succeeded".into());
    }
    if faults.is_empty() && exit != 0 {
        faults.push(format!("the suite ended with {exit}"));
    }
    faults
}

fn complaint(check: &Value) -> String {
    let id = check["id"].as_str().unwrap_or("?");
    let text = check["errorMessage"].as_str().or(check["description"].as_str()).unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(160).collect();
    format!("{id}: {short}")
}

/// Checks that must succeed, by id or name, because doing nothing would pass otherwise.
fn demanded(scenario: &str) -> Vec<String> {
    let fixed: &[&str] = match scenario {
        "initialize" => &["mcp-client-initialization"],
        "auth/resource-mismatch" => &["prm-pathbased-requested"],
        "sep-2640-client-no-prefetch" => &["sep-2640-host-no-prefetch"],
        "sep-2640-client-verify-digest" => &["sep-2640-host-verify-digest"],
        "sep-2640-client-verify-size" => &["sep-2640-host-size-mismatch-failure"],
        "sep-2640-client-verify-frontmatter" => &["sep-2640-host-frontmatter-comparison"],
        "http-standard-headers" => {
            let plain = ["tools_list", "resources_list", "prompts_list"];
            let by_name = ["tools_call", "resources_read", "prompts_get"];
            let every = plain.iter().chain(&by_name);
            let method_headers = every.map(|method| format!("ClientMcpMethodHeader_{method}"));
            let name_headers = by_name.iter().map(|method| format!("ClientMcpNameHeader_{method}"));
            return method_headers.chain(name_headers).collect();
        }
        _ if scenario.starts_with("auth/") && !ENDS_WITHOUT_TOKEN.contains(&scenario) => {
            &["valid-bearer-token"]
        }
        _ => &[],
    };
    fixed.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn known_failures_are_read_with_their_reasons() {
        let text = "# why\n\nold auth/x : not supported : yet\nnext@2026-07-28 y : later\n";
        let known = KnownFailures::parse(text).expect("a good file");
        assert_eq!(known.reason("old", "auth/x"), Some("not supported : yet"));
        assert_eq!(known.reason("old", "y"), None);
        assert_eq!(known.unknown(|suite, _| suite == "old"), ["y"]);
    }

    #[test]
    fn malformed_and_repeated_entries_are_refused() {
        for text in ["old x", "old : reason", "old x : a\nold x : b"] {
            assert!(KnownFailures::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_silent_client_does_not_pass() {
        let info = [json!({"id": "incoming", "status": "INFO"})];
        assert_eq!(judge("tools_call", Some(0), Some(&info)), ["no check succeeded"]);
        let skipped =
            [json!({"id": "x", "name": "ClientMcpMethodHeader_tools_list", "status": "SKIPPED"})];
        assert_eq!(judge("http-standard-headers", Some(0), Some(&skipped)).len(), 9);
    }

    #[test]
    fn warnings_time_outs_and_exit_codes_fail() {
        let good = json!({"id": "a", "status": "SUCCESS"});
        let warned = json!({"id": "b", "status": "WARNING", "description": "SHOULD"});
        assert_eq!(judge("tools_call", Some(1), Some(&[good.clone(), warned])), ["b: SHOULD"]);
        assert_eq!(judge("tools_call", None, None).len(), 1);
        assert_eq!(judge("tools_call", Some(1), Some(std::slice::from_ref(&good))).len(), 1);
        assert!(judge("tools_call", Some(0), Some(&[good])).is_empty());
    }
}
