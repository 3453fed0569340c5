//! An answer as sentences: which of them state something, and which ask, offer or quote.

/// A sentence of an answer, in bytes of the whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence<'t> {
    pub start: usize,
    pub end: usize,
    pub text: &'t str,
    pub mood: Mood,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Statement,
    Question,
    /// `I can also send it.`
    Offer,
    /// A block quote, or the text of a letter that is only proposed.
    Quote,
}

/// The text with its code blocks replaced by spaces, so that places stay the same.
pub fn without_code(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut in_code = false;
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        if is_fence || in_code {
            plain.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            in_code ^= is_fence;
        } else {
            plain.push_str(line);
        }
    }
    plain
}

/// The sentences of a text in their order. A line always ends one.
pub fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut in_letter = false;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim();
        if begins_letter(trimmed) && start > 0 {
            in_letter = true;
        } else if trimmed.starts_with("---") || trimmed.starts_with('#') {
            in_letter = false;
        }
        let is_quote = in_letter || trimmed.starts_with('>');
        let mut from = start;
        while let Some(length) = sentence_length(&text[from..at]) {
            push(&mut found, text, from, from + length, is_quote);
            from += length;
        }
        push(&mut found, text, from, at, is_quote);
    }
    found
}

fn push<'t>(
    found: &mut Vec<Sentence<'t>>,
    text: &'t str,
    start: usize,
    end: usize,
    is_quote: bool,
) {
    let sentence = &text[start..end];
    if sentence.trim().is_empty() {
        return;
    }
    let mood = if is_quote {
        Mood::Quote
    } else if sentence
        .trim_end_matches(|c: char| c.is_whitespace() || "*_)\"”".contains(c))
        .ends_with('?')
    {
        Mood::Question
    } else if is_offer(sentence) {
        Mood::Offer
    } else {
        Mood::Statement
    };
    found.push(Sentence { start, end, text: sentence, mood });
}

/// Where a sentence ends inside of a line: at a mark that a space follows.
fn sentence_length(line: &str) -> Option<usize> {
    let mut last = ' ';
    let mut word = 0;
    for (at, c) in line.char_indices() {
        let ends = match last {
            '!' | '?' => c == ' ',
            '.' => {
                let is_new = line[at..].trim_start().starts_with(|c: char| !c.is_lowercase());
                c == ' '
                    && is_new
                    && !is_abbreviation(line[word..at].trim_end_matches('.'), word == 0)
            }
            _ => false,
        };
        if ends {
            return Some(at);
        }
        if c == ' ' {
            word = at + 1;
        }
        last = c;
    }
    None
}

/// `No.`, `e.g.`, the initial of a name, and the number of an item at the start of a line.
fn is_abbreviation(word: &str, is_first: bool) -> bool {
    let short = [
        "no", "nr", "vs", "e.g", "i.e", "dr", "mr", "mrs", "ms", "st", "ca", "approx", "fig",
        "inc", "co",
    ];
    let initial = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let numbers = is_first && word.bytes().all(|byte| byte.is_ascii_digit());
    initial || numbers || short.iter().any(|one| word.eq_ignore_ascii_case(one))
}

fn is_offer(sentence: &str) -> bool {
    const SIGNS: [&str; 24] = [
        "would you like",
        "do you want",
        "shall i",
        "should i ",
        "let me know",
        "i can ",
        "i could ",
        "i'd be happy",
        "happy to ",
        "if you want",
        "if you'd like",
        "if you need",
        "if you prefer",
        "if you would",
        "feel free",
        "want me to",
        "i'd like to",
        "i would ",
        "i'll ",
        "i will ",
        "like me to",
        "once you",
        "as soon as you",
        "please confirm",
    ];
    let lower = sentence.to_lowercase().replace('\u{2019}', "'");
    // `I can see` and its like state something.
    let states = [
        "i can see",
        "i can confirm",
        "i can report",
        "i can tell",
        "i could see",
        "i could find",
        "i can find",
    ];
    SIGNS.iter().any(|sign| lower.contains(sign))
        && !states.iter().any(|words| lower.contains(words))
}

/// The first line of a letter that is proposed: `Subject: …`, `Hi Ann,`.
fn begins_letter(line: &str) -> bool {
    let plain = line.trim_start_matches(['*', '>', ' ', '_']);
    let greets = ["Dear ", "Hi ", "Hello ", "Hallo "].iter().any(|word| plain.starts_with(word));
    plain.starts_with("Subject:")
        || plain.starts_with("**Subject")
        || greets && plain.len() < 60 && plain.ends_with(',')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_have_moods() {
        let text = "I sent 3.5 of it. Shall I continue? I can also e.g. add No. 5!\n> I did it.\n# Head\nok";
        let found: Vec<(&str, Mood)> =
            sentences(text).iter().map(|one| (one.text.trim(), one.mood)).collect();
        assert_eq!(
            found,
            [
                ("I sent 3.5 of it.", Mood::Statement),
                ("Shall I continue?", Mood::Question),
                ("I can also e.g. add No. 5!", Mood::Offer),
                ("> I did it.", Mood::Quote),
                ("# Head", Mood::Statement),
                ("ok", Mood::Statement),
            ]
        );
        let letter = sentences("Draft:\nHi Ann,\nI have sent it.\n---\nI have sent it.");
        assert_eq!(
            letter.iter().map(|one| one.mood).filter(|mood| *mood == Mood::Quote).count(),
            2
        );
    }

    #[test]
    fn code_is_blanked() {
        let text = "a\n```rust\nlet x = 5;\n```\nb";
        let plain = without_code(text);
        assert!(plain.len() == text.len() && !plain.contains('5') && plain.ends_with('b'));
    }

    proptest! {
        #[test]
        fn sentences_cover_the_text_in_order(text in "\\PC{0,80}") {
            let mut last = 0;
            for sentence in sentences(&text) {
                prop_assert!(sentence.start >= last && text.get(sentence.start..sentence.end) == Some(sentence.text));
                last = sentence.end;
            }
            let _ = without_code(&text);
        }
    }
}
