//! An expression as it is written for the engine: operands and the chains of operators between them.

use std::fmt;

pub(super) enum Node {
    /// Something that a filter can be applied to as it is.
    Whole(String),
    /// Operators of one level, applied one after the other. Operands may be chains of a level that
    /// binds tighter.
    Chain(Box<Node>, Vec<(&'static str, Node)>),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(text) => f.write_str(text),
            Self::Chain(first, rest) => {
                write!(f, "({first}|__calc(")?;
                for (at, (operator, operand)) in rest.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}'{operator}', {operand}")?;
                }
                f.write_str("))")
            }
        }
    }
}

impl Node {
    pub(super) fn chain(first: Self, rest: Vec<(&'static str, Self)>) -> Self {
        if rest.is_empty() { first } else { Self::Chain(Box::new(first), rest) }
    }

    /// `!` in front of the translation, where it binds tighter than any operator of a chain.
    pub(super) fn not(self) -> Self {
        match self {
            Self::Whole(text) => Self::Whole(format!("(not {text})")),
            Self::Chain(first, rest) => Self::Chain(Box::new(first.not()), rest),
        }
    }

    pub(super) fn filtered(&self, filter: &str) -> Self {
        Self::Whole(format!("({self}|{filter})"))
    }
}

/// Operands and the operators between them.
pub(super) struct Terms {
    pub(super) first: Node,
    pub(super) rest: Vec<(&'static str, Node)>,
}

impl Terms {
    pub(super) fn append(&mut self, operator: &'static str, other: Self) {
        self.rest.push((operator, other.first));
        self.rest.extend(other.rest);
    }

    pub(super) fn node(self) -> Node {
        Node::chain(self.first, self.rest)
    }
}
