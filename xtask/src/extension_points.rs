//! Proves the lists of files in CONTRIBUTING.md. An example of every extension point is added to a copy of the workspace,
//! in the listed files and nowhere else; the copy is built, and each example is used through the binary.

mod copy;
mod examples;
mod proofs;
mod recipes;

use std::{collections::BTreeSet, fs, path::PathBuf};

use crate::{Result, stage::Note, workspace::Workspace};
use copy::{Copy, Overlay};
use examples::EXAMPLES;
use proofs::Binary;

const CONTRIBUTING: &str = "CONTRIBUTING.md";

pub(crate) fn run(workspace: &Workspace) -> Result<Note> {
    let text = fs::read_to_string(workspace.root.join(CONTRIBUTING));
    let recipes = recipes::read(&text.map_err(|error| format!("{CONTRIBUTING}: {error}"))?)?;
    for recipe in &recipes {
        if !EXAMPLES.iter().any(|example| example.point == recipe.point) {
            let point = &recipe.point;
            return Err(format!("{CONTRIBUTING} lists files for \"{point}\", without an example"));
        }
    }
    let mut overlay = Overlay::new(&workspace.root);
    let (mut listed, mut added) = (BTreeSet::new(), Vec::new());
    for example in EXAMPLES {
        let recipe = recipes.iter().find(|recipe| recipe.point == example.point);
        let missing = || format!("{CONTRIBUTING} lists no files for \"{}\"", example.point);
        let files = example.apply(recipe.ok_or_else(missing)?, &mut overlay)?;
        added.extend(files.last().cloned());
        listed.extend(files);
    }
    let folder = workspace.target.join("extension-points");
    let copy = Copy::new(workspace, folder.join("workspace"), &overlay)?;
    copy.check_format(&added)?;
    let target = folder.join("target");
    copy::seed(&workspace.target.join("debug"), &target.join("debug"))?;
    copy.build(&target)?;
    let changed = copy.changed()?;
    if changed != listed {
        let shown = |files: &BTreeSet<PathBuf>| format!("{files:?}");
        return Err(format!(
            "the examples changed {}, but {CONTRIBUTING} lists {}",
            shown(&changed),
            shown(&listed)
        ));
    }
    let binary = Binary::new(target.join("debug/quintain"), folder.join("proofs"))?;
    for example in EXAMPLES {
        let proved = (example.prove)(&binary)
            .map_err(|error| format!("the example of \"{}\": {error}", example.point))?;
        let count = recipes.iter().find(|recipe| recipe.point == example.point);
        let count = count.map_or(0, |recipe| recipe.files.len());
        println!("- {}: {count} files; {proved}", example.point);
    }
    Ok(Some(format!("{} examples", EXAMPLES.len())))
}
