//! The look of plots: on any background, light or dark.
//!
//! Nothing is painted behind them, and every color has a contrast of about 4:1 against white and against black.

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

#[cfg(test)]
mod tests {
    use super::*;

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
