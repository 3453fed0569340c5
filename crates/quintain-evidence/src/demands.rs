//! Assertions as proofs of attacks: conditions that must hold for every answer. The suite crate compiles them, attacks
//! evaluate them.

use std::fmt::Debug;
use std::path::Path;

use quintain_source::{Diagnostics, Node, Severity};
use serde_json::{Map, Value};

use crate::evidence::Evidence;
use crate::surface::Surface;

/// Conditions that must hold for every answer, decided by the evidence alone.
pub trait Demands: Send + Sync + Debug {
    /// The first demand that this evidence breaks. A check that cannot be evaluated breaks nothing.
    fn broken(&self, evidence: &Evidence, around: Around<'_>) -> Option<Breach>;
}

/// Compiles a list of assertions.
pub trait ReadDemands {
    /// Reports every assertion that is invalid.
    fn read(
        &self,
        node: &Node,
        base_dir: &Path,
        strictness: Severity,
        dx: &mut Diagnostics,
    ) -> Option<Box<dyn Demands>>;
}

/// What demands may read besides the evidence.
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
