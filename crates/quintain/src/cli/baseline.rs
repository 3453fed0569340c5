//! `--baseline FILE`: accepted findings.

use std::path::Path;

use quintain_redteam::accepted_findings::{Suppression, read_suppressions};
use quintain_source::{Diagnostics, Renderer, SourceFile, Sources};

use super::App;
use crate::exit::Exit;

/// Reads the accepted findings of a file. Prints all errors in the file.
pub(super) fn read(file: &Path, app: &App) -> Result<Vec<Suppression>, Exit> {
    let text = std::fs::read_to_string(app.context.cwd.join(file)).map_err(|error| {
        app.console.error(&format!("cannot read `{}`: {error}", file.display()), None);
        Exit::Usage
    })?;
    let (mut sources, mut dx) = (Sources::new(), Diagnostics::new());
    let id = sources.add(SourceFile::new(file.display().to_string(), text));
    let found = quintain_source::read(&sources, id, &mut dx)
        .map(|node| read_suppressions(&node, &mut dx))
        .unwrap_or_default();
    if !dx.is_empty() {
        let renderer =
            if app.console.colours_errors() { Renderer::coloured() } else { Renderer::plain() };
        app.console.drawn(renderer.render_all(&sources, &dx).trim_end());
    }
    if dx.has_errors() { Err(Exit::Usage) } else { Ok(found) }
}

/// Today's date, such as `2027-01-31`, to check whether an acceptance has expired.
pub(super) fn today(app: &App) -> String {
    app.context.now().chars().take(10).collect()
}
