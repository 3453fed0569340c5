//! The native half of the Python package: grading, runs, a client and the command line. Values cross the border as JSON
//! text; the Python half has the classes. The interpreter's lock is released while Rust works.

mod client;
mod command;
mod grading;
mod problem;
mod runs;

use pyo3::prelude::*;

#[pymodule]
fn _quintain(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("QuintainError", module.py().get_type::<problem::QuintainError>())?;
    module.add("SuiteError", module.py().get_type::<problem::SuiteError>())?;
    module.add("TargetError", module.py().get_type::<problem::TargetError>())?;
    module.add_function(wrap_pyfunction!(command::main, module)?)?;
    module.add_function(wrap_pyfunction!(grading::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(grading::grade, module)?)?;
    module.add_function(wrap_pyfunction!(grading::convert, module)?)?;
    module.add_function(wrap_pyfunction!(runs::start, module)?)?;
    module.add_class::<runs::Run>()?;
    module.add_class::<client::Client>()?;
    Ok(())
}
