//! Attacks that need no call, as inspections of the listed surface, so that `scan` and `surface-clean` can use them
//! without depending on attacks.

use std::sync::LazyLock;

use quintain_content::registry::About;
use quintain_evidence::finding::Place;
use quintain_evidence::static_finding::{FindingText, SurfaceInspection};
use quintain_evidence::surface::Surface;
use quintain_evidence::weakness::Weakness;

use super::all;
use crate::attack::{Attack, Capabilities, Hit, TargetView};
use crate::knowledge::Knowledge;

/// An attack with an [`Attack::inspect`] that reads only the listed surface.
struct Inspection(&'static dyn Attack);

static INSPECTIONS: LazyLock<Vec<Inspection>> = LazyLock::new(|| {
    let of_lists = |attack: &&dyn Attack| attack.inspects() && !attack.inspects_answers();
    all().iter().copied().filter(of_lists).map(Inspection).collect()
});

/// All attacks that read only the listed surface.
pub fn inspections() -> &'static [&'static dyn SurfaceInspection] {
    static ALL: LazyLock<Vec<&'static dyn SurfaceInspection>> =
        LazyLock::new(|| INSPECTIONS.iter().map(|one| one as &dyn SurfaceInspection).collect());
    &ALL
}

impl SurfaceInspection for Inspection {
    fn meta(&self) -> About<'_> {
        self.0.meta()
    }

    fn weakness(&self) -> Weakness<'_> {
        self.0.weakness()
    }

    fn rule(&self) -> &str {
        self.0.rule()
    }

    fn inspect(&self, surfaces: &[(String, Surface)]) -> Vec<(FindingText, Option<Place>)> {
        let (knowledge, capabilities) = (Knowledge::default(), Capabilities::default());
        let view = TargetView { surfaces, knowledge: &knowledge, capabilities: &capabilities };
        self.0.inspect(&view).into_iter().map(text).collect()
    }
}

fn text(hit: Hit) -> (FindingText, Option<Place>) {
    let Hit { place, title, what, confidence, severity, note, fault, .. } = hit;
    (FindingText { title, what, help: None, severity, confidence, note, fault }, place)
}
