//! `--baseline FILE`: accepted findings.

use std::path::Path;

use quintain_redteam::baseline::{Suppression, read_suppressions};
use quintain_source::{Diagnostics, Renderer, SourceFile, Sources};

use super::Desk;
use crate::exit::Exit;

/// Reads the accepted findings of a file. Prints all errors in the file.
pub(super) fn read(file: &Path, desk: &Desk) -> Result<Vec<Suppression>, Exit> {
    let text = std::fs::read_to_string(desk.context.cwd.join(file)).map_err(|error| {
        desk.console.error(&format!("cannot read `{}`: {error}", file.display()), None);
        Exit::Usage
    })?;
    let (mut sources, mut dx) = (Sources::new(), Diagnostics::new());
    let id = sources.add(SourceFile::new(file.display().to_string(), text));
    let found = quintain_source::read(&sources, id, &mut dx)
        .map(|node| read_suppressions(&node, &mut dx))
        .unwrap_or_default();
    if !dx.is_empty() {
        let renderer =
            if desk.console.colours_errors() { Renderer::coloured() } else { Renderer::plain() };
        desk.console.err(renderer.render_all(&sources, &dx).trim_end());
    }
    if dx.has_errors() { Err(Exit::Usage) } else { Ok(found) }
}

/// Today's date, such as `2027-01-31`, to check whether an acceptance has expired.
pub(super) fn today(desk: &Desk) -> String {
    desk.context.now().chars().take(10).collect()
}
