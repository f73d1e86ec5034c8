//! A survey as a page: how slow, how often, and the worst sets drawn.

use std::fmt::Write;

use collsynth_verify::report::figures::count;

use super::{Figures, Survey};
use crate::report::plot::ticks;

const STYLE: &str = "body{margin:2rem auto;max-width:64rem;padding:0 1rem;background:#fcfcfa;color:#1b2026;\
font:15px/1.5 system-ui,sans-serif}h1{font-size:1.4rem}h2{margin-top:2.4rem;font-size:1.1rem}p{margin:.3rem 0}\
.muted{color:#56616c}\
.failed{color:#b8260f;font-weight:650}.bar{fill:#2f80bd}.worst{display:flex;flex-wrap:wrap;gap:1rem}.worst \
figure{margin:0;width:19rem}.worst svg{width:100%}svg.hist{width:100%;max-width:44rem}\
svg.hist text{text-anchor:middle;fill:#56616c;font:12px system-ui,sans-serif}.axis{stroke:#8a949e;fill:none}\
table{border-collapse:collapse}td,th{padding:.2rem .9rem .2rem 0;text-align:left;border-bottom:1px solid #e6e9ec}\
@media(prefers-color-scheme:dark){body{background:#11151a;color:#e8ecf0}.muted{color:#a1adb8}\
.failed{color:#ff8b78}.bar{fill:#4aa6da}svg.hist text{fill:#a1adb8}td,th{border-color:#262e36}}";

/// The most bars of a histogram.
const BARS: usize = 24;

/// About as many numbers stand below them.
const TICKS: usize = 8;

/// The most sets drawn for each group.
const DRAWN: usize = 3;

/// The page of a survey. `draw` gives a picture of the machine (SVG) with a set of failures.
pub fn page(survey: &Survey, draw: impl Fn(&str, &[String]) -> Option<String>) -> String {
    let machine = escaped(&survey.head.machine);
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>What failures cost on {machine}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>What failures cost on {machine}</h1>\n\
         <p class=\"muted\">{}</p>\n",
        escaped(&survey.head.command)
    );
    let mut drawn = Vec::new();
    for figures in survey.figures() {
        let group = figures.group;
        let heading = format!("{}, {}", group.collective, count(group.size, &format!("failed {}", group.unit)));
        let _ = writeln!(text, "<h2>{}</h2>\n<p>{}.</p>", escaped(&heading), escaped(&figures.words()));
        text += &histogram(&figures);
        if figures.disconnected > 0 {
            let named: Vec<String> = survey
                .disconnected(group)
                .map(|record| format!("{} ({})", record.set.join(" "), record.sets))
                .collect();
            let _ = writeln!(
                text,
                "<p class=\"failed\">{} sets disconnect the machine</p>\n<p>One of each class, and how many: {}.</p>",
                figures.disconnected,
                escaped(&named.join("; "))
            );
        }
        if figures.rootless > 0 {
            let _ = writeln!(text, "<p class=\"failed\">{} sets take a root</p>", figures.rootless);
        }
        text.push_str("<div class=\"worst\">\n");
        for (slower, record) in figures.slower.iter().rev().take(DRAWN) {
            // A set is drawn once, whatever the collective.
            let place = (group.unit.clone(), record.set.clone());
            let picture = if drawn.contains(&place) { None } else { draw(&group.unit, &record.set) };
            drawn.push(place);
            let words = format!("{}: {:+.1} %, {} sets", record.set.join(" "), 100.0 * slower, record.sets);
            let picture = picture.unwrap_or_default();
            let _ = writeln!(text, "<figure>{picture}<figcaption>{}</figcaption></figure>", escaped(&words));
        }
        text.push_str("</div>\n");
    }
    text + "</body>\n</html>\n"
}

/// How many sets are how much slower: a bar for each stretch of the axis, with its number of sets.
fn histogram(figures: &Figures<'_>) -> String {
    let (Some((least, _)), Some((most, _))) = (figures.slower.first(), figures.slower.last()) else {
        return String::new();
    };
    let is_one = most - least < 1e-6;
    let finest = if most - least < 0.02 && !is_one { 0.001 } else { 0.01 };
    // Round numbers, as far as those on both sides of all sets.
    let room = ((most - least) / TICKS as f64).max(finest);
    let all = ticks(least - 3.0 * room, most + 3.0 * room, TICKS, finest);
    let first = all.iter().rposition(|tick| tick <= least).unwrap_or(0);
    let last = all.iter().position(|tick| tick > most).unwrap_or(all.len() - 1);
    // Around one bar, some of the axis on both sides.
    let around = if is_one { 2 } else { 0 };
    let ticks = &all[first.saturating_sub(around)..=(last + around).min(all.len() - 1)];
    let (from, to) = (ticks[0], ticks[ticks.len() - 1]);
    let width = (to - from) / BARS as f64;
    let mut bars = [0_u64; BARS];
    for (slower, record) in &figures.slower {
        bars[(((slower - from) / width) as usize).min(BARS - 1)] += record.sets;
    }
    let tallest = bars.iter().copied().max().unwrap_or(1).max(1) as f64;
    let mut text =
        "<svg class=\"hist\" viewBox=\"0 0 720 170\" role=\"img\">\n<title>Sets by slowdown</title>\n".to_owned();
    let place = |slower: f64| 24.0 + 672.0 * (slower - from) / (to - from);
    for (index, &sets) in bars.iter().enumerate().filter(|(_, sets)| **sets > 0) {
        let high = (100.0 * sets as f64 / tallest).max(2.0);
        let (low, up) = (from + width * index as f64, from + width * (index + 1) as f64);
        let (x, y) = (place(low) + 0.5, 120.0 - high);
        let (middle, above) = (x + 13.5, y - 4.0);
        let _ = writeln!(
            text,
            "<rect class=\"bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"27\" height=\"{high:.1}\"><title>{:.1} to {:.1} % \
             slower: {sets} sets</title></rect><text x=\"{middle:.1}\" y=\"{above:.1}\">{sets}</text>",
            100.0 * low,
            100.0 * up
        );
    }
    let _ = writeln!(text, "<path class=\"axis\" d=\"M{} 120.5H{}\"/>", place(from), place(to));
    let digits = usize::from(finest < 0.01);
    for tick in ticks {
        let (x, percent) = (place(*tick), 100.0 * tick);
        let _ = writeln!(
            text,
            "<path class=\"axis\" d=\"M{x:.1} 120v5\"/><text x=\"{x:.1}\" y=\"138\">{percent:.digits$} %</text>"
        );
    }
    text + "<text x=\"360\" y=\"160\">slower than the machine as it is; on the bars, the number of \
            sets</text>\n</svg>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
