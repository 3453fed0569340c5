//! What a text without spaces is by its form: an address, a path, an id or a word; and the parts of addresses and paths.

use std::borrow::Cow;

use super::kind::Kind;
use super::word_list::WordList;

/// Endings of files that people name in conversations.
static EXTENSIONS: WordList = WordList::new(
    "txt md markdown rst pdf doc docx odt rtf xls xlsx ods csv tsv ppt pptx json jsonl yaml yml \
     toml xml ini cfg conf env log sql db sqlite parquet html htm css scss js jsx ts tsx mjs py \
     ipynb rs go java kt c h cpp hpp cs rb php swift sh bash ps1 bat png jpg jpeg gif svg webp \
     bmp tiff ico mp3 wav flac ogg mp4 mov avi mkv webm zip tar gz tgz bz2 7z rar eml ics vcf \
     lock bak",
);

/// The kind of a piece that is neither a number nor a date.
pub fn kind(piece: &str) -> Kind {
    // Most pieces are words.
    if piece.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Kind::Word;
    }
    if piece.contains("://") {
        return Kind::Url;
    }
    if is_email(piece) {
        return Kind::Email;
    }
    if piece.contains(['/', '\\']) {
        let first = piece.split('/').next().unwrap_or_default();
        if is_host(first) && piece.len() > first.len() + 1 {
            return Kind::Url;
        }
        return if is_rooted(piece) || extension(piece).is_some() {
            Kind::Path
        } else {
            slashed(piece)
        };
    }
    if extension(piece).is_some() && !is_product(piece) {
        return Kind::Path;
    }
    if piece.bytes().any(|byte| byte.is_ascii_digit()) { Kind::Id } else { Kind::Word }
}

/// `acme/api-2` is an id, `and/or` are words.
fn slashed(piece: &str) -> Kind {
    if piece.bytes().any(|byte| byte.is_ascii_digit()) { Kind::Id } else { Kind::Word }
}

pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let ending = domain.rsplit('.').next().unwrap_or_default();
    let allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(&byte) || byte >= 0x80;
    !local.is_empty()
        && local.bytes().all(allowed)
        && domain.len() > ending.len() + 1
        && domain
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte) || byte >= 0x80)
        && ending.len() >= 2
        && ending.bytes().all(|byte| byte.is_ascii_alphabetic() || byte >= 0x80)
}

/// Whether a text is written as an absolute path, or one from the home or current folder.
pub fn is_rooted(text: &str) -> bool {
    let bytes = text.as_bytes();
    let drive = bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'\\' | b'/');
    drive || ["/", "./", "../", "~/", "\\\\"].iter().any(|start| text.starts_with(start))
}

/// The ending of the last segment, if it is one of files.
pub fn extension(text: &str) -> Option<&str> {
    let name = text.rsplit(['/', '\\']).next()?;
    let (stem, ending) = name.rsplit_once('.')?;
    let known = EXTENSIONS.has(&ending.to_ascii_lowercase());
    (known && (!stem.is_empty() || ending.len() > 2)).then_some(ending)
}

/// `Node.js` and its like are names of products.
fn is_product(piece: &str) -> bool {
    const NAMES: [&str; 9] = [
        "node.js",
        "next.js",
        "vue.js",
        "nuxt.js",
        "three.js",
        "d3.js",
        "express.js",
        "chart.js",
        "react.js",
    ];
    NAMES.iter().any(|name| piece.eq_ignore_ascii_case(name))
}

/// Whether a text is a name of a host.
pub fn is_host(text: &str) -> bool {
    static ENDINGS: WordList = WordList::new(
        "com org net io dev app ai co gov edu info biz me tv cloud de fr uk eu us ch at nl es it \
         se no pl jp cn in au ca example",
    );
    let Some((rest, ending)) = text.rsplit_once('.') else { return false };
    let label = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    ENDINGS.has(&ending.to_ascii_lowercase()) && rest.split('.').all(label)
}

/// A UUID, with or without dashes: its digits in lower case.
pub fn uuid(text: &str) -> Option<String> {
    let text = text.trim_start_matches('{').trim_end_matches('}');
    let digits: String =
        text.chars().filter(|c| *c != '-').collect::<String>().to_ascii_lowercase();
    let dashes = text.len() - digits.len();
    let form = dashes == 0
        || (dashes == 4
            && [8, 13, 18, 23].iter().all(|at| text.as_bytes().get(*at) == Some(&b'-')));
    (digits.len() == 32 && form && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .then_some(digits)
}

/// Whether a text is a hash or another number in hexadecimal digits, long enough to be no word.
pub fn is_hex(text: &str) -> bool {
    let text = text.strip_prefix("0x").unwrap_or(text);
    text.len() >= 6
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// The parts of a URL.
#[derive(Debug, PartialEq, Eq)]
pub struct UrlParts<'t> {
    /// Without `www.`, in lower case.
    pub host: String,
    pub path: &'t str,
    /// After the question mark.
    pub query: &'t str,
}

/// Splits a URL, with or without its scheme.
pub fn url_parts(url: &str) -> UrlParts<'_> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or(rest);
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or(authority).to_lowercase();
    UrlParts { host: host.strip_prefix("www.").map_or(host.clone(), str::to_owned), path, query }
}

/// The segments of a path or of the path of a URL, without those that only navigate.
pub fn segments(path: &str) -> impl Iterator<Item = &str> {
    let named = path.split(['/', '\\']);
    named.filter(|segment| {
        let is_drive = segment.len() == 2 && segment.ends_with(':');
        !is_drive && !matches!(*segment, "" | "." | ".." | "~")
    })
}

/// A path in the form in which paths are compared.
pub fn plain_path(path: &str) -> String {
    let path = path.trim_end_matches(['/', '\\']).replace('\\', "/").to_lowercase();
    path.strip_prefix("./").map_or(path.clone(), str::to_owned)
}

/// Resolves the escapes of a URL.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        if let (b'%', Some(high), Some(low)) = (first, digit(0), digit(1)) {
            bytes.push((high * 16 + low) as u8);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_recognised() {
        for (text, expected) in [
            ("https://a.b", Kind::Url),
            ("github.com/acme/api", Kind::Url),
            ("ann@b.org", Kind::Email),
            ("icon@2x", Kind::Id),
            ("src/main.rs", Kind::Path),
            ("report.pdf", Kind::Path),
            (r"C:\a\b", Kind::Path),
            ("Node.js", Kind::Word),
            ("client/server", Kind::Word),
            ("cus_N8f3", Kind::Id),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn parts_are_compared_without_case_and_escapes() {
        let parts = url_parts("https://www.Example.com/a%20b/c?d=1#e");
        assert_eq!(
            (parts.host.as_str(), parts.path, parts.query),
            ("example.com", "/a%20b/c", "d=1")
        );
        assert_eq!(unescaped("/a%20b/%zz"), "/a b/%zz");
        assert_eq!(segments("/a/./b//c").collect::<Vec<_>>(), ["a", "b", "c"]);
        let id = "F47AC10B-58CC-4372-A567-0E02B2C3D479";
        assert_eq!(uuid(id), uuid(&id.replace('-', "")));
        assert!(is_hex("a1b2c3d") && !is_hex("facade") && !is_hex("123456"));
    }
}
