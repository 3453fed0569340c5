//! What a suite orders, with complaints about it said.

use std::path::Path;

use quintain_engine::secrets::learn;
use quintain_redteam::orders::{Orders, Reading};
use quintain_source::{Diagnostics, Renderer, Severity as Weight};
use quintain_suite::demands::DemandReader;

use crate::cli::Desk;
use crate::cli::suite::Opened;
use crate::exit::Exit;

/// The orders of a suite; everything there is without one.
pub(in crate::cli) fn of_suite(opened: Option<&Opened>, desk: &Desk) -> Result<Orders, Exit> {
    let mut dx = Diagnostics::new();
    let tests = opened.map(|opened| &opened.suite.tests);
    let theirs = opened.is_some_and(|opened| {
        opened.files.iter().any(|file| file.name.contains("promptfooconfig"))
    });
    let reading = Reading {
        base_dir: tests.map_or(Path::new(""), |tests| &tests.redteam_dir),
        strictness: if theirs { Weight::Warning } else { Weight::Error },
        demands: &DemandReader { files: &*desk.files },
    };
    let orders = Orders::read(tests.and_then(|tests| tests.redteam.as_ref()), &reading, &mut dx);
    if let (false, Some(opened)) = (dx.is_empty(), opened) {
        let renderer =
            if desk.console.colours_errors() { Renderer::coloured() } else { Renderer::plain() };
        desk.console.err(renderer.render_all(&opened.sources, &dx).trim_end());
    }
    learn(&orders.secrets(), &desk.redactor);
    if dx.has_errors() { Err(Exit::Usage) } else { Ok(orders) }
}

/// The attacks that the command line names, in the place of those of the suite.
pub(super) fn choose(orders: &mut Orders, names: &[String], desk: &Desk) -> Result<(), Exit> {
    if names.is_empty() {
        return Ok(());
    }
    orders.plugins.clear();
    orders.not_run.clear();
    let mut known = true;
    for name in names {
        if let Err(meant) = orders.add(name.trim(), None, None) {
            let help = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "`quintain redteam plugins` shows all of them".to_owned(),
            };
            desk.console.error(&format!("there is no attack `{}`", name.trim()), Some(&help));
            known = false;
        }
    }
    if known { Ok(()) } else { Err(Exit::Usage) }
}
