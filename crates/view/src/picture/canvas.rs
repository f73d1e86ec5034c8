//! A machine on the canvas, stroke by stroke.

use std::fmt::Write;

use collsynth_core::schedule::{Schedule, Solution};
use collsynth_core::topology::{LinkId, RankId, Topology};

use super::projection::{Piece, Projection};
use super::{Subject, hops};
use crate::layout::{Layout, Point};

/// The length of a stub.
const STUB: f64 = 0.42;

/// A machine laid out on the canvas.
pub(super) struct Canvas<'a> {
    topology: &'a Topology,
    points: Vec<Point>,
    pieces: Vec<Vec<Piece>>,
    radius: f64,
    depths: [f64; 2],
}

impl<'a> Canvas<'a> {
    /// Lays a machine out and turns it.
    pub(super) fn new(topology: &'a Topology) -> Self {
        let layout = Layout::new(topology);
        let project = Projection::new(&layout);
        let points: Vec<Point> = layout.ranks.iter().map(|&place| project.point(place)).collect();
        let pieces = (0..topology.links().len() as u32).map(|id| {
            let link = topology.link(LinkId(id));
            let (from, to) = (points[link.from.index()], points[link.to.index()]);
            match layout.stub(topology, LinkId(id)) {
                None => vec![project.beside(from, to)],
                Some(stub) => {
                    let end = |rank: RankId, sign: f64| {
                        let place = layout.ranks[rank.index()];
                        project.point([0, 1, 2].map(|axis| place[axis] + sign * STUB * stub[axis]))
                    };
                    vec![project.beside(from, end(link.from, 1.0)), project.beside(end(link.to, -1.0), to)]
                }
            }
        });
        let depths = points.iter().map(|point| point[2]);
        let depths = [depths.clone().fold(f64::INFINITY, f64::min), depths.fold(f64::NEG_INFINITY, f64::max)];
        Self { topology, pieces: pieces.collect(), points, radius: (project.unit * 0.15).clamp(2.5, 16.0), depths }
    }

    /// How near a link is.
    pub(super) fn depth(&self, link: LinkId) -> f64 {
        self.pieces[link.index()][0].depth
    }

    /// How clearly something at this depth is seen.
    fn fade(&self, depth: f64) -> f64 {
        let [far, near] = self.depths;
        if near - far < 0.1 { 1.0 } else { (1.0 - 0.7 * (near - depth) / (near - far)).clamp(0.3, 1.0) }
    }

    /// A live link in the class of its load.
    pub(super) fn link(&self, text: &mut String, link: LinkId, share: f64) {
        // Of five classes, the fullest is for full links alone.
        let class = if share > 0.0 { format!("l{}", 1 + (share.min(1.0) * 4.0) as usize) } else { String::new() };
        let wide = if share > 0.0 { (self.radius * (0.1 + 0.14 * share)).clamp(1.0, 3.4) } else { 1.0 };
        for piece in &self.pieces[link.index()] {
            let clear = self.fade(piece.depth);
            let _ = write!(text, "<g opacity=\"{clear:.2}\">");
            line(text, piece, &class, wide);
            if share > 0.0 {
                arrowhead(text, piece, &class, wide + 1.5);
            }
            text.push_str("</g>\n");
        }
    }

    /// A link as plain lines.
    pub(super) fn lines(&self, text: &mut String, link: LinkId, class: &str, wide: f64) {
        for piece in &self.pieces[link.index()] {
            line(text, piece, class, wide);
            text.push('\n');
        }
    }

    /// What the picture is about, over the links.
    pub(super) fn subject(&self, text: &mut String, schedule: &Schedule, subject: &Subject) {
        let marked: Vec<(LinkId, &str)> = match subject {
            Subject::Chunk(chunk) => {
                hops(self.topology, schedule, *chunk).into_iter().map(|(_, link)| (link, "chunk")).collect()
            }
            Subject::Evidence(marks) => {
                let links = marks.links.iter().enumerate().filter(|(_, weight)| **weight > 0);
                links.map(|(link, _)| (LinkId(link as u32), "mark")).collect()
            }
            Subject::Step(_) | Subject::Heat | Subject::Machine => Vec::new(),
        };
        for (link, class) in marked {
            self.lines(text, link, class, 3.4);
            for piece in &self.pieces[link.index()] {
                arrowhead(text, piece, class, 6.0);
                text.push('\n');
            }
        }
    }

    /// All ranks, the far ones first.
    pub(super) fn ranks(&self, text: &mut String, solution: &Solution, subject: &Subject) {
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        order.sort_by(|&one, &other| self.points[one][2].total_cmp(&self.points[other][2]));
        let ends = match subject {
            Subject::Chunk(chunk) => hops(self.topology, &solution.schedule, *chunk),
            _ => Vec::new(),
        };
        for rank in order {
            let [x, y, depth] = self.points[rank];
            let side = match subject {
                Subject::Evidence(marks) => marks.ranks[rank],
                _ => 0,
            };
            let of = |link: LinkId| [self.topology.link(link).from.index(), self.topology.link(link).to.index()];
            let class = match side {
                _ if !self.topology.is_alive(RankId(rank as u32)) => "lost",
                0 if ends.iter().any(|&(_, link)| of(link).contains(&rank)) => "chunk",
                0 => "",
                side => ["s2", "s1"][side % 2],
            };
            let clear = if class.is_empty() { self.fade(depth) } else { 1.0 };
            let radius = self.radius;
            let _ = write!(text, "<circle class=\"ground\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>");
            let _ = write!(text, "<g opacity=\"{clear:.2}\"><circle");
            if !class.is_empty() {
                let _ = write!(text, " class=\"{class}\"");
            }
            let _ = write!(text, " cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>");
            if radius > 8.0 {
                let on = if class.is_empty() || class == "lost" { "" } else { " class=\"on\"" };
                let _ = write!(text, "<text{on} x=\"{x:.1}\" y=\"{:.1}\">{rank}</text>", y + 4.2);
            }
            text.push_str("</g>\n");
        }
    }

    /// One cross on a dead cable, or on a dead direction.
    pub(super) fn cross(&self, text: &mut String, id: LinkId) {
        let link = self.topology.link(id);
        if !self.topology.is_alive(link.from) || !self.topology.is_alive(link.to) {
            return;
        }
        let back = self.topology.opposite(id).filter(|&back| !self.topology.link(back).alive);
        if back.is_some_and(|back| back < id) {
            return;
        }
        let pieces = &self.pieces[id.index()];
        for (index, piece) in pieces.iter().enumerate() {
            let other = back.map_or(piece, |back| &self.pieces[back.index()][pieces.len() - 1 - index]);
            let (one, two) = (piece.at(0.5), other.at(0.5));
            let ([x, y], arm) = ([(one[0] + two[0]) / 2.0, (one[1] + two[1]) / 2.0], (self.radius * 0.62).max(6.0));
            for class in ["halo", "cross"] {
                let (left, right, top, bottom) = (x - arm, x + arm, y - arm, y + arm);
                let _ = writeln!(
                    text,
                    "<path class=\"{class}\" d=\"M{left:.1} {top:.1}L{right:.1} {bottom:.1}M{right:.1} {top:.1}L{left:.1} \
                     {bottom:.1}\"/>"
                );
            }
        }
    }

    /// The step of each hop.
    pub(super) fn hops(&self, text: &mut String, hops: &[(u32, LinkId)]) {
        for &(step, link) in hops {
            let pieces = &self.pieces[link.index()];
            let [x, y] = pieces[0].at(if pieces.len() > 1 { 1.0 } else { 0.4 });
            let (left, top) = (x - 10.0, y - 9.0);
            let _ = writeln!(
                text,
                "<rect class=\"plate\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"20\" height=\"18\" rx=\"5\"/><text \
                 x=\"{x:.1}\" y=\"{:.1}\">{step}</text>",
                y + 4.2
            );
        }
    }
}

fn line(text: &mut String, piece: &Piece, class: &str, wide: f64) {
    let ([x1, y1], [x2, y2]) = (piece.from, piece.to);
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let _ = write!(
        text,
        "<line{class} stroke-width=\"{wide:.1}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

fn arrowhead(text: &mut String, piece: &Piece, class: &str, size: f64) {
    let ([x, y], turn) = (piece.at(0.62), (piece.to[1] - piece.from[1]).atan2(piece.to[0] - piece.from[0]));
    let (sin, cos) = (turn.sin() * size, turn.cos() * size);
    let (back_x, back_y) = (x - cos, y - sin);
    let _ = write!(
        text,
        "<path class=\"{class}\" d=\"M{:.1} {:.1}L{:.1} {:.1} {:.1} {:.1}z\"/>",
        x + cos,
        y + sin,
        back_x - 0.8 * sin,
        back_y + 0.8 * cos,
        back_x + 0.8 * sin,
        back_y - 0.8 * cos
    );
}
