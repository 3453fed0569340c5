//! Teaches a redactor what the domain calls a secret.

use quintain_content::secret::{Secret, of_url};
use quintain_evidence::connection::Launch;
use quintain_evidence::connection::of_launch;
use quintain_scan::launch_checks;
use quintain_wire::redact::Redactor;
use secrecy::ExposeSecret as _;
use url::Url;

/// From now on, none of these is shown.
pub fn learn(secrets: &[Secret], redactor: &Redactor) {
    for secret in secrets {
        match &secret.shown {
            Some(shown) => redactor.learn_as(&secret.value, shown),
            None => redactor.learn(&secret.value),
        }
    }
}

/// The secret parts of a URL, as it is written and as it is sent.
pub fn learn_url(url: &str, redactor: &Redactor) {
    learn(&of_url(url), redactor);
    if let Ok(sent) = Url::parse(url) {
        learn(&of_url(sent.as_str()), redactor);
    }
}

/// Everything secret about how a server is started or reached, credentials among its arguments included.
pub fn learn_launch(launch: &Launch, redactor: &Redactor) {
    learn(&of_launch(launch), redactor);
    if let Launch::Url { url, .. } = launch {
        learn_url(url, redactor);
    }
    learn_literals(launch, redactor);
}

/// The credentials that are written out among arguments, variables and headers of a server.
pub fn learn_literals(launch: &Launch, redactor: &Redactor) {
    for literal in launch_checks::literals(launch) {
        // A plain word would be masked wherever it stands, in the words of the report, too.
        let letters = |c: char| c.is_ascii_lowercase() || "- ".contains(c);
        if !literal.value.expose_secret().chars().all(letters) {
            redactor.learn(&literal.value);
        }
    }
}
