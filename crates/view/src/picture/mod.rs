//! Pictures of schedules: a step, the heat of all, the path of a chunk, the evidence of a bound; as SVG.
//!
//! Colours follow the reader's theme, light or dark. The same subject gives the same bytes.

mod canvas;
mod projection;

use std::fmt::Write;

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Schedule, Solution, Timetable};
use collsynth_core::topology::{Link, LinkId, Topology};
use collsynth_verify::report::overview::headline;

use crate::marks::Marks;
use canvas::Canvas;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 560.0;
/// The height of the words below.
const WORDS: f64 = 54.0;

const STYLE: &str = "\
text{font:600 12px system-ui,sans-serif;fill:#1b2026;text-anchor:middle}\
.words{font-weight:400;font-size:14px}.ground{fill:#fcfcfa}\
line{stroke:#b9c1c9}.l1{stroke:#bcd9ee;fill:#bcd9ee}.l2{stroke:#6fb0d8;fill:#6fb0d8}.l3{stroke:#2f80bd;fill:#2f80bd}\
.l4{stroke:#0d4f93;fill:#0d4f93}.l5{stroke:#08264f;fill:#08264f}.dead{stroke:#b8260f;fill:none;stroke-dasharray:5 4}\
.cross{stroke:#b8260f;stroke-width:4;stroke-linecap:round}.halo{stroke:#fcfcfa;stroke-width:8;stroke-linecap:round}\
.chunk{stroke:#a3187f;fill:#a3187f}.mark{stroke:#8a5a00;fill:#8a5a00}circle{fill:#eef1f4;stroke:#56616c}\
.s1{fill:#00735a}.s2{fill:#9a5b00}.on{fill:#fcfcfa}.plate{fill:#fcfcfa;stroke:#a3187f}.lost{fill:#fcfcfa;stroke:#b8260f}\
@media(prefers-color-scheme:dark){text{fill:#e8ecf0}.ground,.on,.plate,.lost{fill:#11151a}line{stroke:#46525e}\
.l1{stroke:#2b4a66;fill:#2b4a66}.l2{stroke:#3877a8;fill:#3877a8}.l3{stroke:#4aa6da;fill:#4aa6da}\
.l4{stroke:#9fdaf7;fill:#9fdaf7}.l5{stroke:#f4fcff;fill:#f4fcff}.dead,.cross,.lost{stroke:#ff8b78}.halo{stroke:#11151a}\
.chunk{stroke:#ff8fdc;fill:#ff8fdc}.mark{stroke:#f0c04a;fill:#f0c04a}circle{fill:#2a333c;stroke:#a1adb8}\
.s1{fill:#4fd1ac}.s2{fill:#f2b154}.plate{stroke:#ff8fdc}}";

/// What a picture shows.
#[derive(Clone, Debug)]
pub enum Subject {
    /// The load of each link in a step, from 1.
    Step(u32),
    /// The load of each link over all steps.
    Heat,
    /// The path of a chunk.
    Chunk(ChunkId),
    /// The evidence of a bound.
    Evidence(Marks),
    /// The machine and its failures alone.
    Machine,
}

/// Draws a schedule. A step that it does not have is drawn without transfers. O(moves + links log links).
pub fn svg(solution: &Solution, subject: &Subject) -> String {
    let topology = solution.problem.machine();
    let canvas = Canvas::new(topology);
    let shares = shares(solution, subject);
    let mut text =
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\">\n", HEIGHT + WORDS);
    let words = match subject {
        Subject::Machine => [topology.to_string(), String::new()],
        _ => [headline(&solution.problem), words(solution, subject)],
    };
    let _ =
        writeln!(text, "<title>{}</title>\n<style>{STYLE}</style>", escaped(words.join(": ").trim_end_matches(": ")));
    let _ = writeln!(text, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>");
    let mut links: Vec<LinkId> = (0..topology.links().len() as u32).map(LinkId).collect();
    links.sort_by(|&one, &other| canvas.depth(one).total_cmp(&canvas.depth(other)));
    for &link in links.iter().filter(|&&link| topology.link(link).alive) {
        canvas.link(&mut text, link, shares[link.index()]);
    }
    for &link in links.iter().filter(|&&link| !topology.link(link).alive) {
        canvas.lines(&mut text, link, "dead", 2.2);
    }
    canvas.subject(&mut text, &solution.schedule, subject);
    canvas.ranks(&mut text, solution, subject);
    for &link in links.iter().filter(|&&link| !topology.link(link).alive) {
        canvas.cross(&mut text, link);
    }
    if let Subject::Chunk(chunk) = *subject {
        canvas.hops(&mut text, &hops(topology, &solution.schedule, chunk));
    }
    for (index, line) in words.iter().enumerate() {
        let y = HEIGHT + 18.0 + 20.0 * index as f64;
        let _ = writeln!(text, "<text class=\"words\" x=\"{}\" y=\"{y}\">{}</text>", WIDTH / 2.0, escaped(line));
    }
    text + "</svg>\n"
}

/// The shares of the links' room that are used.
fn shares(solution: &Solution, subject: &Subject) -> Vec<f64> {
    let topology = solution.problem.machine();
    let is_shown = |step: &u32| match subject {
        Subject::Step(number) => step == number,
        Subject::Heat => true,
        Subject::Chunk(_) | Subject::Evidence(_) | Subject::Machine => false,
    };
    let steps: Vec<u32> = solution.schedule.numbers().filter(is_shown).collect();
    let width: u64 = steps.iter().map(|&step| u64::from(solution.schedule.width(step))).sum();
    let carried = solution.schedule.carried(&solution.problem, &mut steps.into_iter());
    let share = |(link, load): (&Link, u64)| match u128::from(width) * u128::from(link.capacity) {
        0 => 0.0,
        room => load as f64 / room as f64,
    };
    topology.links().iter().zip(carried).map(share).collect()
}

fn words(solution: &Solution, subject: &Subject) -> String {
    let schedule = &solution.schedule;
    match subject {
        Subject::Step(number) => {
            let step = schedule.steps().find(|step| step.number == *number);
            let width = step.map_or(0, |step| step.width);
            format!("step {number} of {}, width {width}: links by their load", schedule.step_count())
        }
        Subject::Heat => format!("all {} steps: links by their load", schedule.step_count()),
        Subject::Chunk(chunk) => {
            let hops = hops(solution.problem.machine(), schedule, *chunk).len();
            let noun = if hops == 1 { "hop" } else { "hops" };
            format!("chunk {}: {hops} {noun}, with their steps", solution.problem.chunk_label(*chunk))
        }
        Subject::Evidence(marks) => marks.words.clone(),
        Subject::Machine => String::new(),
    }
}

/// The hops of a chunk over links: the step and the link of each.
fn hops(topology: &Topology, schedule: &Schedule, chunk: ChunkId) -> Vec<(u32, LinkId)> {
    let mut hops = Vec::new();
    for step in schedule.steps() {
        for transfer in step.transfers.iter().filter(|transfer| schedule.chunks(transfer).contains(&chunk)) {
            let stated = |link: &LinkId| transfer.via.is_none() || topology.link(*link).direction == transfer.via;
            hops.extend(
                topology.links_between(transfer.from, transfer.to).find(stated).map(|link| (step.number, link)),
            );
        }
    }
    hops
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
