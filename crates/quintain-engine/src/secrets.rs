//! Teaches a redactor the secrets of suites and servers.

use quintain_content::secret::{Secret, of_url};
use quintain_evidence::connection::Launch;
use quintain_evidence::connection::of_launch;
use quintain_scan::launch_checks;
use quintain_wire::redact::Redactor;
use secrecy::ExposeSecret as _;
use url::Url;

/// Makes the redactor mask these secrets.
pub fn learn(secrets: &[Secret], redactor: &Redactor) {
    for secret in secrets {
        match &secret.shown {
            Some(shown) => redactor.learn_as(&secret.value, shown),
            None => redactor.learn(&secret.value),
        }
    }
}

/// Learns the secret parts of a URL, as written and as sent.
pub fn learn_url(url: &str, redactor: &Redactor) {
    learn(&of_url(url), redactor);
    if let Ok(sent) = Url::parse(url) {
        learn(&of_url(sent.as_str()), redactor);
    }
}

/// Learns every secret in how a server is started or reached, including credentials in its arguments.
pub fn learn_launch(launch: &Launch, redactor: &Redactor) {
    learn(&of_launch(launch), redactor);
    if let Launch::Url { url, .. } = launch {
        learn_url(url, redactor);
    }
    learn_literals(launch, redactor);
}

/// Learns literal credentials in the arguments, variables and headers of a server.
pub fn learn_literals(launch: &Launch, redactor: &Redactor) {
    for literal in launch_checks::literals(launch) {
        // A plain word would be masked everywhere, even in the text of a report.
        let letters = |c: char| c.is_ascii_lowercase() || "- ".contains(c);
        if !literal.value.expose_secret().chars().all(letters) {
            redactor.learn(&literal.value);
        }
    }
}
