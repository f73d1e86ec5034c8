//! `synth pareto`: the curve meets its definition, its commands plan its points again, and it looks as documented.

use serde_json::Value;

use crate::support::bench::{Bench, json, synth, text};

const PRICES: &str = "--message-bytes 64KiB,16MiB --alpha 1us --bandwidth 50GB/s";

/// `11/24` as a pair.
fn fraction(value: &Value) -> (u64, u64) {
    let text = value.as_str().expect("a fraction");
    let (over, under) = text.split_once('/').unwrap_or((text, "1"));
    (over.parse().expect("a number"), under.parse().expect("a number"))
}

#[test]
fn tables() {
    let cases = [
        "--torus 4x4 --fail 0,1 --parts 1,7",
        "--torus 4x4 --fail 0,1 --collective broadcast --parts 1,4,8",
        "--torus 3x3 --collective barrier",
    ];
    let answers = cases.map(|words| {
        let prices = if words.contains("barrier") { "" } else { PRICES };
        let output = synth(&format!("pareto {words} {prices}"));
        format!("$ synth pareto {words}\n{}{}", text(&output.stderr), text(&output.stdout))
    });
    insta::assert_snapshot!("tables", answers.join("\n"));
}

#[test]
fn no_point_dominates_another_and_each_can_be_planned_again() {
    for words in [
        "--torus 4x4 --fail 0,1 --collective broadcast --root 5 --parts 1,4,8",
        "--torus 5 --fail 0,1 --collective all_reduce --parts 8 --seed 3",
        "--torus 2x3 --collective reduce",
        "--torus 5 --fail 0,1 --collective scatter --planner flow_over_time --max-steps 5",
        "--torus 3x3 --collective all_to_all",
    ] {
        let answer = json(&format!("pareto {words} {PRICES} --format json"));
        let points = answer["points"].as_array().expect("points");
        assert!(!points.is_empty() && answer["stopped"] == "finished", "{words}");
        for pair in points.windows(2) {
            let [(over_1, under_1), (over_2, under_2)] = [0, 1].map(|index| fraction(&pair[index]["volume"]["value"]));
            let fewer_steps = pair[0]["steps"]["value"].as_u64() < pair[1]["steps"]["value"].as_u64();
            assert!(fewer_steps && over_1 * under_2 > over_2 * under_1, "{words}: {pair:?}");
        }
        for point in points {
            let command = point["command"].as_str().expect("a command");
            let output = synth(&format!("{} --format json", command.trim_start_matches("synth ")));
            let summary: Value = serde_json::from_slice(&output.stderr).expect("a summary");
            for key in ["steps", "volume", "parts", "planner", "held", "total_width"] {
                assert_eq!(summary[key], point[key], "{command}");
            }
            let volume = point["volume"]["decimal"].as_f64().expect("a number");
            let time = |bytes: f64| point["steps"]["value"].as_f64().expect("a number") * 1e-6 + volume * bytes / 50e9;
            for (index, bytes) in [65536.0, 16_777_216.0].into_iter().enumerate() {
                assert!((point["seconds"][index].as_f64().expect("a time") - time(bytes)).abs() < 1e-12, "{command}");
            }
        }
        for (index, fastest) in answer["fastest"].as_array().expect("a list").iter().enumerate() {
            let time = |point: &Value| point["seconds"][index].as_f64().expect("a time");
            let best = time(&points[fastest["point"].as_u64().expect("an index") as usize]);
            assert!(points.iter().all(|point| time(point) >= best), "{words}");
        }
    }
}

#[test]
fn tables_and_plots_show_every_point() {
    let words = "pareto --torus 4x4 --fail 0,1 --collective broadcast --parts 1,4,8";
    let answer = json(&format!("{words} --format json"));
    let points = answer["points"].as_array().expect("points");
    let csv = |words: &str| text(&Bench::new().ended(0, words).stdout);
    let table = csv(&format!("{words} --format csv"));
    assert_eq!(table.lines().count(), 1 + points.len());
    for (line, point) in table.lines().skip(1).zip(points) {
        let head =
            format!("{},{},{},", point["steps"]["value"], point["volume"]["value"].as_str().unwrap(), point["parts"]);
        assert!(
            line.starts_with(&head) && line.ends_with(&format!(",\"{}\"", point["command"].as_str().unwrap())),
            "{line}"
        );
    }
    assert_eq!(csv(&format!("{words} {PRICES} --format csv")).lines().count(), 1 + 2 * points.len());
    let bench = Bench::new();
    assert!(bench.ended(0, &format!("{words} --format svg -o plot.svg")).stdout.is_empty());
    let svg = text(&bench.read("plot.svg"));
    assert!(svg.matches("<circle").count() >= points.len() && svg.contains("bounds"), "{svg}");
    for point in points {
        assert!(svg.contains(point["planner"].as_str().unwrap()), "{point}");
    }
    let mut reader = quick_xml::Reader::from_str(&svg);
    while reader.read_event().expect("well-formed XML") != quick_xml::events::Event::Eof {}
    assert!(!svg.contains("NaN") && !svg.contains("#FFFFFF"), "readable on any background");
    // A single rank owes nothing: there is no curve.
    let refused = text(&bench.ended(2, "pareto --torus 1 --format svg").stderr);
    assert!(refused.contains("there is nothing to draw: nothing has to move"), "{refused}");
}

#[test]
fn a_limit_keeps_the_points_found() {
    let output = Bench::new()
        .ended(4, "pareto --torus 4x4x4 --fail 2,3 --collective all_reduce --parts 32,64 --time-limit 100ms");
    let table = text(&output.stdout);
    assert!(table.lines().count() >= 5 && table.contains(" --parts 32\n"), "{table}");
    assert!(table.ends_with("stopped by the time limit; there may be more\n"), "{table}");
}

#[test]
fn what_cannot_be_is_refused() {
    for (words, code, message) in [
        ("--torus 4 --fail 0,1 --fail 2,3", 3, "the live network is not connected"),
        ("--torus 4x4 --max-steps 3", 3, "3 steps are impossible"),
        ("--torus 4x4 --collective barrier --parts 1,2", 2, "barrier is not cut in parts"),
        ("--torus 4x4 --planner best", 2, "no planner is called `best`"),
        ("--torus 4x4 --parts 1,,2", 2, "write numbers, 1 or more, as in 1,2,5, or `auto`"),
        ("--torus 4x4 --alpha 1us", 2, "--alpha goes with --message-bytes"),
    ] {
        let output = synth(&format!("pareto {words}"));
        assert_eq!(output.status.code(), Some(code), "{words}");
        assert!(
            output.stdout.is_empty() && text(&output.stderr).contains(message),
            "{words}: {}",
            text(&output.stderr)
        );
    }
}

#[test]
fn the_curves_of_all_reduce_on_four_ranks_are_proven() {
    for torus in ["4", "2x2"] {
        let words = format!("--torus {torus} --collective all_reduce --parts 1,2,3,4 --planner smt");
        let answer = json(&format!("pareto {words} --format json"));
        let point = |point: &Value| {
            assert_eq!(point["proven"], true, "{torus}: {point}");
            (point["steps"]["value"].as_u64(), fraction(&point["volume"]["value"]), point["parts"].as_u64())
        };
        let points: Vec<_> = answer["points"].as_array().expect("points").iter().map(point).collect();
        assert_eq!(points, [(Some(2), (1, 1), Some(2)), (Some(3), (3, 4), Some(4))], "{torus}");
    }
}

/// A point on its bound is proven by it, without a solver; one above it is not.
#[test]
fn what_meets_its_bound_is_proven() {
    for (words, bound) in
        [("--torus 4x4 --fail 0,1 --parts 1,7", (64, 7)), ("--torus 5x5 --fail 0,1 --parts 1,3", (50, 3))]
    {
        let answer = json(&format!("pareto {words} --format json"));
        assert_eq!(answer["points"][0]["proven"], true, "{words}");
        assert_eq!(fraction(&answer["points"][0]["volume"]["value"]), bound, "{words}");
    }
    let answer =
        json("pareto --torus 4x4 --fail 0,1 --collective all_reduce --parts 1,4 --planner matching --format json");
    for point in answer["points"].as_array().expect("points") {
        assert_eq!((&point["proven"], &point["parts"]), (&false.into(), &4.into()), "{point}");
    }
}

#[test]
fn sizes_are_a_list_or_a_range() {
    let seconds = |sizes: &str| {
        json(&format!("pareto --torus 3x3 --message-bytes {sizes} --format json"))["points"][0]["seconds"].clone()
    };
    assert_eq!(seconds("4KiB..64KiB"), seconds("4KiB,16KiB,64KiB"));
}

/// A barrier has no volume, and so no line of a bound on it.
#[test]
fn a_plot_has_the_bounds_there_are() {
    let bench = Bench::new();
    // Dashes of the lines of bounds: those on the steps stand, those on the volume lie; ticks are left of the plot.
    let dashes = |words: &str| {
        bench.ended(0, &format!("pareto {words} -o plot.svg"));
        let plot = text(&bench.read("plot.svg"));
        let ends = plot.split("points=\"").skip(1).filter_map(|after| {
            let numbers: Result<Vec<i32>, _> =
                after.split('"').next()?.split([' ', ',']).filter(|w| !w.is_empty()).map(str::parse).collect();
            <[i32; 4]>::try_from(numbers.ok()?).ok().filter(|[left, ..]| *left >= 100)
        });
        let short: Vec<[i32; 4]> = ends.filter(|[x, y, to_x, to_y]| (to_x - x).abs() + (to_y - y).abs() <= 6).collect();
        (
            short.iter().filter(|[x, _, to_x, _]| x == to_x).count(),
            short.iter().filter(|[_, y, _, to_y]| y == to_y).count(),
        )
    };
    let (standing, lying) = dashes("--torus 3x3 --collective barrier");
    assert!(standing > 10 && lying == 0, "{standing} {lying}");
    let (standing, lying) = dashes("--torus 4x4 --fail 0,1");
    assert!(standing > 10 && lying > 10, "{standing} {lying}");
}

/// Steps are whole, and every point stands over or between numbers.
#[test]
fn steps_are_whole_numbers_at_the_axis() {
    let bench = Bench::new();
    bench.ended(0, "pareto --torus 5x5 --fail 0,1 -o one.svg");
    let plot = text(&bench.read("one.svg"));
    let words: Vec<&str> = plot.split("</text>").filter_map(|before| before.lines().last()).map(str::trim).collect();
    let at = words.iter().position(|word| *word == "steps").expect("the axis");
    let numbers: Vec<&&str> = words[at..].iter().filter(|word| word.parse::<f64>().is_ok()).collect();
    assert!(numbers.contains(&&"4") && numbers.contains(&&"5") && numbers.contains(&&"16"), "{words:?}");
    assert!(!plot.contains("4.5"), "{plot}");
}
