//! JavaScript regular expressions. Most mean the same to the `regex` crate, which
//! matches in linear time; the others are matched by the engine, within limits.

use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

use crate::translate::{Translation, translate};
use crate::{Host, Limits, Script, ScriptError};

/// What `new RegExp(source, flags)` matches. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pattern {
    inner: Arc<Inner>,
    limits: Limits,
}

#[derive(Debug)]
struct Inner {
    source: String,
    flags: String,
    fast: Option<Fast>,
    slow: Script,
}

#[derive(Debug)]
struct Fast {
    regex: Regex,
    counts: bool,
    lines: bool,
}

impl Pattern {
    pub fn new(source: &str, flags: &str) -> Result<Self, ScriptError> {
        let fast = translate(source, flags).and_then(Fast::new);
        let inner = Inner {
            source: source.to_owned(),
            flags: flags.to_owned(),
            slow: Script::inline("new RegExp(source, flags).test(text)"),
            fast,
        };
        let pattern = Self { inner: Arc::new(inner), limits: Limits::default() };
        if pattern.inner.fast.is_none() {
            pattern.compile()?;
        }
        Ok(pattern)
    }

    /// For the patterns that need the engine.
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    pub fn is_match(&self, text: &str) -> Result<bool, ScriptError> {
        match &self.inner.fast {
            Some(fast) if fast.suits(text) => Ok(fast.regex.is_match(text)),
            _ => self.test(text),
        }
    }

    fn test(&self, text: &str) -> Result<bool, ScriptError> {
        let [source, flags, text] =
            [self.inner.source.as_str(), self.inner.flags.as_str(), text].map(Value::from);
        let arguments = [("source", &source), ("flags", &flags), ("text", &text)];
        let found = self.inner.slow.run(&arguments, &self.host())?;
        Ok(found == Value::Bool(true))
    }

    fn compile(&self) -> Result<(), ScriptError> {
        let (source, flags) = (Value::from(&*self.inner.source), Value::from(&*self.inner.flags));
        let arguments = [("source", &source), ("flags", &flags)];
        let compiled =
            Script::inline("new RegExp(source, flags).flags").run(&arguments, &self.host());
        match compiled {
            Err(ScriptError::Thrown { message, .. }) => {
                Err(ScriptError::Syntax { message, line: 1, column: 1 })
            }
            other => other.map(drop),
        }
    }

    fn host(&self) -> Host {
        Host { limits: self.limits, ..Host::default() }
    }
}

impl Fast {
    /// The engine matches patterns that are too large.
    fn new(translation: Translation) -> Option<Self> {
        let Translation { pattern, counts, lines } = translation;
        Regex::new(&pattern).ok().map(|regex| Self { regex, counts, lines })
    }

    /// Whether both dialects split this text into the same characters and lines.
    fn suits(&self, text: &str) -> bool {
        let astral = || text.bytes().any(|byte| byte >= 0xf0);
        let line_ends = || text.contains(['\r', '\u{2028}', '\u{2029}']);
        !(self.counts && astral() || self.lines && line_ends())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn is_match(source: &str, flags: &str, text: &str) -> bool {
        Pattern::new(source, flags).and_then(|pattern| pattern.is_match(text)).expect(source)
    }

    #[test]
    fn the_dialect_is_javascripts() {
        for (source, flags, text, expected) in [
            (r"^\d{3}-\d{4}$", "", "555-1234", true),
            (r"\d", "", "٣", false),
            (r"\w", "", "é", false),
            (r"^\s$", "", "\u{feff}", true),
            (".", "", "\r", false),
            (".", "s", "\r", true),
            ("^.$", "", "😀", false),
            ("^.$", "u", "😀", true),
            ("^b$", "m", "a\rb", true),
            ("a$", "", "a\n", false),
            ("S", "i", "ſ", false),
            ("[k]", "i", "\u{212a}", false),
            ("HELLO", "i", "say hello", true),
            ("(a)\\1", "", "aa", true),
            ("(?<=\\$)\\d+", "", "$42", true),
            ("(?<year>\\d{4})", "", "in 2024", true),
            ("^(?!.*secret).*$", "", "a secret", false),
            (r"\p{Lu}", "u", "É", true),
            ("ä", "i", "Ä", true),
            ("[^]", "", "\n", true),
            ("[]", "", "a", false),
            ("", "", "", true),
            ("a", "y", "ba", false),
            (r"\bcafé\b", "", "café", false),
            ("x{,2}", "", "x{,2}", true),
            (r"a\-b", "", "a-b", true),
            (r"^<.+?\>[<>]$", "", "<a>>", true),
        ] {
            assert_eq!(is_match(source, flags, text), expected, "/{source}/{flags} on {text:?}");
        }
    }

    #[test]
    fn wrong_patterns_are_syntax_errors() {
        for (source, flags) in [("(", ""), ("a**", ""), ("[b-a]", ""), ("a", "xyz"), ("(?i)a", "")]
        {
            let result = Pattern::new(source, flags).map(drop);
            assert!(matches!(result, Err(ScriptError::Syntax { .. })), "{source}: {result:?}");
        }
    }

    #[test]
    fn catastrophes_are_fast_or_ended() {
        let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
        let text = "a".repeat(50) + "b";
        let started = Instant::now();
        let linear = Pattern::new("(a+)+$", "").expect("a pattern");
        assert_eq!(linear.is_match(&text), Ok(false));
        let looking = Pattern::new("(?=a)(a+)+$", "").expect("a pattern").with_limits(limits);
        assert_eq!(looking.is_match(&text), Err(ScriptError::TimedOut { after: limits.time }));
        assert!(started.elapsed() < Duration::from_secs(3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn both_ways_to_match_agree(
            source in r"([abkS.^$|*+?(){}\[\]\\,\-1 dDwWsSbnu_é😀/]|\\d|\\w|\\s|\\S|\.\*|a\{1,2\}|\[a-k\]|\(?:){0,8}",
            flags in "(|i|m|s|u|im|is)",
            text in "[abkKS1 _é😀ſ\r\n\u{2028}-]{0,6}",
        ) {
            if let Some(fast) = translate(&source, &flags).and_then(Fast::new) {
                let pattern = Pattern::new(&source, &flags);
                prop_assert!(pattern.as_ref().is_ok_and(|pattern| pattern.compile().is_ok()), "{}", source);
                if let Ok(pattern) = pattern && fast.suits(&text) {
                    prop_assert_eq!(Ok(fast.regex.is_match(&text)), pattern.test(&text));
                }
            }
        }
    }
}
