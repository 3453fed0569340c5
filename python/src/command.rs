//! The command line, for `quintain` and `python -m quintain`.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// Runs one command and returns its exit code. `program` is a file that starts this command again.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>, program: PathBuf) -> u8 {
    py.detach(|| quintain::run_command(quintain::Invocation { arguments, program }))
}
