//! Parts of the documentation of built-ins.

/// The text below a heading, as one paragraph.
pub(crate) fn section(docs: &str, heading: &str) -> Option<String> {
    let mut lines = docs.lines().skip_while(|line| line.strip_prefix("# ") != Some(heading));
    lines.next()?;
    let words: Vec<&str> =
        lines.take_while(|line| !line.starts_with("# ")).flat_map(str::split_whitespace).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The first URL in the documentation.
pub(crate) fn link(docs: &str) -> Option<&str> {
    let start = docs.find("https://")?;
    let rest = &docs[start..];
    let end = rest.find(|c: char| c.is_whitespace() || ")>\"'`,".contains(c));
    Some(rest[..end.unwrap_or(rest.len())].trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_and_links_are_found() {
        let docs = "# What it does\nOne\ntwo.\n\n# References\n- <https://a.example/b>, c\n";
        assert_eq!(section(docs, "What it does").as_deref(), Some("One two."));
        assert_eq!(section(docs, "Example"), None);
        assert_eq!(link(docs), Some("https://a.example/b"));
        assert_eq!(link("see http://x"), None);
    }
}
