//! A machine of one or two dimensions as text, for a terminal: the load of every link.
//!
//! ```text
//!         +6 -6      +6 -6
//!    2  +5 -4    3  +6 -6       the second row: rank 2, 5 chunks to rank 3 and 4 back, rank 3, ...
//!         +6 -6      +6 -6      between rows: 6 chunks to the rank above, 6 to the rank below
//!    0  ## ##    1  +6 -6       a dead cable; at the ends of rows and columns, links that wrap
//! ```

use collsynth_core::problem::Problem;
use collsynth_core::topology::{Direction, LinkId, RankId, Topology};

/// The map, with a load for each link; `None` if the machine is no torus of one or two dimensions longer than 1.
pub fn map(problem: &Problem, load: impl Fn(LinkId) -> u64) -> Option<String> {
    let topology = problem.machine();
    let torus = topology.as_torus()?;
    let long: Vec<u8> = (0..torus.extents.len()).filter(|&dim| torus.extents[dim] > 1).map(|dim| dim as u8).collect();
    let (across, up) = match *long {
        [across] => (across, None),
        [across, up] => (across, Some(up)),
        _ => return None,
    };
    let columns = torus.extents[usize::from(across)];
    let rows = up.map_or(1, |up| torus.extents[usize::from(up)]);
    let at = |column: u32, row: u32| {
        let upward = up.map_or(0, |up| row * torus.stride(usize::from(up)));
        RankId(column * torus.stride(usize::from(across)) + upward)
    };
    // The load towards greater coordinates, then back.
    let pair = |rank: RankId, dim: u8| {
        let out = leaving(topology, rank, Direction { dim, positive: true })?;
        let back = topology.opposite(out);
        let one = |link: Option<LinkId>, sign: char| match link {
            Some(link) if topology.link(link).alive => format!("{sign}{}", load(link)),
            _ => "##".to_owned(),
        };
        Some(format!("{} {}", one(Some(out), '+'), one(back, '-')))
    };
    let ranks: Vec<RankId> = (0..topology.rank_count() as u32).map(RankId).collect();
    let dims = [Some(across), up];
    let pairs = ranks.iter().flat_map(|&rank| dims.into_iter().flatten().map(move |dim| (rank, dim)));
    let wide = pairs.filter_map(|(rank, dim)| pair(rank, dim)).map(|text| text.len()).max().unwrap_or(0);
    let digits = ranks.len().to_string().len().max(2);
    let mut text = String::new();
    for row in (0..rows).rev() {
        if let Some(up) = up {
            let cells = (0..columns).map(|column| pair(at(column, row), up).unwrap_or_default());
            // A column's loads stand over its rank.
            let line: String = cells.map(|cell| format!("  {cell:<width$}", width = digits + wide + 2)).collect();
            push(&mut text, &line);
        }
        let cell = |column: u32| {
            let rank = at(column, row);
            let name = if topology.is_alive(rank) { rank.to_string() } else { "##".to_owned() };
            format!("  {name:>digits$}  {:<wide$}", pair(rank, across).unwrap_or_default())
        };
        push(&mut text, &(0..columns).map(cell).collect::<String>());
    }
    Some(text)
}

fn push(text: &mut String, line: &str) {
    if !line.trim().is_empty() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn leaving(topology: &Topology, rank: RankId, direction: Direction) -> Option<LinkId> {
    topology.links_from(rank).find(|&link| topology.link(link).direction == Some(direction))
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::{Collective, Kind};

    use super::*;

    fn of(topology: Topology) -> Option<String> {
        let problem = Problem::new(topology, Collective::new(Kind::AllGather)).unwrap();
        map(&problem, |link| u64::from(link.0))
    }

    #[test]
    fn every_live_link_is_there_once() {
        for extents in [&[4, 3][..], &[2, 2], &[5], &[1, 4, 1, 3]] {
            let topology = Topology::torus(extents).unwrap().fail_cable(0, 1).unwrap();
            let text = of(topology.clone()).unwrap();
            let mut loads: Vec<u32> =
                text.split_whitespace().filter_map(|word| word.strip_prefix(['+', '-'])?.parse().ok()).collect();
            loads.sort_unstable();
            assert_eq!(loads, topology.live_links().map(|link| link.0).collect::<Vec<_>>(), "{text}");
            assert_eq!(text.matches("##").count(), 2, "{text}");
        }
        assert_eq!(of(Topology::torus(&[2, 2, 2]).unwrap()), None);
    }
}
