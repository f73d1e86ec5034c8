//! Arguments whose types the stubs state in full.

use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::{type_hint_identifier, type_hint_subscript};

use crate::errors;

const STR: PyStaticExpr = type_hint_identifier!("builtins", "str");
const INT: PyStaticExpr = type_hint_identifier!("builtins", "int");
const OBJECT: PyStaticExpr = type_hint_identifier!("builtins", "object");

/// A function that is told of progress: planner, attempt, round and the conflicts that remain.
pub struct Callback<'py>(Bound<'py, PyAny>);

impl Callback<'_> {
    /// Calls it; what it raises is the error.
    pub fn tell(&self, report: (String, String, u64, u64)) -> PyResult<()> {
        self.0.call1(report).map(|_| ())
    }
}

impl<'py> FromPyObject<'_, 'py> for Callback<'py> {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = type_hint_subscript!(
        type_hint_identifier!("collections.abc", "Callable"),
        PyStaticExpr::List { elts: &[STR, STR, INT, INT] },
        OBJECT
    );

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.is_callable() {
            true => Ok(Self(object.to_owned())),
            false => Err(errors::usage(object.py(), &format!("progress is a function, not {}", object.repr()?))),
        }
    }
}

/// The items of a mapping, as the fields of what is asked for. The stubs do not state the type of each: the generator
/// has no typed dictionaries.
pub struct Fields<T>(pub T);

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Fields<T> {
    type Error = T::Error;

    const INPUT_TYPE: PyStaticExpr =
        type_hint_subscript!(type_hint_identifier!("collections.abc", "Mapping"), STR, OBJECT);

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> Result<Self, Self::Error> {
        T::extract(object).map(Self)
    }
}
