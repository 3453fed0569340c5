//! Placeholders such as `{{nonce}}` in payloads, probes and proofs. Their values are drawn for every attempt.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::attack::{Brief, Nonce};

/// Enough steps up to leave any folder.
const CLIMB: &str = "../../../../../../../../../../../../";

/// Key of the payload's index among the values; not a valid placeholder.
const SHOT: &str = "#";

/// The meaning of a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Nonce,
    Reversed,
    Number,
    Other,
    Sum,
    Product,
    Innocent,
    Listener,
    Canary,
    CanaryUp,
    CanaryText,
    Drop,
    Marker,
    Open,
    Close,
}

impl Name {
    /// The words that suites use, with their meanings.
    pub(crate) const ALL: [(&'static str, Self, &'static str); 15] = [
        ("nonce", Self::Nonce, "twelve random letters that mark effects of the attempt"),
        ("reversed", Self::Reversed, "the nonce in reverse"),
        ("number", Self::Number, "a random five-digit number"),
        ("other", Self::Other, "another random five-digit number"),
        ("sum", Self::Sum, "the sum of the two numbers"),
        ("product", Self::Product, "the product of the two numbers"),
        ("value", Self::Innocent, "the value at this place in a valid call"),
        ("listener", Self::Listener, "an HTTP URL of the listener, with the nonce as its path"),
        ("canary", Self::Canary, "the path of a file that the target must not access"),
        ("canaryUp", Self::CanaryUp, "the same path, relative with enough `../` for any folder"),
        ("canaryText", Self::CanaryText, "the random text in that file"),
        ("drop", Self::Drop, "the path of a folder for files that the target is made to create"),
        ("marker", Self::Marker, "the path of a file in that folder, named after the nonce"),
        ("open", Self::Open, "two opening braces"),
        ("close", Self::Close, "two closing braces"),
    ];

    fn find(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, ..)| *known == word).map(|(_, name, _)| *name)
    }

    fn word(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Whether only a target that computes or reads something can know it.
    fn is_fresh(self) -> bool {
        use Name::{CanaryText, Nonce, Number, Other, Product, Reversed, Sum};
        matches!(self, Nonce | Reversed | Number | Other | Sum | Product | CanaryText)
    }

    /// Whether it needs files that Quintain and the target share.
    pub(crate) fn needs_canary_files(self) -> bool {
        matches!(self, Self::Canary | Self::CanaryUp | Self::CanaryText | Self::Drop | Self::Marker)
    }
}

/// A text with placeholders. Braces around anything but a single word stay unchanged, so that expressions of other
/// languages can be written: `{{7*7}}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Name(Name),
}

impl Text {
    /// # Errors
    /// The ranges of words that are not placeholders.
    pub(crate) fn parse(text: &str) -> Result<Self, Vec<Range<usize>>> {
        let (mut pieces, mut unknown) = (Vec::new(), Vec::new());
        let (mut literal, mut at) = (String::new(), 0);
        while let Some(open) = text[at..].find("{{").map(|found| at + found) {
            let start = open + 2;
            let end = text[start..].find("}}").map(|found| start + found);
            let word = end.map(|end| text[start..end].trim()).filter(|word| is_word(word));
            let (Some(end), Some(word)) = (end, word) else {
                // Advances by one brace: `{{{nonce}}}` is a placeholder in braces.
                literal.push_str(&text[at..=open]);
                at = open + 1;
                continue;
            };
            literal.push_str(&text[at..open]);
            at = end + 2;
            match Name::find(word) {
                Some(name) => {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                    pieces.push(Piece::Name(name));
                }
                None => unknown.push(open..at),
            }
        }
        literal.push_str(&text[at..]);
        pieces.push(Piece::Literal(literal));
        if unknown.is_empty() { Ok(Self(pieces)) } else { Err(unknown) }
    }

    /// None if a value is unavailable: no listener, no shared files.
    pub(crate) fn fill(&self, values: &Values) -> Option<String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Name(name) => text.push_str(values.get(*name)?),
            }
        }
        Some(text)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = Name> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Name(name) => Some(*name),
            Piece::Literal(_) => None,
        })
    }

    /// Whether it contains a value that differs between attempts.
    pub(crate) fn is_fresh(&self) -> bool {
        self.names().any(Name::is_fresh)
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The values of placeholders in one attempt. Stored in its role, since proofs are evaluated later and from the attempt
/// alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Values(Map<String, Value>);

impl Values {
    /// `shot` is the index of the payload or call in its attack.
    pub(crate) fn draw(brief: &Brief<'_>, innocent: String, shot: usize) -> (Nonce, Self) {
        let nonce = brief.nonce();
        let (number, other) = (brief.number(), brief.number());
        let mut values = Self::default();
        let mut set = |name: Name, value: String| {
            values.0.insert(name.word().to_owned(), Value::String(value));
        };
        set(Name::Nonce, nonce.to_string());
        set(Name::Reversed, nonce.as_str().chars().rev().collect());
        set(Name::Number, number.to_string());
        set(Name::Other, other.to_string());
        set(Name::Sum, (number + other).to_string());
        set(Name::Product, (number * other).to_string());
        set(Name::Innocent, innocent);
        set(Name::Open, "{{".to_owned());
        set(Name::Close, "}}".to_owned());
        if let Some(listener) = brief.listener {
            set(Name::Listener, listener.url(&nonce));
        }
        if let Some(canaries) = brief.canaries {
            let canary = canaries.canary.display().to_string();
            set(Name::CanaryUp, format!("{CLIMB}{}", canary.trim_start_matches('/')));
            set(Name::Canary, canary);
            set(Name::CanaryText, canaries.canary_text.clone());
            set(Name::Drop, canaries.drop.display().to_string());
            set(Name::Marker, canaries.drop.join(nonce.as_str()).display().to_string());
        }
        values.0.insert(SHOT.to_owned(), shot.into());
        (nonce, values)
    }

    /// Index of the payload or call of the attempt.
    pub(crate) fn shot(&self) -> Option<usize> {
        usize::try_from(self.0.get(SHOT)?.as_u64()?).ok()
    }

    pub(crate) fn get(&self, name: Name) -> Option<&str> {
        self.0.get(name.word())?.as_str()
    }

    /// The role of an attempt.
    pub(crate) fn role(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }

    pub(crate) fn of_role(role: &str) -> Self {
        Self(serde_json::from_str(role).unwrap_or_default())
    }

    /// As variables for assertions.
    pub(crate) fn vars(&self) -> &Map<String, Value> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::MarkKey;

    fn values() -> Values {
        let brief = Brief::new(None, None, 1, &[], MarkKey::of_seed(1).marks("test"));
        Values::draw(&brief, "x".into(), 0).1
    }

    fn filled(text: &str) -> Option<String> {
        Text::parse(text).unwrap().fill(&values())
    }

    #[test]
    fn words_are_filled_in_and_other_braces_stay() {
        let values = values();
        let get = |name: Name| values.get(name).unwrap().to_owned();
        assert_eq!(filled("a {{nonce}}{{ value }}"), Some(format!("a {}x", get(Name::Nonce))));
        assert_eq!(filled("{{7*7}} ${x} {{"), Some("{{7*7}} ${x} {{".into()));
        let expression = format!("{{{{{}*{}}}}}", get(Name::Number), get(Name::Other));
        assert_eq!(filled("{{open}}{{number}}*{{other}}{{close}}"), Some(expression));
        assert_eq!(filled("{{{value}}}"), Some("{x}".into()));
        assert_eq!(filled("{{listener}}"), None);
    }

    #[test]
    fn words_that_are_none_are_found() {
        assert_eq!(Text::parse("a {{nonse}} {{b c}} {{x}}"), Err(vec![2..11, 20..25]));
    }

    #[test]
    fn values_survive_in_the_role() {
        assert_eq!(Values::of_role(&values().role()), values());
        assert!(Text::parse("{{product}}").unwrap().is_fresh());
        assert!(!Text::parse("root:x {{drop}}").unwrap().is_fresh());
    }

    #[test]
    fn words_stand_in_the_order_of_the_variants() {
        for (word, name, _) in Name::ALL {
            assert_eq!(name.word(), word);
        }
    }
}
