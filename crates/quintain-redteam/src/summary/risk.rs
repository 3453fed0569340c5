//! Numbers to compare runs by: attack success rate with its uncertainty, and a risk score.

use quintain_evidence::finding::{Confidence, Finding, Severity};
use quintain_evidence::redteam_report::{AttackReport, Risk, RiskLevel};

use crate::attacks;

fn level(score: f64) -> RiskLevel {
    match score {
        score if score >= 9.0 => RiskLevel::Critical,
        score if score >= 7.0 => RiskLevel::High,
        score if score >= 4.0 => RiskLevel::Medium,
        _ => RiskLevel::Low,
    }
}

/// The 95 % Wilson interval of a proportion: valid for few samples, and always within 0 to 1.
pub fn interval(hits: usize, of: usize) -> (f64, f64) {
    if of == 0 {
        return (0.0, 1.0);
    }
    let (n, share, z) = (of as f64, hits as f64 / of as f64, 1.96_f64);
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + z * z / n;
    (((middle - spread) / whole).max(0.0), ((middle + spread) / whole).min(1.0))
}

/// The risk of all confirmed findings: the impact of the worst, how often its attack worked, and a small addition for
/// every other one.
pub fn risk(findings: &[Finding], attacks: &[AttackReport]) -> Risk {
    let mut scores: Vec<(String, f64)> = Vec::new();
    for report in attacks {
        let worst = findings
            .iter()
            .filter(|one| is_of(one, &report.attack) && one.confidence == Confidence::Confirmed)
            .map(|finding| finding.severity)
            .max();
        if let Some(worst) = worst.filter(|worst| *worst > Severity::Info) {
            scores.push((report.attack.clone(), score(worst, report.rate)));
        }
    }
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let count = |low: f64, high: f64| {
        scores.iter().filter(|(_, score)| (low..high).contains(score)).count() as f64
    };
    let more = |count: f64, each: f64| (count - 1.0).max(0.0) * each;
    let worst = scores.first().map_or(0.0, |(_, score)| *score);
    let total = worst + more(count(9.0, 11.0), 0.5) + more(count(7.0, 9.0), 0.25);
    let score = total.min(10.0);
    Risk { score, level: level(score), attacks: scores }
}

/// Whether an attack showed a finding: its own rule, or one that several attacks prove.
fn is_of(finding: &Finding, attack: &str) -> bool {
    let by_trial = finding.trial.as_ref().is_some_and(|trial| trial.attack == attack);
    let same_rule = || attacks::find(attack).is_some_and(|attack| attack.rule() == finding.rule);
    finding.rule == attack || by_trial && same_rule()
}

/// These attacks are automated and need no skill, so ease of exploitation is always at its maximum.
fn score(severity: Severity, rate: f64) -> f64 {
    let impact = match severity {
        Severity::Critical => 4.0,
        Severity::High => 3.0,
        Severity::Medium => 2.0,
        Severity::Low => 1.0,
        Severity::Info => 0.0,
    };
    let exploit = (1.5 + 2.5 * rate).min(4.0);
    let human = 1.5 * (0.8 + 0.2 * rate);
    (impact + exploit + human + 0.5).min(10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wide_for_few_samples() {
        let (low, high) = interval(1, 2);
        assert!(low < 0.12 && high > 0.88, "{low} {high}");
        let (low, high) = interval(0, 100);
        assert!(low == 0.0 && high < 0.05, "{low} {high}");
        assert_eq!(interval(0, 0), (0.0, 1.0));
    }

    #[test]
    fn nothing_found_is_no_risk() {
        let risk = risk(&[], &[]);
        assert_eq!((risk.score, risk.level), (0.0, RiskLevel::Low));
    }
}
