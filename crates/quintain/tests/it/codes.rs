//! Checks that some golden case shows every diagnostic in the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use regex::Regex;

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("diagnostics::every_code_has_a_case", || {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let crates = here.join("..");
        let mut made = BTreeSet::new();
        for name in
            ["quintain-source", "quintain-suite", "quintain-redteam", "quintain-engine", "quintain"]
        {
            collect(&crates.join(name).join("src"), &mut made, |name| {
                Path::new(name).extension().is_some_and(|suffix| suffix == "rs")
            })?;
        }
        let mut shown = BTreeSet::new();
        collect(&here.join("tests/it/cases"), &mut shown, |name| name == "stderr")?;
        // Only a restricted policy forbids anything; the tests of the engine show it.
        made.remove("config::not-allowed");
        let missing: Vec<_> = made.difference(&shown).cloned().collect();
        if missing.is_empty() && !made.is_empty() {
            return Ok(());
        }
        Err(format!("no case shows {}", missing.join(", ")).into())
    })]
}

/// The codes that the files of a folder mention.
fn collect(
    folder: &Path,
    codes: &mut BTreeSet<String>,
    wanted: fn(&str) -> bool,
) -> Result<(), Failed> {
    let code = Regex::new(r"config::[a-z0-9]+(?:-[a-z0-9]+)*")?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, codes, wanted)?;
        } else if path.file_name().is_some_and(|name| wanted(&name.to_string_lossy())) {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            codes.extend(code.find_iter(&text).map(|found| found.as_str().to_owned()));
        }
    }
    Ok(())
}
