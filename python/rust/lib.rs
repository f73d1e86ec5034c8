//! The extension module of the Python package `collsynth`: machines, planning, judging and lowering. What is not worth
//! compiling is in Python, in `src/collsynth`.

mod control;
mod errors;
mod judging;
mod machine;
mod plan;
mod planning;
mod slots;

#[pyo3::pymodule]
mod _collsynth {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::judging::{holding, judge, judge_file};
    #[pymodule_export]
    use super::machine::Machine;
    #[pymodule_export]
    use super::plan::{Lowered, Schedule};
    #[pymodule_export]
    use super::planning::{planners, quantity, synthesize};

    /// Runs the command `synth` with these words, the first of them its name; returns the exit code.
    #[pyfunction]
    fn synth_main(py: Python<'_>, words: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| collsynth::cli::run(words))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
