//! Ranks as people write and read them: `42`, `2.2.2`, `node42`, "42 (2,2,2) node42".

use super::{LinkId, RankId, Topology, TopologyError};

impl Topology {
    /// The position of a rank along each dimension; `None` on an explicit graph or if the rank is out of range.
    pub fn coordinates(&self, rank: RankId) -> Option<Vec<u32>> {
        let torus = self.as_torus().filter(|_| rank.index() < self.rank_count())?;
        Some((0..torus.extents.len()).map(|dim| torus.position(rank, dim)).collect())
    }

    /// Reads a rank number (`42`), coordinates (`2.2.2`, fastest dimension first) or the name of a rank.
    ///
    /// # Errors
    ///
    /// If the text is none of them, names no rank of this machine, or gives coordinates on an explicit graph.
    ///
    /// ```
    /// # use collsynth_core::topology::{RankId, Topology};
    /// let torus = Topology::torus(&[4, 4, 4])?;
    /// assert_eq!(torus.parse_rank("2.2.2")?, RankId(42));
    /// # Ok::<(), collsynth_core::topology::TopologyError>(())
    /// ```
    pub fn parse_rank(&self, text: &str) -> Result<RankId, TopologyError> {
        self.rank_named(text).map_or_else(|| self.rank_at(text), Ok)
    }

    /// Reads a rank number or coordinates, as files state them. O(dimensions), however many ranks have names.
    ///
    /// # Errors
    ///
    /// As [`Topology::parse_rank`].
    pub fn rank_at(&self, text: &str) -> Result<RankId, TopologyError> {
        let numbers: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        let numbers = numbers.map_err(|_| TopologyError::NotARank { text: text.to_owned() })?;
        if let [rank] = numbers[..] {
            return match rank < self.rank_count {
                true => Ok(RankId(rank)),
                false => Err(TopologyError::RankOutOfRange { rank, ranks: self.rank_count }),
            };
        }
        let torus = self.as_torus().ok_or_else(|| TopologyError::NoCoordinates { text: text.to_owned() })?;
        let inside = numbers.len() == torus.extents.len() && numbers.iter().zip(&torus.extents).all(|(n, e)| n < e);
        if !inside {
            let extents: Vec<String> = torus.extents.iter().map(u32::to_string).collect();
            return Err(TopologyError::OutsideTorus { text: text.to_owned(), extents: extents.join("x") });
        }
        Ok(RankId(numbers.iter().enumerate().map(|(dim, position)| position * torus.stride(dim)).sum()))
    }

    /// The rank with its coordinates and its name, "42 (2,2,2) node42", as far as it has them; a single coordinate is
    /// the number itself.
    pub fn rank_label(&self, rank: RankId) -> String {
        let position = self.coordinates(rank).filter(|position| position.len() > 1);
        let position = position.map(|position| format_coordinates(&position));
        let words = [Some(rank.to_string()), position, self.rank_name(rank).map(str::to_owned)];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The rank with its name, "42 node42"; the number alone where ranks have none.
    pub fn numbered_name(&self, rank: RankId) -> String {
        match self.rank_name(rank) {
            Some(name) => format!("{rank} {name}"),
            None => rank.to_string(),
        }
    }

    /// The link with the coordinates of its ends and its direction: "2 (2,0) -> 3 (3,0) x+".
    ///
    /// # Panics
    ///
    /// If the id is not of this topology.
    pub fn link_label(&self, id: LinkId) -> String {
        let link = self.link(id);
        let direction = link.direction.map(|direction| format!(" {direction}")).unwrap_or_default();
        format!("{} -> {}{direction}", self.rank_label(link.from), self.rank_label(link.to))
    }
}

/// Coordinates in print: `(2,0,0)`.
pub fn format_coordinates(position: &[u32]) -> String {
    let numbers: Vec<String> = position.iter().map(u32::to_string).collect();
    format!("({})", numbers.join(","))
}
