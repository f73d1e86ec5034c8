//! The trade of steps against volume as a plot, with the bounds.

use plotters::prelude::{
    ChartBuilder, Circle, Color, CoordTranslate, DashedLineSeries, EmptyElement, IntoDrawingArea, LineSeries,
    PathElement, SVGBackend, SeriesLabelPosition, Text,
};

use super::{Curve, Point, labels};
use crate::report::comparison::PlotError;
use crate::report::plot::{Axis, INK, grid, look, ticks, words};
use collsynth_core::certificate::Rational;
use collsynth_verify::report::figures::decimal;
use collsynth_verify::report::overview::headline;

/// Width and height, in pixels.
const SIZE: (u32, u32) = (960, 600);
/// Where the legend stands, in pixels.
const LEGEND: (i32, i32, i32, i32) = (840, 40, 960, 100);
/// About as many numbers stand at an axis.
const MOST_TICKS: usize = 12;
/// The most points with their planner beside them: more would cover each other.
const MOST_NAMED: usize = 12;

impl Curve<'_> {
    /// The plot as SVG; the volume is logarithmic.
    ///
    /// # Errors
    ///
    /// A [`PlotError`] if there is nothing to draw.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let points: Vec<&Point> = self.points.iter().filter(|point| point.volume > Rational::from(0)).collect();
        if points.is_empty() {
            return Err(if self.points.is_empty() { PlotError::Nothing } else { PlotError::Unmoved });
        }
        self.draw(&points).map_err(|error| PlotError::Drawing(error.to_string()))
    }

    fn draw(&self, points: &[&Point]) -> Result<String, Box<dyn std::error::Error>> {
        let place = |point: &Point| (point.steps.max(1) as f64, decimal(point.volume));
        let bound_steps = self.bounds.steps.as_ref().map(|bound| f64::from(bound.at_least.max(1)));
        let bound_volume =
            self.bounds.volume.as_ref().map(|bound| decimal(bound.at_least)).filter(|&volume| volume > 0.0);
        let range = |values: &mut dyn Iterator<Item = f64>| {
            let (low, high) =
                values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
            (low / 1.15)..(high * 1.3)
        };
        let across = range(&mut points.iter().map(|point| place(point).0).chain(bound_steps));
        let up = range(&mut points.iter().map(|point| place(point).1).chain(bound_volume));
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            let mut chart = ChartBuilder::on(&area)
                .caption(headline(self.problem), words(22))
                .margin(16)
                .x_label_area_size(48)
                .y_label_area_size(84)
                .build_cartesian_2d(
                    Axis {
                        range: across.clone(),
                        ticks: ticks(across.start, across.end, MOST_TICKS, 1.0),
                        is_log: false,
                    },
                    Axis { range: up.clone(), ticks: volumes(up.start, up.end), is_log: true },
                )?;
            chart
                .configure_mesh()
                .x_desc("steps")
                .y_desc(format!("volume, in {}s", self.problem.collective().kind.unit().name()))
                .x_label_formatter(&|steps| steps.to_string())
                .y_label_formatter(&|volume| figure(*volume))
                .axis_style(INK)
                .label_style(words(15))
                .bold_line_style(grid())
                .light_line_style(INK.mix(0.0))
                .draw()?;
            if bound_steps.or(bound_volume).is_some() {
                let (least, floor) = (bound_steps.unwrap_or(across.start), bound_volume.unwrap_or(up.start));
                let down = bound_steps.map(|_| (least, up.end));
                let right = bound_volume.map(|_| (across.end, floor));
                let corner = down.into_iter().chain([(least, floor)]).chain(right);
                let style = INK.stroke_width(1);
                chart
                    .draw_series(DashedLineSeries::new(corner, 6, 4, style))?
                    .label("bounds")
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
            }
            let (color, _) = look(0);
            // Until the next point, more steps gain nothing.
            let mut stairs = Vec::new();
            for pair in points.windows(2) {
                let ((steps, volume), (next, _)) = (place(pair[0]), place(pair[1]));
                stairs.extend([(steps, volume), (next, volume)]);
            }
            let last = place(points[points.len() - 1]);
            stairs.extend([last, (across.end, last.1)]);
            let style = color.stroke_width(2);
            chart
                .draw_series(LineSeries::new(stairs, style))?
                .label("found")
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
            chart.draw_series(points.iter().map(|point| Circle::new(place(point), 4, color.filled())))?;
            if points.len() <= MOST_NAMED {
                let name = |point: &&Point| match point.problem.parts() {
                    1 => point.planner.to_owned(),
                    parts => format!("{}, {parts} parts", point.planner),
                };
                let pixels = |point: &&Point| chart.as_coord_spec().translate(&place(point));
                let named: Vec<((i32, i32), String)> = points.iter().map(|at| (pixels(at), name(at))).collect();
                let offsets = labels::places(&named, SIZE, &[LEGEND]);
                for ((place, (_, name)), offset) in points.iter().map(|at| place(at)).zip(named).zip(offsets) {
                    let Some((right, down)) = offset else { continue };
                    let text = EmptyElement::at(place) + Text::new(name, (right, down), words(15));
                    chart.draw_series([text])?;
                    if labels::is_moved((right, down)) {
                        let line = PathElement::new([(0, -5), (right.signum() * 6, down + 12)], grid());
                        chart.draw_series([EmptyElement::at(place) + line])?;
                    }
                }
            }
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .label_font(words(15))
                .border_style(grid())
                .draw()?;
            area.present()?;
        }
        Ok(svg)
    }
}

/// The volumes at the axis: powers of 2, or round numbers where these are few.
fn volumes(low: f64, high: f64) -> Vec<f64> {
    let doubled: Vec<f64> = (-60..60).map(|power| 2_f64.powi(power)).filter(|v| (low..=high).contains(v)).collect();
    if doubled.len() > 3 { doubled } else { ticks(low, high, MOST_TICKS / 2, 1e-9) }
}

/// A volume in few digits.
fn figure(volume: f64) -> String {
    if volume >= 10.0 {
        format!("{volume:.0}")
    } else {
        format!("{volume:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}
