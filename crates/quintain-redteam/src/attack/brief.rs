//! What attempts are written with: random marks, a canary ground, a listener.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::marks::{Marks, Nonce};
use super::target_view::TargetView;

/// Files with random content that nobody but the tester knows of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryFiles {
    /// A folder of this run; everything below it may be written.
    pub root: PathBuf,
    /// A file outside every declared root, and what stands in it.
    pub canary: PathBuf,
    pub canary_text: String,
    /// Endings under which copies of the canary stand beside it: `md`, `json`, and `` for none.
    #[serde(default)]
    pub endings: Vec<String>,
    /// Another file outside every declared root, with copies of the same endings, and what stands in it: for
    /// tools that take a file in, so that others show it later. What they show is no proof against those.
    #[serde(default)]
    pub bait: PathBuf,
    #[serde(default)]
    pub bait_text: String,
    /// A folder outside every declared root, with copies of the canary: a project and a repository.
    #[serde(default)]
    pub project: Option<PathBuf>,
    /// For each declared root: a file in a folder beside it whose name begins with that of the root.
    pub siblings: BTreeMap<PathBuf, PathBuf>,
    /// For each declared root: a link inside of it that leads to the canary.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// For each declared root: a link inside of it that leads to the folder `drop`.
    #[serde(default)]
    pub doors: BTreeMap<PathBuf, PathBuf>,
    /// For each declared root: a link inside of it that leads to a file in `drop`, to be written
    /// through.
    #[serde(default)]
    pub sinks: BTreeMap<PathBuf, PathBuf>,
    /// Where files may appear if somebody makes the target write them.
    pub drop: PathBuf,
}

/// Where the tester waits for connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// `127.0.0.1`, or a public name.
    pub host: String,
    pub port: u16,
    /// Whether other notations of the same address lead there too.
    pub loopback: bool,
}

impl Listener {
    pub fn url(&self, nonce: &Nonce) -> String {
        format!("http://{}:{}/{nonce}", self.host, self.port)
    }

    /// An address that redirects to another one of this listener.
    pub fn redirect(&self, nonce: &Nonce) -> String {
        format!("http://{}:{}/redirect/{nonce}", self.host, self.port)
    }
}

/// What attempts are written with. Every nonce is drawn once.
pub struct Brief<'a> {
    pub ground: Option<&'a CanaryFiles>,
    pub listener: Option<&'a Listener>,
    /// How many identities there are; the first is the one that surveys.
    pub identities: usize,
    /// Roots that the target declares, as far as they are known.
    pub roots: &'a [PathBuf],
    /// What else is known of the target, for attempts that go through several of its tools.
    pub field: Option<&'a TargetView<'a>>,
    marks: RefCell<Marks>,
    /// Every mark and number that was drawn.
    drawn: RefCell<Vec<String>>,
}

impl<'a> Brief<'a> {
    pub fn new(
        ground: Option<&'a CanaryFiles>,
        listener: Option<&'a Listener>,
        identities: usize,
        roots: &'a [PathBuf],
        marks: Marks,
    ) -> Self {
        let (marks, drawn) = (RefCell::new(marks), RefCell::default());
        Self { ground, listener, identities, roots, field: None, marks, drawn }
    }

    /// The same brief with all that is known of the target.
    #[must_use]
    pub fn on(mut self, field: &'a TargetView<'a>) -> Self {
        self.field = Some(field);
        self
    }

    pub fn nonce(&self) -> Nonce {
        let mark = self.marks.borrow_mut().mark();
        self.drawn.borrow_mut().push(mark.to_string());
        mark
    }

    /// A number of five digits; the product of two of them has nine or ten and no meaning.
    pub fn number(&self) -> u64 {
        let number = 10_007 + self.marks.borrow_mut().number() % 89_989;
        self.drawn.borrow_mut().push(number.to_string());
        number
    }

    /// Every mark and number that attempts were written with so far.
    pub fn drawn(&self) -> Vec<String> {
        self.drawn.borrow().clone()
    }
}
