//! An attack, built in or defined in a suite.

use std::ops::Deref;
use std::sync::Arc;

use super::Attack;

/// An attack that can be ordered: from the registry, or defined in a suite.
#[derive(Clone)]
pub enum AnyAttack {
    Builtin(&'static dyn Attack),
    Defined(Arc<dyn Attack>),
}

impl AnyAttack {
    /// Whether a suite defines it, so that reports must describe it.
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
