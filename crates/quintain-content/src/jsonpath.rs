//! JSONPath (RFC 9535), for assertions and for steps that keep a value for later ones.

use serde_json::Value;
use serde_json_path::JsonPath;

/// A path that was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    path: JsonPath,
    text: String,
}

/// Why a path is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not a valid JSONPath: {why}")]
pub struct PathError {
    pub path: String,
    pub why: String,
}

impl Path {
    /// The leading `$` may be left out: `items[0].id` means `$.items[0].id`.
    ///
    /// # Errors
    /// If the path is invalid.
    pub fn new(text: &str) -> Result<Self, PathError> {
        let trimmed = text.trim();
        let full = match trimmed.chars().next() {
            Some('$') => trimmed.to_owned(),
            Some('[' | '.') => format!("${trimmed}"),
            _ => format!("$.{trimmed}"),
        };
        match JsonPath::parse(&full) {
            Ok(path) => Ok(Self { path, text: text.to_owned() }),
            Err(error) => {
                let why = error.message().to_owned();
                Err(PathError { path: text.to_owned(), why })
            }
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn query<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        self.path.query(value).all()
    }

    /// What it finds, with the JSON pointers to it.
    pub fn locate<'v>(&self, value: &'v Value) -> Vec<(String, &'v Value)> {
        let found = self.path.query_located(value);
        found.iter().map(|node| (node.location().to_json_pointer(), node.node())).collect()
    }
}

/// What a path finds in a value.
///
/// # Errors
/// If the path is invalid.
pub fn query<'v>(path: &str, value: &'v Value) -> Result<Vec<&'v Value>, PathError> {
    Ok(Path::new(path)?.query(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_find_values_and_where_they_are() {
        let value = json!({"items": [{"id": 1}, {"id": 2, "a/b": true}]});
        assert_eq!(query("$.items[*].id", &value).unwrap(), [&json!(1), &json!(2)]);
        assert_eq!(query("items[?@.id > 1].id", &value).unwrap(), [&json!(2)]);
        let path = Path::new("$..['a/b']").unwrap();
        assert_eq!(path.locate(&value), [("/items/1/a~1b".to_owned(), &json!(true))]);
        assert!(query("$.nothing", &value).unwrap().is_empty());
    }

    #[test]
    fn invalid_paths_are_reported() {
        for text in ["$.", "$[", "a b", "$.items[", ""] {
            assert!(
                Path::new(text).unwrap_err().to_string().contains("is not a valid JSONPath"),
                "{text}"
            );
        }
    }

    #[test]
    fn deep_values_are_searched_in_bearable_time() {
        let deep = (0..120).fold(json!(1), |inner, _| json!({"a": inner}));
        assert_eq!(query("$..a", &deep).unwrap().len(), 120);
    }
}
