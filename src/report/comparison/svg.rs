//! The comparison of one machine as a plot: time, or speed-up, over the size of a message.

use plotters::prelude::{
    ChartBuilder, Color, DashedLineSeries, IntoDrawingArea, IntoLogRange, LineSeries, PathElement, SVGBackend,
    SeriesLabelPosition,
};
use thiserror::Error;

use super::{Comparison, Machine, least_seconds};
use crate::report::plot::{INK, grid, look, words};
use collsynth_verify::report::figures::{bytes, seconds};
use collsynth_verify::report::overview::headline;

/// The vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plot {
    /// Seconds.
    Time,
    /// How much faster than the baseline.
    Speedup,
}

/// Why there is no plot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means")]
pub enum PlotError {
    #[error("a plot shows one machine, and there are {0}")]
    SeveralMachines(usize),
    #[error("there is no schedule to draw")]
    Nothing,
    #[error("there is nothing to draw: nothing has to move")]
    Unmoved,
    #[error("there are no speed-ups to draw: {0}")]
    NoBaseline(String),
    #[error("cannot draw: {0}")]
    Drawing(String),
}

/// Width and height, in pixels.
const SIZE: (u32, u32) = (960, 600);
/// Points of each curve; on a logarithmic scale lines are curved.
const POINTS: u32 = 96;

/// A line of the plot.
struct Curve {
    name: String,
    /// Message sizes, and values on the vertical axis.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Do both begin and end in the same points?
    fn runs_as(&self, other: &Self) -> bool {
        self.points.first() == other.points.first() && self.points.last() == other.points.last()
    }
}

impl Comparison {
    /// The plot as SVG, a curve for each planner; both axes are logarithmic.
    ///
    /// # Errors
    ///
    /// A [`PlotError`] unless there is one machine, with schedules.
    pub fn to_svg(&self, plot: Plot) -> Result<String, PlotError> {
        let [machine] = &self.machines[..] else { return Err(PlotError::SeveralMachines(self.machines.len())) };
        if let (Plot::Speedup, Err(why)) = (plot, &machine.baseline) {
            return Err(PlotError::NoBaseline(why.clone()));
        }
        let mut curves = self.curves(machine, plot).filter(|curves| !curves.is_empty()).ok_or(PlotError::Nothing)?;
        // On a logarithmic scale, what takes no time has no place.
        curves.retain(|curve| curve.points.iter().all(|&(_, value)| value > 0.0 && value.is_finite()));
        if curves.is_empty() {
            return Err(PlotError::Unmoved);
        }
        draw(&headline(&machine.problem), &curves, plot).map_err(|error| PlotError::Drawing(error.to_string()))
    }

    /// A curve for each planner, in order.
    fn curves(&self, machine: &Machine, plot: Plot) -> Option<Vec<Curve>> {
        let (least, largest) = (*self.sizes.first()?, *self.sizes.last()?);
        // A range of one size is no range.
        let ends =
            if least == largest { (least as f64 / 2.0, largest as f64 * 2.0) } else { (least as f64, largest as f64) };
        let size = |point: u32| ends.0 * (ends.1 / ends.0).powf(f64::from(point) / f64::from(POINTS));
        let base = machine.base().map_or(&[][..], |base| &base.entries);
        let curve = |planner| {
            let points = (0..=POINTS).map(|point| {
                let size = size(point);
                let whole = size.round() as u64;
                let time = least_seconds(machine.of(planner), whole);
                match plot {
                    Plot::Time => (size, time),
                    Plot::Speedup => (size, least_seconds(base, whole) / time),
                }
            });
            Curve { name: planner.to_owned(), points: points.collect() }
        };
        Some(machine.planners().into_iter().map(curve).collect())
    }
}

fn draw(title: &str, curves: &[Curve], plot: Plot) -> Result<String, Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let across = range(&mut points().map(|point| point.0));
    let (lowest, highest) = range(&mut points().map(|point| point.1));
    // Room for the names of the curves: times rise from the lower left, speed-ups leave the bottom free.
    let below = if plot == Plot::Time { 1.1 } else { 2.0 };
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .caption(title, words(22))
            .margin(16)
            .x_label_area_size(48)
            .y_label_area_size(84)
            .build_cartesian_2d(
                (across.0..across.1).log_scale().base(2.0),
                (lowest / below..highest * 1.1).log_scale(),
            )?;
        let figure = |value: &f64| match plot {
            Plot::Time => seconds(*value),
            Plot::Speedup => format!("{value:.2}x"),
        };
        chart
            .configure_mesh()
            .x_desc("size of a message")
            .y_desc(if plot == Plot::Time { "time" } else { "speed-up" })
            .x_labels(12)
            .x_label_formatter(&|size| bytes(size.round() as u64))
            .y_label_formatter(&figure)
            .axis_style(INK)
            .label_style(words(15))
            .bold_line_style(grid())
            .light_line_style(INK.mix(0.0))
            .draw()?;
        for (index, curve) in curves.iter().enumerate() {
            // A curve that others cover shows on both sides of them.
            let covered = curves[index + 1..].iter().filter(|above| curve.runs_as(above)).count() as u32;
            let (color, dashed) = look(index);
            let (style, points) = (color.stroke_width(2 + 3 * covered), curve.points.iter().copied());
            let series = match dashed {
                true => chart.draw_series(DashedLineSeries::new(points, 8, 5, style))?,
                false => chart.draw_series(LineSeries::new(points, style))?,
            };
            series.label(&curve.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
        }
        let place = if plot == Plot::Time { SeriesLabelPosition::UpperLeft } else { SeriesLabelPosition::LowerRight };
        chart.configure_series_labels().position(place).label_font(words(15)).border_style(grid()).draw()?;
        area.present()?;
    }
    Ok(svg)
}
