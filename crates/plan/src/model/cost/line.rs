//! Times linear in the message size, and the sizes at which one schedule overtakes another.

/// The time of a schedule: `fixed + per_byte * bytes of a message`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Seconds for empty messages: all start-ups.
    pub fixed: f64,
    /// Seconds for each byte of a message.
    pub per_byte: f64,
}

/// Message sizes for which one schedule is fastest, up to the beginning of the next stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The least message size, in bytes.
    pub from_bytes: u64,
    /// The index of the fastest line.
    pub line: usize,
}

impl Line {
    /// Seconds for messages of this size.
    pub fn seconds(&self, message_bytes: u64) -> f64 {
        self.fixed + self.per_byte * message_bytes as f64
    }

    /// The least size at which `other`, which grows more slowly, is faster; `None` if it never is.
    pub fn overtaken_by(&self, other: &Self) -> Option<u64> {
        let faster = |bytes: u64| other.seconds(bytes) < self.seconds(bytes);
        if !faster(u64::MAX) {
            return None;
        }
        if faster(0) {
            return Some(0);
        }
        // Lines cross once, so bisection works.
        let (mut slower, mut first) = (0, u64::MAX);
        while first - slower > 1 {
            let middle = slower + (first - slower) / 2;
            if faster(middle) { first = middle } else { slower = middle }
        }
        Some(first)
    }
}

/// The lower envelope of the lines: the fastest for each message size, ascending from 1 byte. Among equals, the line
/// that grows more slowly, then the first. Empty only without lines. O(n^2).
///
/// ```
/// use collsynth_plan::cost::{Line, Stretch, fastest};
///
/// let few_steps = Line { fixed: 4e-6, per_byte: 10e-9 };
/// let little_volume = Line { fixed: 5e-6, per_byte: 9e-9 };
/// // 1 us more to start, 1 ns less for each byte: worth it above 1000 bytes.
/// let stretches = fastest(&[little_volume, few_steps]);
/// assert_eq!(stretches, [Stretch { from_bytes: 1, line: 1 }, Stretch { from_bytes: 1001, line: 0 }]);
/// ```
pub fn fastest(lines: &[Line]) -> Vec<Stretch> {
    let by_time = |bytes: u64, a: usize, b: usize| {
        let time = |line: usize| (lines[line].seconds(bytes), lines[line].per_byte);
        let ((a_time, a_slope), (b_time, b_slope)) = (time(a), time(b));
        a_time.total_cmp(&b_time).then(a_slope.total_cmp(&b_slope)).then(a.cmp(&b))
    };
    let first = (0..lines.len()).min_by(|&a, &b| by_time(1, a, b));
    let mut stretches: Vec<Stretch> = first.map(|line| Stretch { from_bytes: 1, line }).into_iter().collect();
    while let Some(&Stretch { line: current, .. }) = stretches.last() {
        let flatter = (0..lines.len()).filter(|&line| lines[line].per_byte < lines[current].per_byte);
        let crossings = flatter.filter_map(|line| Some((lines[current].overtaken_by(&lines[line])?, line)));
        let next = crossings.min_by(|&(a_at, a), &(b_at, b)| a_at.cmp(&b_at).then(by_time(a_at, a, b)));
        let Some((from_bytes, line)) = next else { break };
        stretches.push(Stretch { from_bytes, line });
    }
    stretches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines() -> impl Strategy<Value = Vec<Line>> {
        // Microseconds and picoseconds, with equals among them.
        let line = (1_u32..40, 1_u32..400)
            .prop_map(|(steps, volume)| Line { fixed: f64::from(steps) * 1e-6, per_byte: f64::from(volume) * 1e-11 });
        prop::collection::vec(line, 1..9)
    }

    proptest! {
        #[test]
        fn no_line_is_faster_than_its_stretch_says(lines in lines(), sizes in prop::collection::vec(1_u64..4_000_000, 20)) {
            let stretches = fastest(&lines);
            prop_assert_eq!(stretches[0].from_bytes, 1);
            prop_assert!(stretches.windows(2).all(|pair| pair[0].from_bytes < pair[1].from_bytes));
            let edges = stretches.iter().flat_map(|stretch| [stretch.from_bytes, (stretch.from_bytes - 1).max(1)]);
            for bytes in sizes.into_iter().chain(edges) {
                let stretch = stretches.iter().rfind(|stretch| stretch.from_bytes <= bytes).expect("one begins at 1");
                let least = lines.iter().map(|line| line.seconds(bytes)).fold(f64::INFINITY, f64::min);
                prop_assert_eq!(lines[stretch.line].seconds(bytes), least, "{} bytes", bytes);
            }
        }
    }

    #[test]
    fn a_line_that_is_never_best_has_no_stretch() {
        let line = |fixed, per_byte| Line { fixed, per_byte };
        let stretches = fastest(&[line(1.0, 4.0), line(13.0, 3.9), line(12.0, 1.0), line(19.0, 1.0)]);
        assert_eq!(stretches.iter().map(|stretch| stretch.line).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(fastest(&[]), []);
        assert_eq!(line(1.0, 1.0).overtaken_by(&line(1.0, 1.0)), None);
    }
}
