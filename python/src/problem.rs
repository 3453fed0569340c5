//! Errors as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(_quintain, QuintainError, PyException, "Anything that Quintain cannot do.");
create_exception!(_quintain, SuiteError, QuintainError, "A suite or a request that is not valid.");
create_exception!(
    _quintain,
    TargetError,
    QuintainError,
    "A target that cannot be reached or used."
);
