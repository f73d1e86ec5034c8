//! The paper's synthetic averages (its figure 11 and section 5.2).

use collsynth::report::paper::averages::stated;

use super::page::Page;

/// What the averages must come within.
const NEAR: f64 = 0.03;

pub fn write(page: &mut Page) {
    page.text(
        "\n## The synthetic averages\n\n\
         `synth compare --paper averages` prints both tables, and plans the second anew.\n\n\
         Speed-ups over Ring and Pipeline (6 chunks) without failures, averaged over 8 KiB to 2 GiB per rank\n\
         (doubling sizes) and over 5x5, 5x5x5 and 5x5x5x5; 32 GB/s, 100 ns. A message is the bytes of a rank\n\
         over the number of ranks. Charged as in table 1 of the paper: a start-up for each link of the longest\n\
         logical edge of a phase, so `k-1` for a folded ring; one dead cable in the first dimension if a\n\
         failure is named. In MATEe a normal phase takes the longer of HalfRing and the folded ring's share.\n",
    );
    page.table(&["algorithm", "paper", "by its cost model", "difference", "5x5", "5x5x5", "5x5x5x5"]);
    for row in stated() {
        let (name, paper, average) = (row.algorithm, row.paper, row.average());
        assert!(row.difference().abs() < NEAR, "{name}: {average} is not near {paper}");
        let difference = format!("{:+.1} %", row.difference() * 100.0);
        let mut cells = vec![name.to_owned(), paper.to_string(), format!("{average:.3}"), difference];
        cells.extend(row.each.iter().map(|speedup| format!("{speedup:.3}")));
        page.row(cells);
    }
}
