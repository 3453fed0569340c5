//! One place that an attack tries.

use quintain_evidence::finding::Place;
use serde_json::{Map, Value};

use super::Baseline;

/// One place to attack, with the call that reaches it.
#[derive(Debug, Clone)]
pub struct Aim {
    pub place: Place,
    /// A valid call, into which hostile values are put. Without one, nothing can be proven by comparison.
    pub baseline: Option<Baseline>,
    /// What the value appears to mean, most likely first.
    pub kinds: Vec<Kind>,
    /// The schema of the value, if it has one.
    pub schema: Value,
    /// The most likely arguments if there is no valid call.
    pub draft: Option<Map<String, Value>>,
    /// Why a hit would be by design, if it would.
    pub by_design: Option<String>,
    /// The mode of the tool, if it is not that of the first learned call: `action=export`.
    pub mode: Option<String>,
}

impl Aim {
    /// A place of which nothing else is known.
    pub fn at(place: Place) -> Self {
        Self {
            place,
            baseline: None,
            kinds: vec![Kind::Other],
            schema: Value::Null,
            draft: None,
            by_design: None,
            mode: None,
        }
    }

    pub fn is(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }
}

/// What a value appears to mean, by its name, description and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Path,
    Url,
    Host,
    /// A command, or part of one.
    Command,
    /// A whole query in some language; the tool's purpose is to run it.
    Query,
    /// Part of a query: a filter, a column, a table, a search term.
    Filter,
    /// A template or an expression that the server evaluates.
    Expression,
    Pattern,
    /// The name of an object: a branch, a key, a reference.
    Name,
    Id,
    /// Text for human readers.
    Text,
    Number,
    Other,
}
