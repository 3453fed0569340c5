//! Generates texts that match regular expressions.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum length: patterns may demand huge repetitions.
const MAX_LENGTH: usize = 256;

/// The simplest text that matches a pattern of a JSON Schema, if the pattern is supported. The result is checked
/// against the pattern.
pub(super) fn matching(pattern: &str, at_least: usize) -> Option<String> {
    let hir = regex_syntax::Parser::new().parse(pattern).ok()?;
    let regex = regex::RegexBuilder::new(pattern).size_limit(1 << 20).build().ok()?;
    for wish in [at_least, 0] {
        let mut text = String::new();
        write(&hir, wish, &mut text)?;
        if regex.is_match(&text) {
            return Some(text);
        }
    }
    None
}

/// Writes a match; the first repetition that can grow gets the requested length.
fn write(hir: &Hir, wish: usize, text: &mut String) -> Option<()> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(member(class)?),
        HirKind::Capture(capture) => write(&capture.sub, wish, text)?,
        HirKind::Concat(parts) => {
            for part in parts {
                write(part, wish, text)?;
            }
        }
        HirKind::Alternation(parts) => write(parts.first()?, wish, text)?,
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            let wanted = u32::try_from(wish.saturating_sub(text.len())).unwrap_or(u32::MAX);
            // `.*` at the ends of a pattern may match nothing.
            let count = wanted.clamp(repetition.min, most.max(repetition.min));
            let count =
                if repetition.min == 0 && wish == 0 { 0 } else { count.max(repetition.min) };
            for _ in 0..count.min(MAX_LENGTH as u32) {
                write(&repetition.sub, 0, text)?;
            }
        }
    }
    Some(())
}

/// A letter if the class contains one, or else a digit, or else its first printable member.
fn member(class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.iter().map(|r| (r.start(), r.end())).collect(),
        Class::Bytes(class) => {
            class.iter().map(|r| (char::from(r.start()), char::from(r.end()))).collect()
        }
    };
    let has = |c: char| ranges.iter().any(|(start, end)| (*start..=*end).contains(&c));
    let plain = ['a', 'A', '1', '0'].into_iter().find(|c| has(*c));
    plain.or_else(|| ranges.iter().map(|(start, _)| *start).find(|c| !c.is_control()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_real_schemas_are_satisfied() {
        for pattern in [
            r"^[a-z]+$",
            r"^\d{4}-\d{2}-\d{2}$",
            r"^(acc|usr)_[0-9a-f]{8}$",
            r"^[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]{4}){3,7}$",
            r"^[\w.-]+@[\w.-]+\.\w+$",
            r"foo|bar",
            r".*",
            r"^https?://",
            r"^[^/]+$",
        ] {
            let text = matching(pattern, 3).expect(pattern);
            assert!(regex::Regex::new(pattern).unwrap().is_match(&text), "{pattern} {text}");
        }
    }

    #[test]
    fn what_cannot_be_understood_is_left_alone() {
        assert_eq!(matching(r"(?=x)y", 0), None);
        assert_eq!(matching(r"[", 0), None);
        assert_eq!(matching(r"^a{100000}$", 0), None);
    }
}
