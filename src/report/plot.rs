//! The look of plots: on any background, light or dark.
//!
//! Nothing is painted behind them, and every color has a contrast of about 4:1 against white and against black.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::{Color, RGBColor, ShapeStyle};
use plotters::style::{IntoTextStyle, TextStyle};

/// Axes and words.
pub(super) const INK: RGBColor = RGBColor(128, 128, 128);

/// Curves, in order.
const COLORS: [RGBColor; 10] = [
    RGBColor(59, 125, 216),
    RGBColor(214, 69, 61),
    RGBColor(47, 143, 78),
    RGBColor(154, 95, 208),
    RGBColor(192, 102, 26),
    RGBColor(31, 138, 145),
    RGBColor(207, 79, 148),
    RGBColor(156, 107, 63),
    RGBColor(125, 125, 32),
    RGBColor(100, 120, 143),
];

/// The color of a curve, and whether it is dashed: from the eleventh on, colors come again.
pub(super) fn look(curve: usize) -> (RGBColor, bool) {
    (COLORS[curve % COLORS.len()], curve / COLORS.len() % 2 == 1)
}

/// Lines of the grid.
pub(super) fn grid() -> ShapeStyle {
    INK.mix(0.25).stroke_width(1)
}

/// Words of this size; 15 are about 12 pixels high.
pub(super) fn words(size: u32) -> TextStyle<'static> {
    ("sans-serif", size, &INK).into_text_style(&(960, 600))
}

/// An axis with numbers at these places and nowhere else.
pub(super) struct Axis {
    pub range: Range<f64>,
    pub ticks: Vec<f64>,
    pub is_log: bool,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let place = |value: f64| if self.is_log { value.ln() } else { value };
        let (low, high) = (place(self.range.start), place(self.range.end));
        let share = (place(*value) - low) / (high - low);
        first + (share * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.ticks.clone(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// Round numbers from the first to the last of a range, a step of 1, 2 or 5 times a power of ten apart, and at least
/// `finest`; about `most` of them.
pub(super) fn ticks(from: f64, to: f64, most: usize, finest: f64) -> Vec<f64> {
    let wanted = ((to - from) / most as f64).max(finest);
    let power = 10_f64.powf(wanted.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= wanted * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((from / step - 1e-9).ceil() as i64, (to / step + 1e-9).floor() as i64);
    (first..=last).map(|number| number as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(ticks(3.5, 5.2, 10, 1.0), [4.0, 5.0]);
        assert_eq!(ticks(0.9, 41.0, 10, 1.0), [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0]);
        assert_eq!(ticks(0.0, 0.04, 4, 0.001).len(), 5);
    }

    /// The contrast of WCAG 2.2.
    fn contrast(one: RGBColor, other: RGBColor) -> f64 {
        let linear = |byte: u8| match f64::from(byte) / 255.0 {
            dark if dark <= 0.04045 => dark / 12.92,
            light => ((light + 0.055) / 1.055).powf(2.4),
        };
        let luminance =
            |RGBColor(red, green, blue)| 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        f64::max(one / other, other / one)
    }

    #[test]
    fn curves_and_words_show_on_white_and_on_black() {
        for color in COLORS.into_iter().chain([INK]) {
            for background in [RGBColor(255, 255, 255), RGBColor(0, 0, 0), RGBColor(13, 17, 23)] {
                assert!(contrast(color, background) >= 3.9, "{color:?} on {background:?}");
            }
        }
        assert_ne!(look(0), look(10));
    }
}
