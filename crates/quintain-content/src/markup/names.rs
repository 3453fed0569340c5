//! The characters of XML.

/// White space between the parts of a tag.
pub fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// May begin a name.
pub fn is_name_start(c: char) -> bool {
    c == ':' || is_plain_start(c)
}

/// Whether a name may contain it.
pub fn is_name(c: char) -> bool {
    c == ':' || is_plain(c)
}

/// May begin a name without a prefix.
pub fn is_plain_start(c: char) -> bool {
    matches!(c,
        '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}'
        | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}'
        | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

/// Whether a name without a prefix may contain it.
pub fn is_plain(c: char) -> bool {
    is_plain_start(c)
        || matches!(c,
            '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// The name at the start of a text.
pub fn leading_name(text: &str) -> Option<&str> {
    text.chars().next().filter(|c| is_name_start(*c))?;
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    Some(&text[..end])
}
