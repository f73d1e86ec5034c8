//! The extension module of the Python package `collsynth`: machines, planning, judging and lowering. What is not worth
//! compiling is in Python, in `src/collsynth`.

mod arguments;
mod command;
mod control;
mod errors;
mod held;
mod job;
mod judging;
mod machine;
mod plan;
mod planning;
mod slots;

#[pyo3::pymodule]
mod _collsynth {
    #[pymodule_export]
    use super::command::{synth_call, synth_main};
    #[pymodule_export]
    use super::job::{Job, job_holding};
    #[pymodule_export]
    use super::judging::{holding, judge, judge_file};
    #[pymodule_export]
    use super::machine::Machine;
    #[pymodule_export]
    use super::plan::{Lowered, Schedule};
    #[pymodule_export]
    use super::planning::{check_plan, collective_name, planners, quantity, synthesize};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "as Python has it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
