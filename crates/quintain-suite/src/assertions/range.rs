//! Options that several assertions share: comparisons of numbers, and counts.

use quintain_content::text::js;
use quintain_source::{Fields, Node, wrong_type};

use crate::check::Spec;

/// `gt`, `gte`, `lt`, `lte`: each may be missing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bounds {
    pub(super) gt: Option<f64>,
    pub(super) gte: Option<f64>,
    pub(super) lt: Option<f64>,
    pub(super) lte: Option<f64>,
}

impl Bounds {
    pub(super) fn read(spec: &mut Spec<'_, '_>) -> Self {
        Self {
            gt: spec.number("gt"),
            gte: spec.number("gte"),
            lt: spec.number("lt"),
            lte: spec.number("lte"),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn hold(&self, number: f64) -> bool {
        self.gt.is_none_or(|bound| number > bound)
            && self.gte.is_none_or(|bound| number >= bound)
            && self.lt.is_none_or(|bound| number < bound)
            && self.lte.is_none_or(|bound| number <= bound)
    }

    /// `> 5 and <= 9`
    pub(super) fn words(&self) -> String {
        let all = [(">", self.gt), (">=", self.gte), ("<", self.lt), ("<=", self.lte)];
        let words = all
            .iter()
            .filter_map(|(sign, bound)| bound.map(|bound| format!("{sign} {}", js::number(bound))));
        words.collect::<Vec<_>>().join(" and ")
    }
}

/// An expected count: a number, or `{min, max}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

impl Count {
    pub(super) const SOME: Self = Self { min: 1, max: None };

    pub(super) fn read(spec: &mut Spec<'_, '_>) -> Option<Self> {
        let node = spec.fields.get("count")?;
        if let Some(exact) = node.as_u64() {
            return Some(Self { min: exact, max: Some(exact) });
        }
        if node.as_map().is_none() {
            wrong_type("count", "a number, or a map with `min` and `max`", node, spec.dx);
            return None;
        }
        let mut fields = Fields::of(node, "count", spec.dx)?;
        let mut bound = |name| {
            let node: &Node = fields.get(name)?;
            let bound = node.as_u64();
            if bound.is_none() {
                wrong_type(name, "a number", node, spec.dx);
            }
            bound
        };
        let (min, max) = (bound("min"), bound("max"));
        fields.finish(spec.strictness, spec.dx);
        Some(Self { min: min.unwrap_or(0), max })
    }

    pub(super) fn holds(&self, count: usize) -> bool {
        let count = count as u64;
        count >= self.min && self.max.is_none_or(|max| count <= max)
    }

    pub(super) fn words(&self) -> String {
        match (self.min, self.max) {
            (min, Some(max)) if min == max => format!("exactly {min}"),
            (0, Some(max)) => format!("at most {max}"),
            (min, Some(max)) => format!("{min} to {max}"),
            (min, None) => format!("at least {min}"),
        }
    }
}
