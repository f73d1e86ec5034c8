//! Clauses and counting constraints.
//!
//! A literal is a variable's number, negative for its negation, as in DIMACS files. [`TRUE`] and [`FALSE`] may occur in
//! any clause: constants known in advance cost neither variables nor clauses.
//!
//! * [`Cnf::at_most_one`]: pairs up to six literals, a chain of prefixes beyond (Sinz, CP 2005).
//! * [`Cnf::counter`]: a totalizer (Bailleux and Boufkhad, CP 2003), cut off at the count that matters: a balanced tree
//!   whose nodes hold, in unary, the number of true leaves below. One direction only: leaves drive outputs up.

use std::io::{self, Write};

/// The literal that always holds.
pub const TRUE: i32 = i32::MAX;
/// The literal that never holds.
pub const FALSE: i32 = -TRUE;

/// Pairs cost less than a chain up to this many literals.
const PAIRS: usize = 6;

/// Larger formulas are given up: solvers take some times their memory.
pub const MOST_LITERALS: usize = 1 << 27;

/// A formula in conjunctive normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cnf {
    variables: i32,
    clauses: usize,
    /// Literals of all clauses, each clause ended by 0.
    literals: Vec<i32>,
    /// Clauses were left out, since there are too many.
    is_full: bool,
}

impl Cnf {
    /// A new variable, as the literal that asserts it.
    pub fn variable(&mut self) -> i32 {
        self.variables += 1;
        self.variables
    }

    /// The number of variables.
    pub fn variables(&self) -> i32 {
        self.variables
    }

    /// The number of clauses.
    pub fn len(&self) -> usize {
        self.clauses
    }

    /// True if there were more than `MOST_LITERALS`: the formula says nothing.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// True if there is no clause.
    pub fn is_empty(&self) -> bool {
        self.clauses == 0
    }

    /// Adds a clause: one of these literals holds.
    pub fn clause(&mut self, literals: impl IntoIterator<Item = i32>) {
        let start = self.literals.len();
        self.is_full |= start >= MOST_LITERALS;
        if self.is_full {
            return;
        }
        for literal in literals {
            match literal {
                TRUE => return self.literals.truncate(start),
                FALSE => {}
                _ => self.literals.push(literal),
            }
        }
        self.literals.push(0);
        self.clauses += 1;
    }

    /// At most one of these literals holds.
    pub fn at_most_one(&mut self, literals: &[i32]) {
        let literals: Vec<i32> = literals.iter().copied().filter(|&literal| literal != FALSE).collect();
        if literals.len() <= PAIRS {
            for (index, &first) in literals.iter().enumerate() {
                for &second in &literals[index + 1..] {
                    self.clause([-first, -second]);
                }
            }
            return;
        }
        let mut before = FALSE;
        for (index, &literal) in literals.iter().enumerate() {
            self.clause([-before, -literal]);
            if index + 1 < literals.len() {
                let so_far = self.variable();
                self.clause([-before, so_far]);
                self.clause([-literal, so_far]);
                before = so_far;
            }
        }
    }

    /// Literals `c[0], c[1], ...`, of which `c[i]` must hold if more than `i` of those given do, for `i < most`.
    pub fn counter(&mut self, literals: &[i32], most: usize) -> Vec<i32> {
        let literals: Vec<i32> = literals.iter().copied().filter(|&literal| literal != FALSE).collect();
        self.count(&literals, most)
    }

    /// At most `most` of these literals hold.
    pub fn at_most(&mut self, literals: &[i32], most: usize) {
        if most == 1 {
            return self.at_most_one(literals);
        }
        if let Some(&beyond) = self.counter(literals, most + 1).get(most) {
            self.clause([-beyond]);
        }
    }

    fn count(&mut self, literals: &[i32], most: usize) -> Vec<i32> {
        if literals.len() <= 1 || self.is_full {
            return literals.iter().copied().take(most).collect();
        }
        let (left, right) = literals.split_at(literals.len() / 2);
        let (left, right) = (self.count(left, most), self.count(right, most));
        let sum: Vec<i32> = (0..(left.len() + right.len()).min(most)).map(|_| self.variable()).collect();
        for i in 0..=left.len() {
            if self.is_full {
                break;
            }
            for j in 0..=right.len() {
                if let Some(&reached) = (i + j).checked_sub(1).and_then(|index| sum.get(index)) {
                    let of = |side: &[i32], count: usize| count.checked_sub(1).map_or(FALSE, |index| -side[index]);
                    self.clause([of(&left, i), of(&right, j), reached]);
                }
            }
        }
        sum
    }

    /// The clauses.
    pub fn iter(&self) -> impl Iterator<Item = &[i32]> {
        self.literals.split_inclusive(|&literal| literal == 0).map(|clause| &clause[..clause.len() - 1])
    }

    /// The formula as a DIMACS file.
    ///
    /// # Errors
    ///
    /// The errors of the writer.
    pub fn write_dimacs(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "p cnf {} {}", self.variables, self.clauses)?;
        for clause in self.iter() {
            for literal in clause {
                write!(out, "{literal} ")?;
            }
            writeln!(out, "0")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Cnf, FALSE, TRUE};

    /// The numbers of true inputs for which the formula is satisfiable.
    fn satisfiable_counts(inputs: i32, cnf: &Cnf) -> Vec<bool> {
        let holds = |assignment: u32, literal: i32| (assignment >> (literal.abs() - 1) & 1 == 1) == (literal > 0);
        let mut counts = vec![false; inputs as usize + 1];
        for assignment in 0..1_u32 << cnf.variables() {
            if cnf.iter().all(|clause| clause.iter().any(|&literal| holds(assignment, literal))) {
                counts[(assignment & ((1 << inputs) - 1)).count_ones() as usize] = true;
            }
        }
        counts
    }

    #[test]
    fn counting_allows_exactly_what_it_says() {
        for inputs in 1..=7 {
            for most in 0..=3 {
                let mut cnf = Cnf::default();
                let literals: Vec<i32> = (0..inputs).map(|_| cnf.variable()).collect();
                cnf.at_most(&literals, most);
                if cnf.variables() > 20 {
                    continue;
                }
                let expected: Vec<bool> = (0..=inputs as usize).map(|count| count <= most).collect();
                assert_eq!(satisfiable_counts(inputs, &cnf), expected, "{inputs} inputs, at most {most}");
            }
        }
    }

    #[test]
    fn constants_cost_nothing() {
        let mut cnf = Cnf::default();
        let a = cnf.variable();
        cnf.clause([a, TRUE]);
        cnf.clause([FALSE, -a]);
        cnf.at_most_one(&[a, FALSE]);
        assert_eq!(cnf.iter().collect::<Vec<_>>(), [&[-1]]);
        let mut file = Vec::new();
        cnf.write_dimacs(&mut file).unwrap();
        assert_eq!(file, b"p cnf 1 1\n-1 0\n");
    }
}
