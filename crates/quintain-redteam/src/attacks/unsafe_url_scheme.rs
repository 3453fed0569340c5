//! URLs with a scheme other than `http` and `https`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quintain_content::registry::Meta;
use quintain_evidence::accepted::accepted;
use quintain_evidence::evidence::Observation;
use quintain_evidence::finding::Severity;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::weakness::Weakness;
use serde_json::Value;

use super::{reach, tool_actions};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, Kind, TargetView, Trial, Tried};

pub(super) struct UnsafeUrlScheme;

static META: Meta = Meta {
    id: "unsafe-url-scheme",
    aliases: &["url-scheme"],
    summary: "An argument accepts URL schemes other than http and https",
    docs: "\
# What it does
Passes URLs with the schemes `file`, `data`, `javascript`, `vbscript`, `intent`, `gopher` and `dict` to arguments that expect a web URL,
and for some of them a URL with a scheme that does not exist.

# Why it matters
`file:` reads files of the server, `gopher:` and `dict:` talk to other services, `javascript:` runs in the browser of a user who follows
the link, and `intent:` starts applications.

# What counts as proof
- `file:`: the response contains the random text of a planted file.
- `data:`: the response contains text that is only in encoded form in the URL.
- `gopher:` and `dict:`: the listener receives a connection with the mark of the attempt.
- Other schemes: the URL becomes an argument of a program, or the target of a link that the server writes.

If the server accepts such a URL and refuses one with a scheme that does not exist, the finding is suspected.

# Example
```yaml
redteam:
  plugins: [unsafe-url-scheme]
```

# References
- CWE-939, CWE-918, CWE-79
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[939, 918],
    frameworks: &["MCP05", "ASI02", "LLM05"],
};

/// The role of attempts with a scheme that does not exist.
const BOGUS: &str = "bogus";

impl Attack for UnsafeUrlScheme {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts(&[Kind::Url], true);
        // Skip arguments that take file URLs on purpose.
        aims.retain(|aim| {
            let wants_files = aim.schema.to_string().contains("file:")
                || reach::innocent(aim).is_some_and(|text| text.starts_with("file:"))
                || tool_actions::tool_of(view, aim)
                    .and_then(|tool| tool.description())
                    .is_some_and(|text| text.contains("file:"));
            !wants_files
        });
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let mut attempts = Vec::new();
        let mut set = 0;
        let mut add = |form: &str, role: &str, payload: String, nonce, is_pair: bool| {
            let made = reach::attempt(aim, (set, form), nonce, payload);
            attempts.extend(made.map(|attempt| Attempt { role: role.to_owned(), ..attempt }));
            set += usize::from(!is_pair);
        };
        if let Some(canaries) = brief.canaries {
            let path = canaries.canary.display();
            let text = &canaries.canary_text;
            add("file:", text, format!("file://{path}"), brief.nonce(), false);
            add("file: in capital letters", text, format!("FILE://{path}"), brief.nonce(), false);
            add("file: with a host", text, format!("file://localhost{path}"), brief.nonce(), false);
        }
        for scheme in ["javascript", "intent", "vbscript"] {
            let nonce = brief.nonce();
            let rest = match scheme {
                "javascript" => format!("void('{nonce}')"),
                "intent" => format!("//{nonce}#Intent;scheme=http;end"),
                _ => format!("rem {nonce}"),
            };
            let form = format!("{scheme}:");
            let bogus = format!("q{}:{rest}", brief.nonce());
            add(&form, BOGUS, bogus, brief.nonce(), true);
            add(&form, "", format!("{scheme}:{rest}"), nonce, false);
        }
        let nonce = brief.nonce();
        let hidden = format!("quintain {nonce}");
        let data = format!("data:text/plain;base64,{}", STANDARD.encode(&hidden));
        add("data:", &hidden, data, nonce, false);
        if let Some(listener) = brief.listener {
            let (host, port) = (&listener.host, listener.port);
            for scheme in ["gopher", "dict"] {
                let nonce = brief.nonce();
                let before = if scheme == "gopher" { "_" } else { "d:" };
                let payload = format!("{scheme}://{host}:{port}/{before}{nonce}");
                add(&format!("{scheme}:"), "", payload, nonce, false);
            }
        }
        attempts
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        let [only] = set else { return None };
        only.foretells().filter(|_| only.form.starts_with("file:")).map(|sign| (0, sign))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial.sets().filter_map(|(_, set)| judge(trial, &set)).collect()
    }
}

fn judge(trial: &Trial<'_>, set: &[&Tried]) -> Option<Hit> {
    let tried = set.iter().find(|tried| tried.attempt.role != BOGUS)?;
    let form = &tried.attempt.form;
    let place = &trial.aim.place;
    let title = format!("Unsafe URL scheme in `{place}` ({form})");
    let confirmed = |what: String, severity, fault| {
        Some(Hit::confirmed(title.clone(), what).by(tried).severity(severity).fault(fault))
    };
    let sent = tried.attempt.payload.as_ref().and_then(Value::as_str).unwrap_or_default();
    let said = tried.said();
    let mark = &tried.attempt.role;
    if !mark.is_empty() && said.contains(mark.as_str()) && !sent.contains(mark.as_str()) {
        let is_file = form.starts_with("file:");
        let (severity, fault) =
            if is_file { (Severity::High, "file") } else { (Severity::Low, "data") };
        let hit = confirmed(format!("the response contains {mark}"), severity, fault);
        return hit.map(|hit| hit.said(tried, mark));
    }
    let nonce = tried.attempt.nonce.as_str();
    for observation in &tried.evidence.observations {
        match observation {
            Observation::Connection { request, .. }
                if request.contains(nonce) && !request.contains("HTTP/") =>
            {
                let what = format!("the listener received the raw request: {request}");
                return confirmed(what, Severity::High, "raw");
            }
            Observation::Program { program, arguments }
                if opens(program, form)
                    && arguments.iter().any(|argument| begins_address(argument, sent)) =>
            {
                let what = format!("`{program}` was started with {sent}");
                return confirmed(what, Severity::Medium, "program");
            }
            _ => {}
        }
    }
    let runs = ["javascript:", "vbscript:", "data:"].contains(&form.as_str());
    if runs && is_linked(&said, sent) {
        return confirmed(
            format!("the response contains a link to {sent}"),
            Severity::Medium,
            "link",
        );
    }
    let bogus = set.iter().find(|tried| tried.attempt.role == BOGUS)?.last()?;
    let taken = accepted(&tried.last()?.outcome);
    let refused = bogus.outcome.is_answer() && !accepted(&bogus.outcome);
    (taken && refused).then(|| {
        let what = format!(
            "the server accepts {sent} and refuses a URL with a scheme that does not exist"
        );
        Hit::suspected(title, what).by(tried).severity(Severity::Low).fault("accepted")
    })
}

/// Whether a program handles such a URL. Programs that fetch do not run scripts, and programs that search treat it
/// as words.
fn opens(program: &str, form: &str) -> bool {
    const FETCH: [&str; 5] = ["curl", "ffmpeg", "git", "wget", "yt-dlp"];
    const SEARCH: [&str; 6] = ["awk", "find", "grep", "rg", "sed", "sort"];
    let fetched = ["file:", "gopher:", "dict:"].iter().any(|scheme| form.starts_with(scheme));
    !SEARCH.contains(&program) && (fetched || !FETCH.contains(&program))
}

/// Whether an argument contains the address with its scheme. Inside another URL it has no effect.
fn begins_address(argument: &str, address: &str) -> bool {
    let starts = |before: Option<char>| {
        before.is_none_or(|c| c.is_whitespace() || matches!(c, '\'' | '"' | '=' | '<' | '('))
    };
    argument.match_indices(address).any(|(at, _)| {
        let before = &argument[..at];
        starts(before.chars().next_back()) && !before.contains("://")
    })
}

/// Whether the server wrote a link to the address.
fn is_linked(said: &str, address: &str) -> bool {
    // Servers escape quotation marks in HTML; the text before them is enough.
    let head = address.split(['\'', '"', '&', '<', '>']).next().unwrap_or_default();
    if head.len() < 8 {
        return false;
    }
    said.match_indices(head).any(|(at, _)| {
        let before = said[..at].trim_end();
        ["href=\"", "href='", "src=\"", "src='", "action=\"", "](", "](<"]
            .iter()
            .any(|sink| before.ends_with(sink))
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Evidence, Outcome};
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, comes};

    fn room() -> TestTarget {
        TestTarget::with_argument("import_feed", "url", "https://example.org/feed")
    }

    fn payload(attempt: &Attempt) -> String {
        attempt.payload.as_ref().unwrap().as_str().unwrap().to_owned()
    }

    fn refused(text: &str) -> Evidence {
        let text = format!("Not a web address: {text}");
        comes(Outcome::ToolError(json!({"content": [{"type": "text", "text": text}]})))
    }

    #[test]
    fn planted_and_encoded_texts_are_proof() {
        let hits = room().run_attack(&UnsafeUrlScheme, |attempt| match payload(attempt) {
            url if url.starts_with("file:///") => answers(&attempt.role),
            url if url.starts_with("data:") => answers(&attempt.role),
            url => refused(&url),
        });
        assert_eq!(hits.iter().map(|hit| hit.fault).collect::<Vec<_>>(), ["file", "data"]);
    }

    #[test]
    fn a_link_that_the_server_wrote_is_proof_and_an_echo_is_none() {
        let link = |attempt: &Attempt| {
            let url = payload(attempt).replace('\'', "&#39;");
            answers(&format!("<a href=\"{url}\">x</a>"))
        };
        let hits = room().run_attack(&UnsafeUrlScheme, link);
        assert!(hits.iter().any(|hit| hit.fault == "link" && hit.title.contains("javascript")));
        let echo = |attempt: &Attempt| answers(&format!("{}: parsed", payload(attempt)));
        assert!(room().run_attack(&UnsafeUrlScheme, echo).is_empty());
        let quoting = |attempt: &Attempt| refused(&payload(attempt));
        assert!(room().run_attack(&UnsafeUrlScheme, quoting).is_empty());
    }

    #[test]
    fn a_program_that_gets_the_address_is_proof() {
        let hits = room().run_attack(&UnsafeUrlScheme, |attempt| {
            let url = payload(attempt);
            let mut evidence = answers("opened");
            let arguments = vec!["start".to_owned(), url.clone()];
            if url.starts_with("intent:") {
                let program = "adb".to_owned();
                evidence.observations.push(Observation::Program { program, arguments });
            }
            evidence
        });
        assert_eq!(hits.iter().map(|hit| hit.fault).collect::<Vec<_>>(), ["program"]);
    }

    #[test]
    fn an_address_within_a_path_or_for_a_search_is_none() {
        let started = |program: &str, argument: &dyn Fn(&str) -> String| {
            room().run_attack(&UnsafeUrlScheme, |attempt| {
                let mut evidence = answers("done");
                let (program, arguments) = (program.to_owned(), vec![argument(&payload(attempt))]);
                evidence.observations.push(Observation::Program { program, arguments });
                evidence
            })
        };
        assert!(started("adb", &|url| format!("https://api.example/files/{url}")).is_empty());
        assert!(started("adb", &|url| format!("https://api.example/?ids={url}")).is_empty());
        assert!(started("grep", &str::to_owned).is_empty());
        assert!(started("curl", &str::to_owned).iter().all(|hit| !hit.title.contains("script:")));
        assert!(!started("adb", &|url| format!("am start -d \"{url}\"")).is_empty());
    }

    #[test]
    fn acceptance_is_suspected_only_against_a_refusal() {
        let picky = room().run_attack(&UnsafeUrlScheme, |attempt| match payload(attempt) {
            url if url.starts_with("javascript:") => answers("stored"),
            url => refused(&url),
        });
        assert_eq!(picky.iter().map(|hit| hit.fault).collect::<Vec<_>>(), ["accepted"]);
        assert_eq!(picky[0].confidence, quintain_evidence::finding::Confidence::Suspected);
        assert!(room().run_attack(&UnsafeUrlScheme, |_| answers("stored")).is_empty());
    }

    #[test]
    fn who_wants_file_addresses_is_not_asked() {
        let room = TestTarget::with_argument("read", "uri", "file:///srv/a.txt");
        assert!(UnsafeUrlScheme.aims(&room.view()).is_empty());
    }
}
