//! Which operations of a program are ordered in every run.
//!
//! Found twice: as the transitive closure of program order, waits and packets, and by runs that hold back one operation
//! for as long as anything else can go on. Channels have any room here.

use super::file::ProgramFile;

/// An operation: rank, worker, number.
pub type Place = (usize, usize, usize);

/// The operations of a program, the packets between them, and who comes before whom.
pub struct Orders {
    /// Every operation.
    pub places: Vec<Place>,
    /// For each channel, the operations that send its packets.
    pub senders: Vec<Vec<usize>>,
    /// For each channel, the operations that receive its packets.
    pub receivers: Vec<Vec<usize>>,
    edges: Vec<(usize, usize)>,
    before: Vec<Vec<bool>>,
}

impl Orders {
    /// Works out the orders of a well-formed program.
    pub fn of(file: &ProgramFile) -> Self {
        let mut places = Vec::new();
        for (rank, workers) in file.workers.iter().enumerate() {
            for (worker, operations) in workers.iter().enumerate() {
                places.extend((0..operations.len()).map(|number| (rank, worker, number)));
            }
        }
        let operation = |at: usize| {
            let (rank, worker, number) = places[at];
            &file.workers[rank][worker][number]
        };
        let all = 0..places.len();
        // The operations of an end are in the order of their worker: no other uses it.
        let of_channel = |used: &dyn Fn(usize) -> Option<usize>| -> Vec<Vec<usize>> {
            (0..file.channels.len()).map(|c| all.clone().filter(|&at| used(at) == Some(c)).collect()).collect()
        };
        let senders = of_channel(&|at| operation(at).sends);
        let receivers = of_channel(&|at| operation(at).receives);
        let mut edges = Vec::new();
        for at in all.clone() {
            let (rank, worker, number) = places[at];
            let previous = number.checked_sub(1).map(|number| (rank, worker, number));
            let awaited = operation(at).wait.map(|(worker, number)| (rank, worker, number));
            for other in previous.into_iter().chain(awaited) {
                edges.push((places.iter().position(|&place| place == other).expect("it is well-formed"), at));
            }
        }
        for (senders, receivers) in senders.iter().zip(&receivers) {
            edges.extend(senders.iter().copied().zip(receivers.iter().copied()));
        }
        let before = closure(places.len(), &edges);
        Self { places, senders, receivers, edges, before }
    }

    /// Does an operation finish before another begins, in every run?
    pub fn before(&self, first: usize, second: usize) -> bool {
        self.before[first][second]
    }

    /// Can `second` be finished while `first` has not begun? Asked of a run in which everything but `first` goes on.
    pub fn overtakes(&self, second: usize, first: usize) -> bool {
        let mut finished = vec![false; self.places.len()];
        loop {
            let ready = |at: usize| self.edges.iter().all(|&(from, to)| to != at || finished[from]);
            let Some(next) = (0..finished.len()).find(|&at| at != first && !finished[at] && ready(at)) else {
                return finished[second];
            };
            finished[next] = true;
        }
    }
}

fn closure(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut before = vec![vec![false; count]; count];
    for &(from, to) in edges {
        before[from][to] = true;
    }
    for middle in 0..count {
        for from in 0..count {
            if before[from][middle] {
                let further = before[middle].clone();
                before[from].iter_mut().zip(further).for_each(|(known, further)| *known |= further);
            }
        }
    }
    before
}
