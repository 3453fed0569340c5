//! `urlize`: URLs in a text become links.

/// Turns the words of a text that look like URLs into links; `shown` is the maximum length of the link text.
pub(super) fn urlize(text: &str, shown: usize, nofollow: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let space = first.is_whitespace();
        let end = rest.find(|c: char| c.is_whitespace() != space).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        match link(word, shown, nofollow) {
            Some(link) if !space => out.push_str(&link),
            _ => out.push_str(word),
        }
        rest = after;
    }
    out
}

fn link(word: &str, shown: usize, nofollow: bool) -> Option<String> {
    let address = bare(word);
    let rel = if nofollow { " rel=\"nofollow\"" } else { "" };
    let short: String = {
        let units: Vec<u16> = address.encode_utf16().take(shown).collect();
        String::from_utf16_lossy(&units)
    };
    if address.starts_with("http://") || address.starts_with("https://") {
        return Some(format!("<a href=\"{address}\"{rel}>{short}</a>"));
    }
    if !address.starts_with("www.") && is_mail(address) {
        return Some(format!("<a href=\"mailto:{address}\">{address}</a>"));
    }
    (address.starts_with("www.") || has_domain(address))
        .then(|| format!("<a href=\"http://{address}\"{rel}>{short}</a>"))
}

/// The word without surrounding punctuation, one character on each side.
fn bare(word: &str) -> &str {
    let word = ["(", "<", "&lt;"].iter().find_map(|mark| word.strip_prefix(mark)).unwrap_or(word);
    [".", ",", ")", "&gt;"].iter().find_map(|mark| word.strip_suffix(mark)).unwrap_or(word)
}

fn is_mail(address: &str) -> bool {
    let Some((name, domain)) = address.split_once('@') else { return false };
    let in_name = |c: char| c.is_ascii_alphanumeric() || "_.!#$%&'*+-/=?^`{|}~".contains(c);
    let in_label = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let labels: Vec<&str> = domain.split('.').collect();
    !name.is_empty()
        && name.chars().all(in_name)
        && labels.len() > 1
        && labels.iter().all(|label| !label.is_empty() && label.chars().all(in_label))
}

fn has_domain(address: &str) -> bool {
    [".org", ".net", ".com"].iter().any(|domain| {
        address.match_indices(domain).any(|(at, found)| {
            let after = &address[at + found.len()..];
            after.is_empty() || after.starts_with([':', '/'])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_links() {
        let link = |href: &str, shown: &str| format!("<a href=\"{href}\">{shown}</a>");
        for (text, expected) in [
            ("see http://a.b/c.", format!("see {}", link("http://a.b/c", "http://a.b/c"))),
            ("(www.a.de)\n", format!("{}\n", link("http://www.a.de", "www.a.de"))),
            ("a.com/x a.community", format!("{} a.community", link("http://a.com/x", "a.com/x"))),
            ("me@a.org", link("mailto:me@a.org", "me@a.org")),
            ("a@b@c.d  no", "a@b@c.d  no".to_owned()),
        ] {
            assert_eq!(urlize(text, usize::MAX, false), expected, "{text}");
        }
        assert_eq!(
            urlize("https://long.example", 7, true),
            "<a href=\"https://long.example\" rel=\"nofollow\">https:/</a>"
        );
    }
}
