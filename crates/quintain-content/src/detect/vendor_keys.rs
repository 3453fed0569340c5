//! Keys and tokens with a prefix that identifies their vendor.

use std::sync::OnceLock;

use super::entropy::looks_random;
use super::pattern::{Candidate, Pattern};
use super::placeholder::is_placeholder;
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static AWS_KEY: Pattern = Pattern {
    meta: &Meta {
        id: "aws-key",
        aliases: &[],
        summary: "AWS access keys",
        docs: r"# What it does
Access key IDs: `AKIA` or `ASIA` followed by 16 characters.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["AKIA", "ASIA"]),
    regex: r"(?-u)\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    judge: sure,
    compiled: OnceLock::new(),
};

pub(super) static GITHUB_TOKEN: Pattern = Pattern {
    meta: &Meta {
        id: "github-token",
        aliases: &[],
        summary: "GitHub tokens",
        docs: r"# What it does
`ghp_`, `gho_`, `ghu_`, `ghs_`, `ghr_` or `github_pat_` followed by random characters.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"]),
    regex: r"(?-u)\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{30,})\b",
    judge: random,
    compiled: OnceLock::new(),
};

pub(super) static GITLAB_TOKEN: Pattern = Pattern {
    meta: &Meta {
        id: "gitlab-token",
        aliases: &[],
        summary: "GitLab tokens",
        docs: r"# What it does
`glpat-` and related prefixes followed by at least 20 random characters.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-"]),
    regex: r"(?-u)\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}",
    judge: random,
    compiled: OnceLock::new(),
};

pub(super) static SLACK_TOKEN: Pattern = Pattern {
    meta: &Meta {
        id: "slack-token",
        aliases: &[],
        summary: "Slack tokens and webhooks",
        docs: r"# What it does
`xoxb-` and related prefixes followed by random characters, and URLs of incoming webhooks.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["xox", "hooks.slack.com"]),
    regex: r"(?-u)\bxox[abeoprs]-[A-Za-z0-9-]{20,}|\bhooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}",
    judge: random,
    compiled: OnceLock::new(),
};

pub(super) static STRIPE_KEY: Pattern = Pattern {
    meta: &Meta {
        id: "stripe-key",
        aliases: &[],
        summary: "Stripe keys",
        docs: r"# What it does
Secret and restricted keys: `sk_live_` and related prefixes. Test keys have medium confidence.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"]),
    regex: r"(?-u)\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9+/=]{28,})",
    judge: stripe,
    compiled: OnceLock::new(),
};

pub(super) static GOOGLE_KEY: Pattern = Pattern {
    meta: &Meta {
        id: "google-key",
        aliases: &[],
        summary: "Google API keys",
        docs: r"# What it does
`AIza` followed by 35 characters, and client secrets that start with `GOCSPX-`.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["AIza", "GOCSPX-"]),
    regex: r"(?-u)\b(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{28})",
    judge: random,
    compiled: OnceLock::new(),
};

pub(super) static MODEL_KEY: Pattern = Pattern {
    meta: &Meta {
        id: "model-key",
        aliases: &[],
        summary: "API keys of model services",
        docs: r"# What it does
`sk-`, `sk-proj-`, `sk-ant-` and similar prefixes followed by random characters, and `hf_` tokens.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["sk-", "hf_"]),
    regex: r"(?-u)\b(?:sk-[A-Za-z0-9_-]{24,}|hf_[A-Za-z0-9]{34,})",
    judge: random,
    compiled: OnceLock::new(),
};

pub(super) static NPM_TOKEN: Pattern = Pattern {
    meta: &Meta {
        id: "npm-token",
        aliases: &[],
        summary: "npm tokens",
        docs: r"# What it does
`npm_` followed by 36 characters.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["npm_"]),
    regex: r"(?-u)\bnpm_[A-Za-z0-9]{36}\b",
    judge: random,
    compiled: OnceLock::new(),
};

pub(super) static PYPI_TOKEN: Pattern = Pattern {
    meta: &Meta {
        id: "pypi-token",
        aliases: &[],
        summary: "PyPI tokens",
        docs: r"# What it does
`pypi-` followed by the fixed prefix of these tokens and random characters.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["pypi-"]),
    regex: r"(?-u)\bpypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{50,}",
    judge: random,
    compiled: OnceLock::new(),
};

/// The format alone proves a key.
fn sure(candidate: &Candidate<'_>) -> Option<Confidence> {
    let whole = candidate.is_isolated() || candidate.next() == Some('/');
    (whole && !is_placeholder(candidate.found())).then_some(Confidence::High)
}

/// Ignores placeholders and values that do not look random.
fn random(candidate: &Candidate<'_>) -> Option<Confidence> {
    let found = candidate.found();
    let glued = candidate.previous().is_some_and(|c| c.is_alphanumeric() || "_-".contains(c));
    (!glued && !is_placeholder(found) && looks_random(found, 3.3)).then_some(Confidence::High)
}

fn stripe(candidate: &Candidate<'_>) -> Option<Confidence> {
    let test = candidate.found().contains("_test_");
    random(candidate).map(|sure| if test { Confidence::Medium } else { sure })
}
