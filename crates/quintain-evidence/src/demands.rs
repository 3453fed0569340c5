//! Assertions as proofs of attacks: what must hold for every answer. Whoever knows assertions compiles them,
//! whoever attacks uses them.

use std::fmt::Debug;
use std::path::Path;

use quintain_source::{Diagnostics, Node, Severity};
use serde_json::{Map, Value};

use crate::evidence::Evidence;
use crate::surface::Surface;

/// What must hold for every answer, decided by the evidence alone.
pub trait Demands: Send + Sync + Debug {
    /// The first demand that this evidence breaks. A check that cannot be made breaks nothing.
    fn broken(&self, evidence: &Evidence, around: Around<'_>) -> Option<Breach>;
}

/// Compiles a list of assertions.
pub trait ReadDemands {
    /// What is wrong with any of them is reported.
    fn read(
        &self,
        node: &Node,
        base_dir: &Path,
        strictness: Severity,
        dx: &mut Diagnostics,
    ) -> Option<Box<dyn Demands>>;
}

/// What demands may look at besides the evidence.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    pub surfaces: &'a [(String, Surface)],
    pub vars: &'a Map<String, Value>,
}

/// A demand that does not hold.
pub struct Breach {
    pub what: String,
    pub pointer: Option<String>,
}
