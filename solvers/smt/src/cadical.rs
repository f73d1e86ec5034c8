//! CaDiCaL, through its C interface: the crate `cadical` builds and links the library, but its Rust interface cannot
//! trace proofs. All unsafe code of this workspace is here.
//!
//! Source: Biere, Faller, Fazekas, Fleury, Froleyks, Pollitt, "CaDiCaL 2.0", CAV 2024; the library is version 1.9.5.

#![allow(unsafe_code, reason = "calls of a C library")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::{fs, io};

// Links the library.
use cadical as _;

use crate::cnf::Cnf;
use crate::solver::{Limits, ProofForm, Verdict};

const SATISFIABLE: c_int = 10;
const UNSATISFIABLE: c_int = 20;

unsafe extern "C" {
    fn ccadical_init() -> *mut c_void;
    fn ccadical_release(solver: *mut c_void);
    fn ccadical_add(solver: *mut c_void, literal: c_int);
    fn ccadical_solve(solver: *mut c_void) -> c_int;
    fn ccadical_val(solver: *mut c_void, literal: c_int) -> c_int;
    fn ccadical_set_option(solver: *mut c_void, name: *const c_char, value: c_int);
    fn ccadical_limit(solver: *mut c_void, name: *const c_char, limit: c_int);
    fn ccadical_set_terminate(
        solver: *mut c_void,
        state: *mut c_void,
        terminate: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    );
    fn ccadical_read_dimacs(
        solver: *mut c_void,
        path: *const c_char,
        variables: *mut c_int,
        strict: c_int,
    ) -> *const c_char;
    fn ccadical_trace_proof(solver: *mut c_void, file: *mut c_void, path: *const c_char) -> c_int;
    fn ccadical_close_proof(solver: *mut c_void);
    // Of the C library.
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void;
    fn fclose(file: *mut c_void) -> c_int;
}

pub fn solve(cnf: &Cnf, limits: &Limits<'_>) -> Verdict {
    Solver::new().solve(cnf, limits)
}

/// Solves the formula of a DIMACS file, and returns the trace: the proof of its refutation, if it is refuted. The
/// solver reads the file itself, since only then does the proof number its clauses as the file does.
///
/// # Errors
///
/// If there is no room for temporary files.
pub fn solve_with_proof(dimacs: &[u8], limits: &Limits<'_>, form: ProofForm) -> io::Result<(bool, Vec<u8>)> {
    let (formula, proof) = (tempfile::NamedTempFile::new()?, tempfile::NamedTempFile::new()?);
    fs::write(formula.path(), dimacs)?;
    let name = |file: &tempfile::NamedTempFile| {
        let name = file.path().to_str().and_then(|path| CString::new(path).ok());
        name.ok_or_else(|| io::Error::other("the name of the temporary folder is not text"))
    };
    let (formula_name, proof_name) = (name(&formula)?, name(&proof)?);
    let mut solver = Solver::new();
    solver.set_option(c"binary", 0);
    solver.set_option(c"lrat", c_int::from(form == ProofForm::Lrat));
    // SAFETY: both strings end with a zero byte.
    let file = unsafe { fopen(proof_name.as_ptr(), c"w".as_ptr()) };
    if file.is_null() {
        return Err(io::Error::last_os_error());
    }
    let mut variables = 0;
    // SAFETY: the solver is alive and has no clauses yet; the file is open until after the trace is closed; the names
    // end with a zero byte.
    let unread = unsafe {
        ccadical_trace_proof(solver.0, file, proof_name.as_ptr());
        !ccadical_read_dimacs(solver.0, formula_name.as_ptr(), &raw mut variables, 0).is_null()
    };
    let answer = if unread { 0 } else { solver.search(limits) };
    // SAFETY: as above; the solver does not write after the trace is closed.
    let closed = unsafe {
        ccadical_close_proof(solver.0);
        drop(solver);
        fclose(file)
    };
    match (unread, closed) {
        (true, _) => Err(io::Error::other("the solver cannot read the formula")),
        (_, 0) => Ok((answer == UNSATISFIABLE, fs::read(proof.path())?)),
        _ => Err(io::Error::last_os_error()),
    }
}

struct Solver(*mut c_void);

impl Solver {
    fn new() -> Self {
        // SAFETY: returns a new solver, which only this owns.
        Self(unsafe { ccadical_init() })
    }

    fn set_option(&mut self, name: &std::ffi::CStr, value: c_int) {
        // SAFETY: the solver is alive, the name ends with a zero byte.
        unsafe { ccadical_set_option(self.0, name.as_ptr(), value) }
    }

    fn solve(&mut self, cnf: &Cnf, limits: &Limits<'_>) -> Verdict {
        for clause in cnf.iter() {
            // SAFETY: the solver is alive.
            clause.iter().chain(&[0]).for_each(|&literal| unsafe { ccadical_add(self.0, literal) });
        }
        match self.search(limits) {
            SATISFIABLE => {
                // SAFETY: the solver has just found a model.
                let value = |variable: i32| unsafe { ccadical_val(self.0, variable) };
                Verdict::Model((1..=cnf.variables()).map(|variable| value(variable) > 0).collect())
            }
            UNSATISFIABLE => Verdict::Refuted,
            _ => Verdict::Unknown,
        }
    }

    fn search(&mut self, limits: &Limits<'_>) -> c_int {
        let mut stop = limits.stop;
        // SAFETY: the solver is alive; `stop` outlives the search, and is called only during it.
        unsafe {
            if let Some(conflicts) = limits.conflicts {
                ccadical_limit(self.0, c"conflicts".as_ptr(), c_int::try_from(conflicts).unwrap_or(c_int::MAX));
            }
            ccadical_set_terminate(self.0, (&raw mut stop).cast(), Some(terminate));
            let answer = ccadical_solve(self.0);
            ccadical_set_terminate(self.0, std::ptr::null_mut(), None);
            answer
        }
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        // SAFETY: the solver is alive and is not used again.
        unsafe { ccadical_release(self.0) }
    }
}

unsafe extern "C" fn terminate(state: *mut c_void) -> c_int {
    // SAFETY: the state is the function that `solve` passes, which lives during the search.
    let stop = unsafe { *state.cast::<&dyn Fn() -> bool>() };
    c_int::from(stop())
}
