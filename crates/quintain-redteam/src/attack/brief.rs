//! What attempts are made of: random marks, canary files, a listener.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::marks::{Marks, Nonce};
use super::target_view::TargetView;

/// Files with random content that only Quintain knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryFiles {
    /// A folder of this run; everything in it may be written.
    pub root: PathBuf,
    /// A file outside of every declared root, and its content.
    pub canary: PathBuf,
    pub canary_text: String,
    /// Extensions of the copies of the canary next to it: `md`, `json`, and an empty one.
    #[serde(default)]
    pub endings: Vec<String>,
    /// Another file outside of every declared root, with copies of the same extensions, and its content. For tools that
    /// store a file which other tools show later. What those show does not prove a weakness in them.
    #[serde(default)]
    pub bait: PathBuf,
    #[serde(default)]
    pub bait_text: String,
    /// A folder outside of every declared root, with copies of the canary: a project and a repository.
    #[serde(default)]
    pub project: Option<PathBuf>,
    /// For each declared root: a file in a folder next to it whose name starts with that of the root.
    pub siblings: BTreeMap<PathBuf, PathBuf>,
    /// For each declared root: a link in it to the canary.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// For each declared root: a link in it to the folder `drop`.
    #[serde(default, alias = "doors")]
    pub folder_links: BTreeMap<PathBuf, PathBuf>,
    /// For each declared root: a link in it to a file in `drop`, to write through.
    #[serde(default, alias = "sinks")]
    pub file_links: BTreeMap<PathBuf, PathBuf>,
    /// Where files may appear if the target is made to write them.
    pub drop: PathBuf,
}

/// Where Quintain accepts connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// `127.0.0.1`, or a public name.
    pub host: String,
    pub port: u16,
    /// Whether other notations of the same address reach it too.
    pub loopback: bool,
}

impl Listener {
    pub fn url(&self, nonce: &Nonce) -> String {
        format!("http://{}:{}/{nonce}", self.host, self.port)
    }

    /// A URL that redirects to another URL of this listener.
    pub fn redirect(&self, nonce: &Nonce) -> String {
        format!("http://{}:{}/redirect/{nonce}", self.host, self.port)
    }
}

/// What attempts are made of. Every nonce is drawn once.
pub struct Brief<'a> {
    pub canaries: Option<&'a CanaryFiles>,
    pub listener: Option<&'a Listener>,
    /// Number of identities; the first is the one that surveys.
    pub identities: usize,
    /// Roots that the target declares, as far as known.
    pub roots: &'a [PathBuf],
    /// What else is known about the target, for attempts that use several of its tools.
    pub view: Option<&'a TargetView<'a>>,
    marks: RefCell<Marks>,
    /// All marks and numbers drawn so far.
    drawn: RefCell<Vec<String>>,
}

impl<'a> Brief<'a> {
    pub fn new(
        canaries: Option<&'a CanaryFiles>,
        listener: Option<&'a Listener>,
        identities: usize,
        roots: &'a [PathBuf],
        marks: Marks,
    ) -> Self {
        let (marks, drawn) = (RefCell::new(marks), RefCell::default());
        Self { canaries, listener, identities, roots, view: None, marks, drawn }
    }

    /// The same brief with everything known about the target.
    #[must_use]
    pub fn on(mut self, view: &'a TargetView<'a>) -> Self {
        self.view = Some(view);
        self
    }

    pub fn nonce(&self) -> Nonce {
        let mark = self.marks.borrow_mut().mark();
        self.drawn.borrow_mut().push(mark.to_string());
        mark
    }

    /// A five-digit number; the product of two has nine or ten digits and no other meaning.
    pub fn number(&self) -> u64 {
        let number = 10_007 + self.marks.borrow_mut().number() % 89_989;
        self.drawn.borrow_mut().push(number.to_string());
        number
    }

    /// All marks and numbers drawn so far.
    pub fn drawn(&self) -> Vec<String> {
        self.drawn.borrow().clone()
    }
}
