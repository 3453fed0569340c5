//! Blocks of SQL in Markdown.

use crate::text::js;

struct Fence<'t> {
    mark: u8,
    length: usize,
    info: &'t str,
}

/// The content of fenced blocks that are closed, and are SQL or of no language.
pub fn blocks(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut found = Vec::new();
    let mut open: Option<(Fence<'_>, Vec<&str>)> = None;
    for line in text.split('\n') {
        let fence = fence(line);
        match (&mut open, fence) {
            (None, Some(fence)) => open = Some((fence, Vec::new())),
            (None, None) => {}
            (Some((begin, body)), Some(end)) if closes(begin, &end) => {
                let language = js::trim(begin.info).to_lowercase();
                if language.is_empty() || language == "sql" {
                    found.push(js::trim(&body.join("\n")).to_owned());
                }
                open = None;
            }
            (Some((_, body)), _) => body.push(line),
        }
    }
    found
}

fn closes(begin: &Fence<'_>, end: &Fence<'_>) -> bool {
    let blank = end.info.bytes().all(|byte| byte == b' ' || byte == b'\t');
    blank && end.mark == begin.mark && end.length >= begin.length
}

fn fence(line: &str) -> Option<Fence<'_>> {
    let indent = line.bytes().take(3).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &line[indent..];
    let mark = *rest.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = rest.bytes().take_while(|byte| *byte == mark).count();
    (length >= 3).then(|| Fence { mark, length, info: &rest[length..] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_sql_are_found() {
        let text = "Try:\n```sql\nSELECT 1\n```\nor\r\n~~~ SQL\r\nSELECT 2\n```\n~~~~ \n";
        assert_eq!(blocks(text), ["SELECT 1", "SELECT 2\n```"]);
        assert_eq!(blocks("```\nSELECT 1\n```"), ["SELECT 1"]);
        assert!(blocks("```python\nSELECT 1\n```").is_empty());
        assert!(blocks("```sql\nSELECT 1").is_empty());
        assert_eq!(blocks("```sql\n```"), [""]);
    }
}
