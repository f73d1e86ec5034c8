//! The trade of steps against volume as CSV: a line for each point and message size.
//!
//! | column | meaning |
//! |---|---|
//! | `steps`, `volume`, `parts`, `planner` | of the schedule; the volume exactly (`1024/31`) |
//! | `gap` | how far its volume lies above the bound, as a share of the bound |
//! | `proven` | is it proven that none in as many steps and parts is better, by a bound (`gap` is 0) or a solver? |
//! | `held` | the most chunks a rank holds at a time |
//! | `message_bytes`, `seconds` | a size, and the time for it; empty without prices |
//! | `command` | plans the schedule again |

use std::fmt::Write;

use super::Curve;
use crate::report::comparison::quoted;

impl Curve<'_> {
    /// The text of the table, with a heading.
    pub fn to_csv(&self) -> String {
        let mut out = "steps,volume,parts,planner,gap,proven,held,message_bytes,seconds,command\n".to_owned();
        for point in self.points {
            let gap = self.gap(point).map_or(String::new(), |gap| gap.to_string());
            let held = point.observed.as_ref().map_or(String::new(), |observed| observed.held.chunks.to_string());
            let times = self.prices.iter().map(|price| format!("{},{}", price.message_bytes, point.seconds(price)));
            let times: Vec<String> = if self.prices.is_empty() { vec![",".to_owned()] } else { times.collect() };
            for time in times {
                let (proven, command) = (self.is_proven(point), quoted(&point.command[1]));
                let _ = writeln!(
                    out,
                    "{},{},{},{},{gap},{proven},{held},{time},{command}",
                    point.steps,
                    point.volume,
                    point.problem.parts(),
                    point.planner
                );
            }
        }
        out
    }
}
