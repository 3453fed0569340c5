//! Lists that a server gives page by page. A list takes effect with its last page.

use quintain_evidence::trace::{CallKind, Listing};
use serde_json::Value;

use crate::offers;

/// What is being listed, and the last whole list of each kind.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pages: [Option<Vec<Value>>; KINDS.len()],
    whole: [Option<Vec<Value>>; KINDS.len()],
}

/// Methods, and the member of the result with the items.
const KINDS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
    ("prompts/list", "prompts"),
];

impl Lists {
    /// The next list of this kind counts even if it is the same again.
    pub(super) fn forget(&mut self, kind: CallKind) {
        let changed = match kind {
            CallKind::Tool => 0..1,
            CallKind::Resource => 1..3,
            CallKind::Prompt => 3..4,
        };
        for whole in &mut self.whole[changed] {
            *whole = None;
        }
    }

    /// Adds a page. Returns the list if it is complete and new, with the step from which it holds.
    pub(super) fn add(
        &mut self,
        method: &str,
        has_cursor: bool,
        result: &mut Value,
        from: usize,
    ) -> Option<Listing> {
        let kind = KINDS.iter().position(|(known, _)| *known == method)?;
        let Some(Value::Array(items)) = result.get_mut(KINDS[kind].1).map(Value::take) else {
            return None;
        };
        let mut list = self.pages[kind].take().filter(|_| has_cursor);
        match &mut list {
            Some(list) => list.extend(items),
            // A later page without the first ones is not a list.
            None if has_cursor => return None,
            None => list = Some(items),
        }
        if result.get("nextCursor").is_some_and(|cursor| !cursor.is_null()) {
            self.pages[kind] = list;
            return None;
        }
        if self.whole[kind] == list {
            return None;
        }
        self.whole[kind].clone_from(&list);
        let list = list?;
        let mut listing = Listing { from, ..Listing::default() };
        match kind {
            0 => listing.tools = Some(offers::tools(list)),
            1 => listing.resources = Some(offers::resources(list)),
            2 => listing.templates = Some(offers::templates(list)),
            _ => listing.prompts = Some(offers::prompts(list)),
        }
        Some(listing)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_holds_with_its_last_page() {
        let mut lists = Lists::default();
        let mut page = |has_cursor, mut result: Value| {
            lists
                .add("tools/list", has_cursor, &mut result, 3)
                .map(|listing| listing.tools.unwrap().len())
        };
        assert_eq!(page(false, json!({"tools": [{"name": "a"}], "nextCursor": "x"})), None);
        assert_eq!(page(true, json!({"tools": [{"name": "b"}]})), Some(2));
        assert_eq!(page(false, json!({"tools": [{"name": "a"}, {"name": "b"}]})), None);
        assert_eq!(page(false, json!({"tools": []})), Some(0));
        assert_eq!(page(true, json!({"tools": [{"name": "z"}]})), None);
        assert_eq!(page(false, json!({"tools": "x"})), None);
    }
}
