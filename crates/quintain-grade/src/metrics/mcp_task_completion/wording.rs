//! What the words of an answer say about success. English only: in other languages nothing is recognised, and the calls
//! alone decide.

use std::sync::LazyLock;

use regex::Regex;

/// Longer answers are read from both ends.
const MAX_SIDE: usize = 30_000;

/// What an answer says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wording {
    /// The answer opens with what did not work.
    pub(super) admits_first: bool,
    /// The answer admits it anywhere.
    pub(super) admits: bool,
    pub(super) regrets: bool,
    pub(super) own_knowledge: bool,
    pub(super) refers: bool,
    pub(super) asks: bool,
    pub(super) is_cut_off: bool,
}

/// The speaker was not able to do something.
const INABILITY: &str = r"\b(?:i|we)(?:'m|'ve| am| was| were| have| had)?(?: [a-z]+){0,2} (?:unable|not able|not been able|cannot|can't|couldn't|could not|wasn't able|weren't able|haven't been able|failed to|did not manage|didn't manage)\b|\b(?:i|we)(?: currently| unfortunately| still)? (?:lack|(?:do not|don't|did not|didn't)(?: currently| seem to| actually)* have)(?: direct| the necessary| the required| any| a| the| specific| suitable| appropriate)* (?:access|tools?)\b";

/// Something around the speaker did not work.
const TROUBLE: &str = r"\btechnical (?:difficult[a-z]+|issues?|limitations?|problems?)\b|\b(?:i|we)(?:'m|'ve| am| are| was| have)?(?: [a-z]+){0,2} (?:having|had|encounter(?:ing|ed)|experienc(?:ing|ed)|ran into|running into|facing|faced)(?: [a-z'-]+){0,3} (?:difficult[a-z]+|issues?|problems?|timeouts?|limitations?|restrictions?|errors?|trouble)\b|\bdue to(?: [a-z'-]+){0,2} (?:limitations?|restrictions?|timeouts?|rate limit[a-z]*)\b|\bdifficulty (?:in |with )?[a-z]+ing\b|\btools?(?: [a-z]+){0,4} (?:not (?:functioning|working|responding|accessible)|failing|unavailable)\b|\b(?:temporarily|currently) (?:unavailable|not available|inaccessible|not (?:functioning|working|responding))\b|\btimed out\b|\bprevent(?:ed|ing|s) me\b|\bblock(?:ing|ed|s)(?: [a-z]+)? (?:requests?|access|me)\b|\b(?:seems?|appears?) to (?:have|be having|be experiencing)(?: [a-z]+)? (?:issues?|problems?)\b";

/// Somebody says that a means failed; that may also be what the user wants to know.
const REPORT: &str = r"\b(?:tools?|search(?:es)?|requests?|website|site|page|file|api|service|server|download|upload|attempts?)(?: [a-z]+){0,3} (?:failed|(?:did not|didn't) (?:work|return|respond|succeed)|(?:does not|doesn't) (?:seem to |appear to )?exist|returned (?:an? )?errors?)\b|\bit (?:was not|wasn't|is not|isn't) possible to\b|\bwithout success\b|\bno (?:suitable |available )?tools? (?:is |are |was |were )?(?:available|found)\b";

const REGRET: &str = r"\b(?:unfortunately|regrettably|i (?:sincerely )?apologi[sz]e|my apologies|i(?:'m| am) (?:very |so )?sorry)\b";

/// What the model offers when it has no results.
const OWN_KNOWLEDGE: &str = r"\b(?:general|common|my own|my training|typical) (?:guidance|estimates?|recommendations?|advice|information|knowledge|trends?)\b|\bbased on (?:general|common|typical) \b|\bmy (?:general |own |training )?knowledge\b|\b(?:however|but|instead),? i can (?:still )?(?:provide|offer|give|share)\b";

/// The user is sent elsewhere for what they asked for.
const REFERRAL: &str = r"\b(?:i(?:'d| would)? (?:strongly )?(?:recommend|suggest)|you (?:can|could|may|might|should|would need to|will need to)(?: want to)?) (?:visit|check|consult|try|search|us|contact|refer|brows)[a-z]*\b";

const APPEAL: &str = r"\b(?:please|could you(?: please)?|can you(?: please)?) (?:provide|share|verify|confirm|upload|specify)\b|\bi (?:would|will|'ll) need (?:you to|the|more|to know)\b|\bi would need:";

/// The patterns, compiled. Those that do not compile match nothing; a test makes sure that there are none.
struct Patterns {
    inability: Option<Regex>,
    trouble: Option<Regex>,
    report: Option<Regex>,
    regret: Option<Regex>,
    own_knowledge: Option<Regex>,
    referral: Option<Regex>,
    appeal: Option<Regex>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let pattern = |text: &str| Regex::new(text).ok();
    Patterns {
        inability: pattern(INABILITY),
        trouble: pattern(TROUBLE),
        report: pattern(REPORT),
        regret: pattern(REGRET),
        own_knowledge: pattern(OWN_KNOWLEDGE),
        referral: pattern(REFERRAL),
        appeal: pattern(APPEAL),
    }
});

impl Wording {
    pub(super) fn of(answer: &str) -> Self {
        let has = |pattern: &Option<Regex>, text: &str| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
        };
        let patterns = &*PATTERNS;
        let text = plain(answer);
        let opening = opening(&text);
        let first = first_sentence(opening);
        let admits = |text: &str| has(&patterns.inability, text) || has(&patterns.trouble, text);
        let regret = patterns.regret.as_ref().and_then(|pattern| pattern.find(first));
        let opens_with_regret =
            regret.is_some_and(|found| first[..found.start()].trim().is_empty());
        Self {
            // Trouble that comes after a result is a remark; inability is not.
            admits_first: admits(first) || opens_with_regret || has(&patterns.inability, opening),
            admits: admits(&text) || has(&patterns.report, &text),
            regrets: has(&patterns.regret, &text),
            own_knowledge: has(&patterns.own_knowledge, &text),
            refers: has(&patterns.referral, &text),
            asks: has(&patterns.appeal, &text),
            is_cut_off: is_cut_off(answer),
        }
    }
}

/// Lower case, straight quotes, without emphasis; both ends of a long text.
fn plain(answer: &str) -> String {
    let head = &answer[..answer.floor_char_boundary(MAX_SIDE)];
    let tail =
        &answer[answer.ceil_char_boundary(answer.len().saturating_sub(MAX_SIDE)).max(head.len())..];
    let text = [head, tail].concat();
    let kept = text.chars().filter(|c| !matches!(c, '*' | '`'));
    kept.map(|c| if c == '’' { '\'' } else { c }).flat_map(char::to_lowercase).collect()
}

/// The first paragraph that is not a heading or a rule.
fn opening(text: &str) -> &str {
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let is_prose = |part: &&str| {
        let is_heading = part.starts_with('#') && !part.contains('\n');
        !part.is_empty() && !is_heading && part.chars().any(char::is_alphanumeric)
    };
    paragraphs.find(is_prose).unwrap_or_default()
}

fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..end])
}

/// Whether a code block is left open, or the last character announces more.
fn is_cut_off(answer: &str) -> bool {
    let fences = answer.lines().filter(|line| line.trim_start().starts_with("```")).count();
    let ends_open = answer.trim_end().ends_with([',', ':', ';', '(']);
    fences % 2 == 1 || ends_open
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn odd_answers_do_no_harm(answer in "(?s).{0,200}") {
            let wording = Wording::of(&answer);
            prop_assert!(wording.admits || !wording.admits_first || wording.regrets);
        }
    }

    #[test]
    fn every_pattern_compiles() {
        let all = [INABILITY, TROUBLE, REPORT, REGRET, OWN_KNOWLEDGE, REFERRAL, APPEAL];
        assert!(all.iter().all(|pattern| Regex::new(pattern).is_ok()));
    }

    #[test]
    fn admissions_are_recognised_where_they_are() {
        for text in [
            "I'm unable to open the file.",
            "I wasn’t able to retrieve the prices.",
            "Unfortunately, I don't have access to such tools.",
            "I apologize, but the service is currently unavailable.",
            "Since the search tool seems to have issues, here is a drawing.",
            "# Result\n\nI'm having some technical difficulties with the data.",
        ] {
            assert!(Wording::of(text).admits_first, "{text}");
        }
        let report = Wording::of("The search did not return a parking space.");
        assert!(report.admits && !report.admits_first, "that may be the answer");
        let remark = "Here is the route. The service appears to have issues with durations.";
        let remark = Wording::of(remark);
        assert!(remark.admits && !remark.admits_first);
        let late = Wording::of("Here is the list.\n\nI could not find the third one.");
        assert!(late.admits && !late.admits_first);
    }

    #[test]
    fn results_about_failures_are_no_admissions() {
        for text in [
            "The log shows that the server could not connect.",
            "You cannot cancel this order after Friday.",
            "Done: the three files are in the archive.",
            "The test failed because the port was in use. I fixed it.",
        ] {
            let wording = Wording::of(text);
            assert!(!wording.admits && !wording.admits_first, "{text}");
        }
    }

    #[test]
    fn substitutes_and_appeals_are_recognised() {
        let text = "However, I can provide general guidance. I'd recommend checking the website.";
        let wording = Wording::of(text);
        assert!(wording.own_knowledge && wording.refers && !wording.asks);
        assert!(Wording::of("Could you please verify the path?").asks);
    }

    #[test]
    fn open_ends_are_seen() {
        assert!(Wording::of("Here is the code:\n```python\nprint(1)").is_cut_off);
        assert!(Wording::of("The three causes are:").is_cut_off);
        assert!(!Wording::of("```\na\n```\nDone").is_cut_off);
    }

    #[test]
    fn long_and_odd_answers_are_read() {
        let long = format!("{} I could not do it.", "ä".repeat(100_000));
        assert!(Wording::of(&long).admits);
        assert_eq!(Wording::of(""), Wording::default());
    }
}
