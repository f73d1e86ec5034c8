//! The open shop: jobs that visit machines a given number of times, in any order, one machine a step.
//!
//! Jobs and machines form a bipartite multigraph, an edge per visit; a schedule colors the edges with steps such that
//! no color meets a job twice, nor a machine more often than its room in that step. With equal widths, by Koenig's
//! theorem (1916), a schedule exists if no job has more visits than there are steps and no machine more than its room
//! in all of them. So one flow chooses the visits of the first half of the steps, which leaves two shops of half the
//! length, side by side, down to a step each. Where the first steps are a unit wider than the others, the first flow
//! parts these, and each side has equal widths (compare de Werra 1971 on equitable colorings). Every choice is an
//! integral flow with lower bounds.

use petgraph::graph::DiGraph;

/// Remaining visits, `[job * machines + machine]`, and the room of the machines.
pub(super) struct Shop {
    /// Visits, at most 255 of a job to a machine.
    pub visits: Vec<u8>,
    /// Room of each machine in a step of width 1.
    pub capacity: Vec<u32>,
}

/// The machine a job visits in a step; `None`: it rests.
pub(super) type Visit = Option<u8>;

impl Shop {
    fn machines(&self) -> usize {
        self.capacity.len()
    }

    pub fn jobs(&self) -> usize {
        self.visits.len() / self.machines().max(1)
    }

    pub fn load(&self, machine: usize) -> u64 {
        self.visits.iter().skip(machine).step_by(self.machines()).map(|&visits| u64::from(visits)).sum()
    }

    fn length(&self, job: usize) -> u32 {
        self.visits[job * self.machines()..][..self.machines()].iter().map(|&visits| u32::from(visits)).sum()
    }

    /// The visits by `[step][job]`, where step `t` has room for `widths[t]` times the capacity of a machine; `None` if
    /// the wide steps cannot be filled, or a job has more visits than there are steps. `widths` falls by at most one,
    /// once.
    pub fn schedule(self, widths: &[u32]) -> Option<Vec<Vec<Visit>>> {
        if widths.len() <= 1 {
            let now = self.select(widths, &[])?;
            let visit = |job: &[u8]| job.iter().position(|&visits| visits > 0).map(|machine| machine as u8);
            return Some(widths.iter().map(|_| now.chunks(self.machines()).map(visit).collect()).collect());
        }
        let wide = widths.iter().take_while(|&&width| width == widths[0]).count();
        let first = if wide < widths.len() { wide } else { widths.len() / 2 };
        let (now, later) = widths.split_at(first);
        let chosen = Shop { visits: self.select(now, later)?, capacity: self.capacity.clone() };
        let left = self.visits.iter().zip(&chosen.visits).map(|(all, chosen)| all - chosen).collect();
        let rest = Shop { visits: left, capacity: self.capacity };
        let (first, second) = rayon::join(|| chosen.schedule(now), || rest.schedule(later));
        Some([first?, second?].concat())
    }

    /// Chooses the visits of the steps of widths `now` such that the rest may still fit in those of `later`: at most
    /// one visit per job and step, and width times capacity visits per machine. `None` if there is no such choice. One
    /// maximum flow: source - jobs - machines - sink, with lower bounds moved to a second pair of terminals.
    fn select(&self, now: &[u32], later: &[u32]) -> Option<Vec<u8>> {
        let (jobs, machines) = (self.jobs(), self.machines());
        let total = |widths: &[u32]| widths.iter().map(|&width| u64::from(width)).sum::<u64>();
        let mut flow = FlowWithFloors::new(jobs + machines + 2);
        let (source, sink) = (jobs + machines, jobs + machines + 1);
        for job in 0..jobs {
            let length = self.length(job);
            let floor = length.saturating_sub(later.len() as u32);
            flow.edge(source, job, floor, length.min(now.len() as u32))?;
        }
        let first_choice = flow.graph.edge_count();
        let wanted = || self.visits.iter().enumerate().filter(|(_, visits)| **visits > 0);
        for (choice, &visits) in wanted() {
            flow.edge(choice / machines, jobs + choice % machines, 0, u32::from(visits).min(now.len() as u32))?;
        }
        for (machine, &capacity) in self.capacity.iter().enumerate() {
            let load = self.load(machine);
            let floor = load.saturating_sub(total(later) * u64::from(capacity));
            let ceiling = load.min(total(now) * u64::from(capacity));
            flow.edge(jobs + machine, sink, u32::try_from(floor).ok()?, u32::try_from(ceiling).ok()?)?;
        }
        let flows = flow.solve(source, sink)?;
        let mut chosen = vec![0; self.visits.len()];
        for ((choice, _), &visits) in wanted().zip(&flows[first_choice..]) {
            chosen[choice] = visits as u8;
        }
        Some(chosen)
    }
}

struct FlowWithFloors {
    graph: DiGraph<(), u32>,
    /// Per node: the floors of its incoming edges, minus those of its outgoing ones.
    excess: Vec<i64>,
}

impl FlowWithFloors {
    fn new(nodes: usize) -> Self {
        let mut graph = DiGraph::with_capacity(nodes + 2, 0);
        for _ in 0..nodes {
            graph.add_node(());
        }
        Self { graph, excess: vec![0; nodes] }
    }

    /// Adds an edge that must carry between `floor` and `ceiling`; `None` if that is no range.
    fn edge(&mut self, from: usize, to: usize, floor: u32, ceiling: u32) -> Option<()> {
        let room = ceiling.checked_sub(floor)?;
        self.graph.add_edge((from as u32).into(), (to as u32).into(), room);
        self.excess[from] -= i64::from(floor);
        self.excess[to] += i64::from(floor);
        Some(())
    }

    /// The amount above its floor that each edge carries, in the order of insertion, in a flow from source to sink
    /// within all bounds; `None` if there is none.
    fn solve(mut self, source: usize, sink: usize) -> Option<Vec<u32>> {
        self.graph.add_edge((sink as u32).into(), (source as u32).into(), u32::MAX);
        let (above, below) = (self.graph.add_node(()), self.graph.add_node(()));
        let mut wanted = 0;
        for (node, &excess) in self.excess.iter().enumerate() {
            let (from, to) = if excess > 0 { (above, (node as u32).into()) } else { ((node as u32).into(), below) };
            let amount = u32::try_from(excess.unsigned_abs()).ok()?;
            if amount > 0 {
                self.graph.add_edge(from, to, amount);
                wanted += if excess > 0 { amount } else { 0 };
            }
        }
        let (value, flows) = petgraph::algo::dinics(&self.graph, above, below);
        (value == wanted).then_some(flows)
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use itertools::Itertools;

    use super::*;
    use crate::model::widths::even_widths;

    /// A shop whose jobs have at most `steps` visits each.
    fn shop(rng: &mut Rng, steps: u8) -> Shop {
        let (jobs, machines) = (rng.usize(1..40), rng.usize(1..5));
        let mut visits = vec![0; jobs * machines];
        for job in visits.chunks_mut(machines) {
            (0..rng.u8(0..=steps)).for_each(|_| job[rng.usize(..machines)] += 1);
        }
        Shop { visits, capacity: (0..machines).map(|_| rng.u32(1..3)).collect() }
    }

    /// The steps, even widths in which all machines have room, and the shop.
    fn cases() -> impl Iterator<Item = (u8, Vec<u32>, Shop)> {
        let mut rng = Rng::with_seed(7);
        (0..300).map(move |_| {
            let steps = rng.u8(1..12);
            let shop = shop(&mut rng, steps);
            let busiest = (0..shop.machines()).map(|m| shop.load(m).div_ceil(u64::from(shop.capacity[m]))).max();
            (steps, even_widths(busiest.unwrap_or(0) as u32, u32::from(steps)), shop)
        })
    }

    #[test]
    fn every_visit_is_made_once_and_machines_have_room() {
        for (_, widths, shop) in cases() {
            let (machines, mut left, capacity) = (shop.machines(), shop.visits.clone(), shop.capacity.clone());
            let steps = shop.schedule(&widths).expect("there is one, by Koenig's theorem");
            assert_eq!(steps.len(), widths.len());
            for (step, &width) in steps.iter().zip(&widths) {
                let met = step.iter().flatten().counts();
                assert!(met.iter().all(|(&&machine, &jobs)| jobs as u32 <= width * capacity[usize::from(machine)]));
                for (job, machine) in step.iter().enumerate().filter_map(|(job, machine)| Some((job, (*machine)?))) {
                    left[job * machines + usize::from(machine)] -= 1;
                }
            }
            assert!(left.iter().all(|&visits| visits == 0));
        }
    }

    #[test]
    fn a_job_too_long_for_the_steps_is_refused() {
        for (steps, widths, mut shop) in cases() {
            shop.visits[0] += steps + 1;
            assert!(shop.schedule(&widths.iter().map(|width| width + 100).collect::<Vec<_>>()).is_none());
        }
    }
}
