//! Pages of lists. A cursor is opaque to clients: it names its list and the next entry.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use serde_json::json;

/// One page of `items`, and the cursor of the next one.
pub(super) fn page<T>(
    list: &str,
    items: Vec<T>,
    cursor: Option<&str>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match cursor {
        None => 0,
        Some(cursor) => position(list, cursor)
            .filter(|start| *start < items.len())
            .ok_or_else(|| invalid_cursor(cursor))?,
    };
    let total = items.len();
    let page: Vec<T> = items.into_iter().skip(start).take(size).collect();
    let end = start + page.len();
    let next = (end < total).then(|| URL_SAFE_NO_PAD.encode(format!("{list}:{end}")));
    Ok((page, next))
}

fn position(list: &str, cursor: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    text.strip_prefix(list)?.strip_prefix(':')?.parse().ok()
}

fn invalid_cursor(cursor: &str) -> ErrorData {
    let sentence = format!("cursor `{cursor}` is not valid for this list");
    let issue = json!({"path": "/cursor", "code": "cursor", "message": sentence, "expected": null});
    let data = json!({"validation_errors": [sentence], "issues": [issue]});
    ErrorData::invalid_params("Invalid params: unknown cursor", Some(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_the_list_once_and_foreign_cursors_are_refused() {
        let items: Vec<u32> = (0..7).collect();
        let mut seen = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let (part, next) = page("tools", items.clone(), cursor.as_deref(), 3).unwrap();
            seen.extend(part);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, items);
        let (_, next) = page("prompts", items.clone(), None, 3).unwrap();
        for bad in [next.as_deref().unwrap(), "x", "", "dG9vbHM6OTk"] {
            assert!(page("tools", items.clone(), Some(bad), 3).is_err(), "{bad}");
        }
    }
}
