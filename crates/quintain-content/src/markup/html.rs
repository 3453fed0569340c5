//! Whether a text is HTML, or shows signs of it.

use std::sync::LazyLock;

use regex::Regex;

use super::dom::Dom;
use crate::text::js;

/// In the units of JavaScript.
const MAX_LENGTH: usize = 10 << 20;

const ELEMENTS: &[&str] = &[
    "title",
    "base",
    "link",
    "meta",
    "style",
    "article",
    "section",
    "nav",
    "aside",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "footer",
    "address",
    "p",
    "hr",
    "pre",
    "blockquote",
    "ol",
    "ul",
    "li",
    "dl",
    "dt",
    "dd",
    "figure",
    "figcaption",
    "main",
    "div",
    "a",
    "em",
    "strong",
    "small",
    "s",
    "cite",
    "q",
    "dfn",
    "abbr",
    "ruby",
    "rt",
    "rp",
    "data",
    "time",
    "code",
    "var",
    "samp",
    "kbd",
    "sub",
    "sup",
    "i",
    "b",
    "u",
    "mark",
    "bdi",
    "bdo",
    "span",
    "br",
    "wbr",
    "img",
    "iframe",
    "embed",
    "object",
    "param",
    "picture",
    "source",
    "video",
    "audio",
    "track",
    "map",
    "area",
    "svg",
    "math",
    "script",
    "noscript",
    "canvas",
    "ins",
    "del",
    "table",
    "caption",
    "colgroup",
    "col",
    "tbody",
    "thead",
    "tfoot",
    "tr",
    "td",
    "th",
    "form",
    "label",
    "input",
    "button",
    "select",
    "datalist",
    "optgroup",
    "option",
    "textarea",
    "output",
    "progress",
    "meter",
    "fieldset",
    "legend",
    "details",
    "summary",
    "dialog",
    "menu",
    "slot",
    "template",
];

/// What a text is.
#[derive(Debug, PartialEq, Eq)]
pub enum Nature {
    Html,
    /// Something else, and why.
    Other(&'static str),
    /// It is too expensive to find out.
    Unknown,
}

/// Whether the whole text is HTML. Faults that browsers repair are none.
pub fn nature(text: &str) -> Nature {
    let text = js::trim(text);
    if text.is_empty() {
        return Nature::Other("Output is empty");
    }
    if is_long(text) {
        return Nature::Other("Output exceeds maximum size limit");
    }
    if text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("<?xml")) {
        return Nature::Other("Output appears to be XML, not HTML");
    }
    let Some(dom) = Dom::parse(text) else { return Nature::Unknown };
    if dom.has_bare_text() {
        return Nature::Other("Output must be wrapped in HTML tags");
    }
    let known = dom.any(|name, written| match name {
        "html" | "head" | "body" => written,
        name => name.contains('-') || ELEMENTS.contains(&name),
    });
    if known {
        Nature::Html
    } else {
        Nature::Other("Output does not contain recognized HTML elements")
    }
}

fn is_long(text: &str) -> bool {
    text.len() > MAX_LENGTH && text.encode_utf16().count() > MAX_LENGTH
}

macro_rules! signs {
    ($($name:ident = $pattern:expr;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new($pattern).unwrap()
        });)*
    };
}

signs! {
    OPENING = r"<[a-zA-Z][a-zA-Z0-9-]*(?:\s[^>]*)?>";
    CLOSING = r"</[a-zA-Z][a-zA-Z0-9-]*\s*>";
    COMPLETE = r"<[a-zA-Z][a-zA-Z0-9-]*(?:\s[^>]*)?/>";
    ENTITY = r"&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);";
    DOCTYPE = r"(?i-u:<!DOCTYPE)\s+(?i-u:html)";
    COMMENT = r"<!--[^-]*(?:-[^-]+)*-->";
    ATTRIBUTE = r#"\s[a-zA-Z-]+=\s*["'][^"']*["']"#;
    KNOWN = r"(?i-u:<(?:html|head|body|div|span|p|a|img|h[1-6]|ul|ol|li|table|tr|td|th|form|input|button|script|style|link|meta|br|hr)\b)";
}

/// Whether there are signs enough that HTML is somewhere in the text.
pub fn is_likely(text: &str) -> bool {
    if is_long(text) {
        return false;
    }
    let weight = |sign: &Regex, weight: usize| if sign.is_match(text) { weight } else { 0 };
    let signs = [
        weight(&OPENING, 1),
        weight(&CLOSING, 1),
        weight(&COMPLETE, 1),
        weight(&ENTITY, 1),
        weight(&DOCTYPE, 2),
        weight(&COMMENT, 1),
        weight(&ATTRIBUTE, 1),
        weight(&KNOWN, 2),
    ];
    signs.iter().sum::<usize>() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: Nature = Nature::Other("Output must be wrapped in HTML tags");
    const NONE: Nature = Nature::Other("Output does not contain recognized HTML elements");

    #[test]
    fn html_is_what_browsers_make_of_it() {
        for text in [
            "<!DOCTYPE html><html><head><title>x</title></head><body><p>y</p></body></html>",
            "<p>one<p>two",
            "<br>",
            "<my-card>x</my-card>",
            "<body>hello</body>",
            "<svg><circle r='1'/></svg>",
            "<title>x</title>",
            "<DIV>x</DIV>",
            "<template><x>y</x></template>",
            "<table><tr><b><td>1</b></table>",
        ] {
            assert_eq!(nature(text), Nature::Html, "{text}");
        }
    }

    #[test]
    fn text_needs_an_element_around_it() {
        for text in [
            "plain",
            "Look: <b>bold</b>",
            "<html>hello</html>",
            "x <p data-x=\"<body>\">y</p>",
            "x<body>y</body>",
            "<tr><td>x</td></tr>",
            "<p>a</p> and <p>b</p>",
        ] {
            assert_eq!(nature(text), BARE, "{text}");
        }
    }

    #[test]
    fn elements_have_to_be_known_and_written() {
        for text in ["<foo><bar/></foo>", "<!-- x -->", "<!DOCTYPE html>"] {
            assert_eq!(nature(text), NONE, "{text}");
        }
        assert_eq!(nature("<head></head>"), Nature::Html);
    }

    #[test]
    fn signs_are_weighed() {
        for text in ["Look: <b>bold</b>", "<br>", "fish &amp; <!-- x -->", "see <a href", "<K />"] {
            assert!(is_likely(text), "{text}");
        }
        for text in
            ["1 < 2 and 3 > 2", "fish &amp; chips", "a <foo> b", "Vec<String> and Map<K, V>"]
        {
            assert!(!is_likely(text), "{text}");
        }
    }

    #[test]
    fn depth_takes_bearable_time() {
        assert_eq!(nature(&"<div>".repeat(20_000)), Nature::Unknown);
        assert_eq!(nature(&"<p>x".repeat(20_000)), Nature::Html);
    }
}
