//! Where the names of points stand in a plot, so that none covers another, a point, or the edge.

/// Pixels that a letter takes, on average, and a line of letters.
const LETTER: f64 = 6.8;
const LINE: i32 = 15;
/// Between a point and its name.
const GAP: i32 = 8;
/// The most lines that a name is moved away from its point.
const MOST_MOVED: i32 = 16;

/// The place of a name, from its point: to the right and down, in pixels.
pub(super) type Offset = (i32, i32);

/// Left, top, right and bottom, in pixels.
#[derive(Clone, Copy)]
struct Area {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

/// The offset of the upper left corner of each name: beside its point if there is room, else above it; none if there is
/// no room at all. `taken` are boxes where no name may stand, as left, top, right and bottom.
pub(super) fn places(
    named: &[((i32, i32), String)],
    size: (u32, u32),
    taken: &[(i32, i32, i32, i32)],
) -> Vec<Option<Offset>> {
    let mut boxes: Vec<Area> =
        taken.iter().map(|&(left, top, right, bottom)| Area { left, top, right, bottom }).collect();
    let circle = |&((x, y), _): &((i32, i32), String)| Area { left: x - 5, top: y - 5, right: x + 5, bottom: y + 5 };
    boxes.extend(named.iter().map(circle));
    let edge = Area { left: 0, top: 0, right: size.0 as i32, bottom: size.1 as i32 };
    let mut place = |((x, y), name): &((i32, i32), String)| {
        let wide = (name.chars().count() as f64 * LETTER).ceil() as i32;
        let rows = (0..MOST_MOVED).map(|row| -LINE - 2 - row * LINE);
        let offset = rows.flat_map(|down| [(GAP, down), (-GAP - wide, down)]).find(|(right, down)| {
            let own = Area { left: x + right, top: y + down, right: x + right + wide, bottom: y + down + LINE };
            own.is_within(&edge) && !boxes.iter().any(|other| own.meets(other))
        })?;
        let (left, top) = (x + offset.0, y + offset.1);
        boxes.push(Area { left, top, right: left + wide, bottom: top + LINE });
        Some(offset)
    };
    named.iter().map(&mut place).collect()
}

/// True if a name stands so far from its point that a line should lead to it.
pub(super) fn is_moved((_, down): Offset) -> bool {
    down < -LINE - 2
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    fn is_within(&self, other: &Self) -> bool {
        self.left >= other.left && self.right <= other.right && self.top >= other.top && self.bottom <= other.bottom
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_covers_another() {
        let name = |at: (i32, i32)| (at, "trivance_bandwidth, 128 parts".to_owned());
        // Close to each other, at the right edge, and alone.
        let named: Vec<_> = (0..7).map(|at| name((300 + 30 * at, 300 + 3 * at))).chain([name((940, 200))]).collect();
        let places = places(&named, (960, 600), &[(800, 0, 960, 100)]);
        let boxes: Vec<Area> = named
            .iter()
            .zip(&places)
            .map(|(((x, y), name), place)| {
                let (right, down) = place.expect("there is room");
                let wide = (name.len() as f64 * LETTER).ceil() as i32;
                Area { left: x + right, top: y + down, right: x + right + wide, bottom: y + down + LINE }
            })
            .collect();
        for (index, one) in boxes.iter().enumerate() {
            assert!(boxes[..index].iter().all(|other| !one.meets(other)), "{index}");
        }
        assert!(!is_moved(places[0].expect("a place")) && is_moved(places[3].expect("a place")));
        assert!(places[7].expect("a place").0 < 0, "to the left, at the right edge");
    }

    #[test]
    fn a_name_without_room_is_left_out() {
        let named = vec![((10, 10), "ring".to_owned())];
        assert_eq!(places(&named, (30, 30), &[]), [None]);
    }
}
