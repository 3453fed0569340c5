//! An attack of either origin.

use std::ops::Deref;
use std::sync::Arc;

use super::Attack;

/// An attack that can be ordered: one of the registry, or one that a suite defines.
#[derive(Clone)]
pub enum AnyAttack {
    Builtin(&'static dyn Attack),
    Defined(Arc<dyn Attack>),
}

impl AnyAttack {
    /// Whether a suite defines it, so that nobody else knows what it is about.
    pub fn is_defined(&self) -> bool {
        matches!(self, Self::Defined(_))
    }
}

impl Deref for AnyAttack {
    type Target = dyn Attack;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Builtin(attack) => *attack,
            Self::Defined(attack) => &**attack,
        }
    }
}

impl From<&'static dyn Attack> for AnyAttack {
    fn from(attack: &'static dyn Attack) -> Self {
        Self::Builtin(attack)
    }
}
