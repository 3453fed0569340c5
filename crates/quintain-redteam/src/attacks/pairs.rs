//! Attempts that differ only in whether a condition is true, and the comparison of their responses.

use quintain_evidence::accepted::accepted;
use quintain_evidence::echo;
use serde_json::Value;

use super::reach;
use crate::attack::{Aim, Attempt, Brief, Tried};

/// Roles of the attempts in a set.
const TRUE: &str = "true";
const FALSE: &str = "false";
const AGAIN: &str = "true again";

/// Two words or two numbers in order. A condition about them is true, and false with the two swapped. Both have the
/// same letters, words and length, so a tool that only counts, searches or measures the text returns the same.
pub(super) struct Ordered {
    pub(super) low: String,
    pub(super) high: String,
}

impl Ordered {
    /// In order in every collation, and neither is a prefix of the other.
    pub(super) fn words(brief: &Brief<'_>) -> Self {
        let nonce = brief.nonce();
        let tail = &nonce.as_str()[..6];
        Self { low: format!("ab{tail}"), high: format!("ba{tail}") }
    }

    pub(super) fn numbers(brief: &Brief<'_>) -> Self {
        let number = brief.number();
        Self { low: format!("1{number}"), high: format!("2{number}") }
    }

    fn exchanged(self) -> Self {
        Self { low: self.high, high: self.low }
    }
}

/// Three attempts: a true condition, a false one, and another true one.
pub(super) fn set<P: Into<Value>>(
    aim: &Aim,
    brief: &Brief<'_>,
    (set, form): (usize, &str),
    draw: impl Fn(&Brief<'_>) -> Ordered,
    payload: impl Fn(&Ordered) -> P,
) -> Vec<Attempt> {
    let mut made = Vec::new();
    for role in [TRUE, FALSE, AGAIN] {
        let drawn = draw(brief);
        let pair = if role == FALSE { drawn.exchanged() } else { drawn };
        let attempt = reach::attempt(aim, (set, form), brief.nonce(), payload(&pair));
        made.extend(attempt.map(|attempt| Attempt { role: role.to_owned(), ..attempt }));
    }
    made
}

/// The true conditions get the same response and the false one gets another. Two different refusals prove nothing,
/// since a value can be invalid in many ways.
pub(super) fn differ(set: &[&Tried]) -> Option<String> {
    let of = |role: &str| set.iter().copied().find(|tried| tried.attempt.role == role);
    if !accepted(&of(TRUE)?.last()?.outcome) {
        return None;
    }
    let (yes, no, again) = (answer(of(TRUE)?)?, answer(of(FALSE)?)?, answer(of(AGAIN)?)?);
    (yes == again && yes != no).then(|| {
        let length = |text: &str| text.trim().chars().count();
        format!(
            "true conditions get the same response ({} characters), a false one gets another ({} characters)",
            length(&yes),
            length(&no)
        )
    })
}

/// The response to an attempt, with the payload removed in every encoding.
fn answer(tried: &Tried) -> Option<String> {
    let outcome = &tried.last()?.outcome;
    if !outcome.is_answer() {
        return None;
    }
    let plain = match tried.attempt.payload.as_ref()? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Some(echo::without(&outcome.said(), &plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::testing::{TestTarget, answers};

    fn judge(answer: impl Fn(&Attempt) -> String) -> bool {
        let room = TestTarget::with_argument("find", "name", "ann");
        let attempts =
            set(&room.knowledge.aims[0], &room.brief(), (0, "x"), Ordered::words, |pair| {
                format!("zq' OR '{}'<'{}", pair.low, pair.high)
            });
        let tried: Vec<Tried> = attempts
            .into_iter()
            .map(|attempt| Tried { evidence: answers(&answer(&attempt)), attempt })
            .collect();
        differ(&tried.iter().collect::<Vec<_>>()).is_some()
    }

    fn text(attempt: &Attempt) -> String {
        attempt.payload.as_ref().unwrap().as_str().unwrap().to_owned()
    }

    #[test]
    fn only_truth_makes_the_difference() {
        let is_true = |attempt: &Attempt| attempt.role != FALSE;
        assert!(judge(|attempt| if is_true(attempt) { "ann, bob" } else { "none" }.into()));
        assert!(judge(|attempt| format!("{}: {}", text(attempt), is_true(attempt))));
    }

    #[test]
    fn refusals_in_other_words_tell_nothing() {
        let words =
            |attempt: &Attempt| if attempt.role == FALSE { "no such zone" } else { "no key" };
        assert!(!judge(|attempt| format!("Error: {}", words(attempt))));
    }

    #[test]
    fn repetition_statistics_and_whims_make_none() {
        assert!(!judge(|attempt| format!("nobody is called {}", text(attempt))));
        assert!(!judge(|attempt| format!("NOBODY IS CALLED {}", text(attempt).to_uppercase())));
        let html = |text: &str| text.replace('\'', "&#39;").replace('<', "&lt;");
        assert!(!judge(|attempt| html(&text(attempt))));
        assert!(!judge(|attempt| format!("{} letters", text(attempt).len())));
        assert!(!judge(|attempt| {
            let text = text(attempt);
            let mut words: Vec<&str> = text.split('\'').collect();
            words.sort_unstable();
            words.dedup();
            format!("{} words", words.len())
        }));
        assert!(!judge(|attempt| attempt.nonce.to_string()), "never the same");
        assert!(!judge(|_| "always the same".into()));
    }
}
