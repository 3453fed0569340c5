//! What a response shows as long as a weakness exists, and no longer shows once it is fixed.

use quintain_evidence::indicator::Indicator;

use super::Attack;
use super::brief::CanaryFiles;
use super::target_view::TargetView;
use super::trial::Hit;
use crate::knowledge::Knowledge;

/// Part of the name of every planted file.
pub const PLANTED: &str = "quintain-";

/// The indicator after the run, when planted files are deleted; none if it needs them.
pub fn lasting(
    indicator: Indicator,
    canaries: Option<&CanaryFiles>,
    sent: &str,
) -> Option<Indicator> {
    let Some(canaries) = canaries else { return Some(indicator) };
    match &indicator {
        Indicator::Says { text } if *text == canaries.canary_text => {
            Some(Indicator::Reads { path: named(canaries, sent)?, text: text.clone() })
        }
        // What the server stored is removed with the run.
        Indicator::Says { text } if *text == canaries.bait_text => None,
        // A computed value does not depend on files.
        Indicator::Says { .. }
        | Indicator::Reads { .. }
        | Indicator::Environment { .. }
        | Indicator::Listed => Some(indicator),
        Indicator::Leaks { .. }
        | Indicator::Tells { .. }
        | Indicator::Succeeds
        | Indicator::Differs => (!sent.contains(PLANTED)).then_some(indicator),
    }
}

/// What an attack sees in the listed surface, marked as such if that alone shows it.
pub fn listed(attack: &dyn Attack, view: &TargetView<'_>) -> Vec<Hit> {
    let mut hits = attack.inspect(view);
    if hits.is_empty() {
        return hits;
    }
    let nothing = Knowledge::default();
    let alone = attack.inspect(&TargetView { knowledge: &nothing, ..*view });
    for hit in &mut hits {
        if alone.iter().any(|other| other.place == hit.place && other.fault == hit.fault) {
            hit.sign = Some(Indicator::Listed);
        }
    }
    hits
}

/// The canary file that a request names.
fn named(canaries: &CanaryFiles, sent: &str) -> Option<String> {
    let root = canaries.root.display().to_string();
    let (_, behind) = sent.split_once(root.trim_start_matches('/'))?;
    let plain = |c: &char| c.is_ascii_alphanumeric() || "._-".contains(*c);
    let name: String = behind.strip_prefix('/')?.chars().take_while(plain).collect();
    let whole = !behind[1 + name.len()..].starts_with('/');
    (whole && !name.is_empty()).then(|| format!("{root}/{name}"))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use quintain_evidence::evidence::Outcome;
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::{answers, comes};

    fn canaries() -> CanaryFiles {
        CanaryFiles {
            root: "/tmp/quintain-x".into(),
            canary: "/tmp/quintain-x/canary.txt".into(),
            canary_text: "quintain-canary-abc".into(),
            ..CanaryFiles::default()
        }
    }

    #[test]
    fn a_planted_text_is_bound_to_its_file() {
        let sign = Indicator::says("quintain-canary-abc");
        let lasting = |sent: &str| lasting(sign.clone(), Some(&canaries()), sent);
        let path = "/tmp/quintain-x/canary.md".to_owned();
        let text = "quintain-canary-abc".to_owned();
        let reads = Some(Indicator::Reads { path, text });
        assert_eq!(lasting("../../tmp/quintain-x/canary.md"), reads);
        assert_eq!(lasting("..%2f..%2ftmp"), None, "the path is encoded");
        assert_eq!(lasting("/tmp/quintain-x/drop/a"), None, "another folder");
        assert_eq!(lasting("/tmp/quintain-x"), None, "a folder");
    }

    #[test]
    fn calls_that_need_what_was_planted_do_not_last() {
        let sent = "/data/quintain-abc.txt";
        assert_eq!(lasting(Indicator::Succeeds, Some(&canaries()), sent), None);
        assert_eq!(lasting(Indicator::Succeeds, None, sent), Some(Indicator::Succeeds));
        assert_eq!(
            lasting(Indicator::says("42"), Some(&canaries()), sent),
            Some(Indicator::says("42"))
        );
    }

    #[test]
    fn evidence_shows_a_sign_or_not() {
        assert!(Indicator::says("42").is_in(&answers("is 42")));
        assert!(!Indicator::says("42").is_in(&answers("is 43")));
        assert!(!Indicator::says("42").is_in(&Evidence::default()));
        assert!(Indicator::Succeeds.is_in(&answers("done")));
        assert!(!Indicator::Succeeds.is_in(&answers("Error: no")));
        assert!(!Indicator::Succeeds.is_in(&comes(Outcome::ToolError(json!({})))));
        let kinds = vec!["path".to_owned()];
        assert!(Indicator::Tells { kinds }.is_in(&answers("no /srv/app/x.db")));
        let kinds = vec!["email".to_owned()];
        assert!(Indicator::Leaks { kinds }.is_in(&answers("write to ann.lee@acme-corp.io")));
        let mut both = answers("one");
        both.exchanges.extend(answers("two").exchanges);
        assert!(Indicator::Differs.is_in(&both) && !Indicator::Differs.is_in(&answers("one")));
    }
}
