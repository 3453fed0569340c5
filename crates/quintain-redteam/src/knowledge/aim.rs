//! What an attack is pointed at.

use quintain_evidence::finding::Place;
use serde_json::{Map, Value};

use super::Baseline;

/// One place to attack, with the call that reaches it.
#[derive(Debug, Clone)]
pub struct Aim {
    pub place: Place,
    /// A call that works, into which hostile values are put. Without one, nothing differential can be
    /// proved.
    pub baseline: Option<Baseline>,
    /// What the value at the place seems to mean; the likeliest first.
    pub kinds: Vec<Kind>,
    /// The schema of the value, if it has one.
    pub schema: Value,
    /// Arguments to begin with where no call works: the likeliest there are.
    pub draft: Option<Map<String, Value>>,
    /// Why a hit would be by design, if so.
    pub by_design: Option<String>,
    /// What the tool is told to do, where it does other things than in the call that was learned first:
    /// `action=export`.
    pub mode: Option<String>,
}

impl Aim {
    pub fn is(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }
}

/// What a value seems to mean, by its name, its description and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Path,
    Url,
    Host,
    /// A command, or part of one.
    Command,
    /// A whole query in some language; to run it is the contract.
    Query,
    /// Part of a query: a filter, a column, a table, a search term.
    Filter,
    /// A template or an expression that is evaluated.
    Expression,
    Pattern,
    /// The name of an object: a branch, a key, a reference.
    Name,
    Id,
    /// Text for people.
    Text,
    Number,
    Other,
}
