//! Numbers as people read them.

use collsynth_core::certificate::Rational;

/// An exact number: `34` or `1024/31`.
pub fn exact(value: Rational) -> String {
    value.to_string()
}

/// An exact number, with its decimals unless it is whole: `34`, `1024/31 = 33.032`.
pub fn exact_and_decimal(value: Rational) -> String {
    if value.is_integer() { value.to_string() } else { format!("{value} = {:.3}", decimal(value)) }
}

/// The nearest floating-point number.
pub fn decimal(value: Rational) -> f64 {
    *value.numer() as f64 / *value.denom() as f64
}

/// The approximate ratio of any two numbers, for people.
pub fn times(value: Rational, of: Rational) -> f64 {
    let product = |a: i128, b: i128| a.checked_mul(b).map_or(a as f64 * b as f64, |product| product as f64);
    product(*value.numer(), *of.denom()) / product(*value.denom(), *of.numer())
}

/// A share in percent: `87 %`.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A share in percent, with decimals if it is small: `2.9 %`, `0.04 %`.
pub fn fine_percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.1 => format!("{percent:.2} %"),
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// A time: `1.50 us`, `0.21 s`.
pub fn seconds(value: f64) -> String {
    let (scaled, unit) = match value {
        value if value >= 0.1 || value == 0.0 => (value, "s"),
        value if value >= 1e-4 => (value * 1e3, "ms"),
        value if value >= 1e-7 => (value * 1e6, "us"),
        value => (value * 1e9, "ns"),
    };
    format!("{scaled:.2} {unit}")
}

/// A size in the largest unit that divides it: `64KiB`.
pub fn bytes(size: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.iter().find(|(_, bits)| size > 0 && size.is_multiple_of(1 << bits));
    unit.map_or(format!("{size}B"), |(name, bits)| format!("{}{name}", size >> bits))
}

/// About that size, in three digits: `441 KiB`, `5.07 MiB`, `12 bytes`.
pub fn about_bytes(size: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let Some((unit, bits)) = units.into_iter().find(|(_, bits)| size >= 1 << bits) else {
        return count(size as usize, "byte");
    };
    match size as f64 / (1_u64 << bits) as f64 {
        few if few < 9.995 => format!("{few:.2} {unit}"),
        some if some < 99.95 => format!("{some:.1} {unit}"),
        many => format!("{many:.0} {unit}"),
    }
}

/// Bytes per second in a unit that leaves digits before the point: `12.500 GB/s`, `3.210 kB/s`.
pub fn rate(bytes_a_second: f64) -> String {
    let units = [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)];
    let unit = units.into_iter().find(|(_, factor)| bytes_a_second >= *factor);
    let (name, factor) = unit.unwrap_or(("B/s", 1.0));
    format!("{:.3} {name}", bytes_a_second / factor)
}

/// A number and a noun, in the plural unless the number is 1: `1 cable`, `3 cables`, `2 switches`.
pub fn count(number: usize, noun: &str) -> String {
    let ending = if noun.ends_with("ss") || noun.ends_with("ch") { "es" } else { "s" };
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}{ending}") }
}

/// A description with its article, by how its number is spoken: `a 4x4 torus`, `an 8x8x8 torus`.
pub fn with_article(noun: &str) -> String {
    let number: String = noun.chars().take_while(char::is_ascii_digit).collect();
    // Eight, eighty, eight hundred; eleven and eighteen, thousands of them too.
    let is_teen = (number.starts_with("11") || number.starts_with("18")) && number.len() % 3 == 2;
    let article = if number.starts_with('8') || is_teen { "an" } else { "a" };
    format!("{article} {noun}")
}

/// At most `most` items, separated, and the number of the others.
pub fn shortened(items: impl ExactSizeIterator<Item = String>, most: usize, separator: &str) -> String {
    let more = items.len().saturating_sub(most);
    let others = (more > 0).then(|| format!("and {more} more"));
    items.take(most).chain(others).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(exact_and_decimal(Rational::new(1024, 31)), "1024/31 = 33.032");
        assert_eq!(exact_and_decimal(Rational::new(68, 2)), "34");
        assert_eq!(percent(0.866), "87 %");
        assert_eq!(fine_percent(0.02928), "2.9 %");
        assert_eq!(fine_percent(0.0004), "0.04 %");
        assert_eq!(
            [seconds(0.0), seconds(1.5e-6), seconds(0.0213), seconds(61.0)],
            ["0.00 s", "1.50 us", "21.30 ms", "61.00 s"]
        );
        assert_eq!([65536, 1 << 20, 1000, 1536].map(bytes), ["64KiB", "1MiB", "1000B", "1536B"]);
        assert_eq!([1, 1023, 451_556, 5_314_286].map(about_bytes), ["1 byte", "1023 bytes", "441 KiB", "5.07 MiB"]);
        assert_eq!([12.5e9, 3210.0, 0.5].map(rate), ["12.500 GB/s", "3.210 kB/s", "0.500 B/s"]);
        assert_eq!([count(1, "rank"), count(0, "rank")], ["1 rank", "0 ranks"]);
        let articles =
            ["8x8 torus", "11x2 torus", "18 cables", "800 ranks", "11000 ranks", "4x8 torus", "110 ranks", "ring"];
        let all: Vec<String> = articles.map(with_article).into();
        assert!(
            all[..5].iter().all(|text| text.starts_with("an ")) && all[5..].iter().all(|text| text.starts_with("a "))
        );
        assert_eq!(shortened((0..5).map(|i| i.to_string()), 3, ", "), "0, 1, 2, and 2 more");
    }
}
