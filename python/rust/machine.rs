//! Machines.

use collsynth::cli;
use collsynth::format::json;
use collsynth::grouping::{GroupingError, boxes, dimensions, spanned};
use collsynth::report::machine::to_text;
use collsynth::topology::{GraphLink, RankId, Shape, Topology, TopologySpec, Torus};
use pyo3::prelude::*;

use crate::errors;
use crate::judging::limits;

/// A machine: ranks, directed links, and what failed.
#[pyclass(frozen, module = "collsynth._collsynth")]
pub struct Machine(pub Topology);

#[pymethods]
impl Machine {
    /// A torus; empty lists: the defaults.
    #[staticmethod]
    fn torus(py: Python<'_>, extents: Vec<u32>, wrap: Vec<bool>, capacity: Vec<u32>) -> PyResult<Self> {
        built(py, TopologySpec::new(Shape::Torus(Torus { wrap, capacity, ..Torus::new(&extents) })))
    }

    /// An explicit graph of directed links: from, to, capacity.
    #[staticmethod]
    fn graph(py: Python<'_>, ranks: u32, links: Vec<(u32, u32, u32)>) -> PyResult<Self> {
        let link = |(from, to, capacity)| GraphLink { from: RankId(from), to: RankId(to), capacity };
        built(py, TopologySpec::new(Shape::Graph { ranks, links: links.into_iter().map(link).collect() }))
    }

    /// The machine of a topology file, or of a file of ours that states one.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let is_planned = json::is_schedule(text) || json::is_job(text) || json::is_program(text);
        let read = match is_planned {
            true => json::parse_machine_within(text, &limits(py)?),
            false => json::parse_topology_within(text, &limits(py)?).map(Some),
        };
        match read {
            Ok(Some(spec)) => built(py, spec),
            Ok(None) => Err(errors::usage(py, &format!("{name}: this states no machine"))),
            Err(error) => Err(errors::unreadable(py, name, &error)),
        }
    }

    /// The same with a link failed; with `both`, the whole cable.
    fn fail(&self, py: Python<'_>, stated: &str, both: bool) -> PyResult<Self> {
        let mut spec = self.0.spec().clone();
        let failed = cli::failed_link(&self.0, stated, both);
        spec.failed_links.push(failed.map_err(|failure| errors::failure(py, &failure))?);
        built(py, spec)
    }

    /// The same with a switch between cells dead; of no period, cells of 4 ranks along every dimension.
    #[pyo3(signature = (stated, period))]
    fn fail_switch(&self, py: Python<'_>, stated: &str, period: Option<&str>) -> PyResult<Self> {
        let failed = cli::failed_switch(&self.0, stated, period);
        failed.map(Self).map_err(|failure| errors::failure(py, &failure))
    }

    /// The same with a rank failed.
    fn fail_rank(&self, py: Python<'_>, rank: &str) -> PyResult<Self> {
        let mut spec = self.0.spec().clone();
        spec.failed_ranks.push(self.named(py, rank)?);
        built(py, spec)
    }

    /// The rank of this number or these coordinates.
    fn rank(&self, py: Python<'_>, text: &str) -> PyResult<u32> {
        Ok(self.named(py, text)?.0)
    }

    /// The ranks of each group that these dimensions span (`xy`: the planes), on a torus.
    fn spanned(&self, py: Python<'_>, text: &str) -> PyResult<Vec<Vec<u32>>> {
        let dims = dimensions(text)
            .ok_or_else(|| errors::usage(py, &format!("`{text}` names no dimensions: write them as in xy, or d6")))?;
        grouped(py, spanned(&self.0, &dims))
    }

    /// The ranks of each box of these extents, on a torus that they divide.
    fn boxes(&self, py: Python<'_>, extents: Vec<u32>) -> PyResult<Vec<Vec<u32>>> {
        grouped(py, boxes(&self.0, &extents))
    }

    /// The same text as `synth topology --format json`.
    fn to_json(&self) -> String {
        json::topology_to_string(self.0.spec())
    }

    /// The machine in a few words.
    fn describe(&self) -> String {
        self.0.to_string()
    }

    /// The machine with all its links, for people.
    fn table(&self) -> String {
        to_text(&self.0)
    }

    /// The number of ranks, failed ones included.
    #[getter]
    fn rank_count(&self) -> usize {
        self.0.rank_count()
    }

    /// The ranks that did not fail.
    #[getter]
    fn live_ranks(&self) -> Vec<u32> {
        self.0.live_ranks().map(|rank| rank.0).collect()
    }

    /// Every directed link: from, to, capacity, direction, alive.
    #[getter]
    fn links(&self) -> Vec<(u32, u32, u32, Option<String>, bool)> {
        let links = self.0.links().iter();
        links
            .map(|link| (link.from.0, link.to.0, link.capacity, link.direction.map(|of| of.to_string()), link.alive))
            .collect()
    }

    /// Extents, wrap and capacity of a torus.
    #[getter]
    fn torus_shape(&self) -> Option<(Vec<u32>, Vec<bool>, Vec<u32>)> {
        self.0.as_torus().map(|torus| (torus.extents.clone(), torus.wrap.clone(), torus.capacity.clone()))
    }
}

impl Machine {
    fn named(&self, py: Python<'_>, text: &str) -> PyResult<RankId> {
        self.0.parse_rank(text).map_err(|error| errors::machine(py, &error))
    }
}

fn grouped(py: Python<'_>, groups: Result<Vec<Vec<RankId>>, GroupingError>) -> PyResult<Vec<Vec<u32>>> {
    let numbers = |ranks: Vec<RankId>| ranks.into_iter().map(|rank| rank.0).collect();
    match groups {
        Ok(groups) => Ok(groups.into_iter().map(numbers).collect()),
        Err(error) => Err(errors::usage(py, &error.to_string())),
    }
}

fn built(py: Python<'_>, spec: TopologySpec) -> PyResult<Machine> {
    Topology::new(spec).map(Machine).map_err(|error| errors::machine(py, &error))
}
