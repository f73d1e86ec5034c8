//! Sizes, times and bandwidths as people write them: `64KiB`, `1us`, `50GB/s`.

use std::time::Duration;

/// Prefixes of bytes, the longer of two that end alike first.
const BYTES: [(&str, f64); 14] = [
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    // As in the benchmarks of collectives, where 4M is 4 MiB.
    ("K", 1024.0),
    ("M", 1_048_576.0),
    ("G", 1_073_741_824.0),
    ("T", 1_099_511_627_776.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("B", 1.0),
];

/// Up to here, prices count every byte.
const MOST_BYTES: u64 = 1 << f64::MANTISSA_DIGITS;

const BITS: [(&str, f64); 8] = [
    ("Kbit", 1e3),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
    ("Tbit", 1e12),
    // Of `Gbps`, which is `Gb/s`.
    ("Kb", 1e3),
    ("Mb", 1e6),
    ("Gb", 1e9),
    ("Tb", 1e12),
];

const SECONDS: [(&str, f64); 5] = [("min", 60.0), ("m", 60.0), ("h", 3600.0), ("sec", 1.0), ("s", 1.0)];
/// Parts of a second, and how many there are of them: 100ns is the number nearest to 1e-7.
const IN_A_SECOND: [(&str, f64); 4] = [("ns", 1e9), ("us", 1e6), ("µs", 1e6), ("ms", 1e3)];

/// The number that drives random choices.
pub fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "write a whole number from 0 to 2^64 - 1".to_owned())
}

/// A number of bytes: `64KiB`, `1.5MB`, `4096`.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || {
        let units: Vec<&str> = BYTES.iter().map(|(unit, _)| *unit).collect();
        let form = "write a number and B, KB, MB, GB, KiB, MiB or GiB, as in 64KiB".to_owned();
        format!("`{text}` is not a size: {}", other_case(text, &units).unwrap_or(form))
    };
    let bytes = match text.parse::<u64>() {
        Ok(bytes) => Some(bytes),
        Err(_) => Some(in_units(text, &BYTES).ok_or_else(wrong)?)
            .filter(|bytes| (1.0..=MOST_BYTES as f64).contains(bytes))
            .map(|bytes| bytes.round() as u64),
    };
    let within = bytes.filter(|bytes| (1..=MOST_BYTES).contains(bytes));
    within.ok_or_else(|| "a message has at least 1 byte, and at most 8 PiB".to_owned())
}

/// A number of bytes, which may be none: `0`, `64KiB`.
pub fn parse_bytes_or_none(text: &str) -> Result<u64, String> {
    if text.parse() == Ok(0_u64) { Ok(0) } else { parse_bytes(text) }
}

/// A time in seconds: `1us`, `30s`. Zero is a time.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    seconds(text, "s")
}

/// What a step, or a transfer, takes to start, in seconds: `1us`. Zero is a time.
pub fn parse_startup(text: &str) -> Result<f64, String> {
    seconds(text, "us")
}

/// A time in seconds; a number alone was probably meant in this unit.
fn seconds(text: &str, likely: &str) -> Result<f64, String> {
    let parts = || of_units(text, &IN_A_SECOND).map(|(number, parts)| number / parts);
    parts().or_else(|| in_units(text, &SECONDS)).ok_or_else(|| {
        let form = "write a number and ns, us, ms, s, min or h, as in 1.5us".to_owned();
        // Parts of a second that small are of one: 1e-6 is 1e-6s.
        let likely = |number: &str| {
            if number.parse().is_ok_and(|number: f64| 0.0 < number && number < 1e-3) { "s" } else { likely }
        };
        let meant = unitless(text).map(|number| format!("did you mean {number}{}?", likely(number)));
        format!("`{text}` is not a time: {}", meant.unwrap_or(form))
    })
}

/// A limit on time, or a time to wait.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(parse_seconds(text)?).map_err(|_| format!("`{text}` is too long"))
}

/// Bytes per second over every link of capacity 1. Planning counts widths, and a width is worth the same on all of
/// them: bandwidths of dimensions are refused, with the way to say the same.
pub fn parse_one_bandwidth(text: &str) -> Result<f64, String> {
    if text.contains('=') {
        return Err(
            "plans are made for one bandwidth, that of links of capacity 1. Where dimensions carry unlike amounts, \
                    state the proportions as capacities: for x=32GB/s,y=16GB/s write --capacity 2,1 --bandwidth 16GB/s"
                .to_owned(),
        );
    }
    parse_bandwidth(text)
}

/// Bytes per second: `50GB/s`, `400Gbit/s`.
pub fn parse_bandwidth(text: &str) -> Result<f64, String> {
    let wrong = || {
        let number = [text].into_iter().chain(["GB", "G"].into_iter().filter_map(|unit| text.strip_suffix(unit)));
        let number = number.filter_map(unitless).find(|number| *number != "0");
        let form = "write a number and GB/s, GiB/s, Gbit/s or Gbps, as in 50GB/s".to_owned();
        let meant = number.map(|number| match number.parse::<f64>() {
            // Bytes per second.
            Ok(bytes) if bytes >= 1e6 => format!("did you mean {}GB/s?", bytes / 1e9),
            _ => format!("did you mean {number}GB/s?"),
        });
        format!("`{text}` is not a bandwidth: {}", meant.unwrap_or(form))
    };
    let amount = text.strip_suffix("/s").or_else(|| text.strip_suffix("ps")).ok_or_else(wrong)?;
    let bytes =
        in_units(amount, &BITS).map(|bits| bits / 8.0).or_else(|| in_units(amount, &BYTES)).ok_or_else(wrong)?;
    if bytes > 0.0 { Ok(bytes) } else { Err("a bandwidth is more than 0".to_owned()) }
}

/// The text, if it is a number and nothing else.
fn unitless(text: &str) -> Option<&str> {
    text.parse::<f64>().ok().filter(|number| number.is_finite()).map(|_| text)
}

/// `did you mean 64KiB?` for 64kib.
fn other_case(text: &str, units: &[&str]) -> Option<String> {
    let number = text.trim_end_matches(char::is_alphabetic);
    let unit = &text[number.len()..];
    let meant = units.iter().find(|known| known.eq_ignore_ascii_case(unit) && unitless(number.trim()).is_some());
    meant.map(|unit| format!("did you mean {number}{unit}?"))
}

/// A finite, non-negative number followed by one of the units, in the unit's base.
fn in_units(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    of_units(text, units).map(|(number, factor)| number * factor)
}

/// A finite, non-negative number, and what belongs to the unit that follows it.
fn of_units(text: &str, units: &[(&str, f64)]) -> Option<(f64, f64)> {
    let (number, factor) = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let number: f64 = number.trim_end().parse().ok()?;
    (number.is_finite() && number.is_sign_positive()).then_some((number, *factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("64KiB"), Ok(65536));
        assert_eq!(parse_bytes("1.5MB"), Ok(1_500_000));
        assert_eq!(parse_bytes("2 GiB"), Ok(1 << 31));
        assert_eq!((parse_bytes("4M"), parse_bytes("64K"), parse_bytes("1kB")), (Ok(4 << 20), Ok(64 << 10), Ok(1000)));
        assert!(parse_bytes("64kib").unwrap_err().contains("did you mean 64KiB?"));
        assert!(parse_bytes("0").is_err() && parse_bytes("KiB").is_err() && parse_bytes("-1B").is_err());
        assert_eq!((parse_bytes_or_none("0"), parse_bytes_or_none("1KiB")), (Ok(0), Ok(1024)));
        assert!(parse_bytes("infB").is_err() && parse_bytes("1e30B").is_err() && parse_bytes("").is_err());
    }

    #[test]
    fn times() {
        assert_eq!(parse_seconds("1us"), Ok(1e-6));
        assert_eq!(parse_seconds("100ns"), Ok(1e-7));
        assert_eq!(parse_seconds("0s"), Ok(0.0));
        assert_eq!(parse_duration("30sec"), Ok(Duration::from_secs(30)));
        for (text, meant) in [("1", "1us?"), ("1e-6", "1e-6s?"), ("0.000001", "0.000001s?"), ("0", "0us?")] {
            assert!(parse_startup(text).unwrap_err().ends_with(&format!("did you mean {meant}")), "{text}");
        }
        assert_eq!(parse_duration("2min"), Ok(Duration::from_secs(120)));
        assert_eq!((parse_duration("5m"), parse_seconds("5ms")), (Ok(Duration::from_secs(300)), Ok(5e-3)));
        assert_eq!(parse_duration("1h"), Ok(Duration::from_secs(3600)));
        assert!(parse_duration("5").unwrap_err().contains("did you mean 5s?"));
        assert!(parse_seconds("3").is_err() && parse_duration("1e30s").is_err());
    }

    #[test]
    fn bandwidths() {
        assert_eq!(parse_bandwidth("50GB/s"), Ok(50e9));
        assert_eq!(parse_bandwidth("400Gbit/s"), Ok(50e9));
        assert_eq!((parse_bandwidth("400Gbps"), parse_bandwidth("50GBps")), (Ok(50e9), Ok(50e9)));
        assert!(parse_bandwidth("50").unwrap_err().contains("did you mean 50GB/s?"));
        assert_eq!(parse_bandwidth("1GiB/s"), Ok(1_073_741_824.0));
        assert!(parse_bandwidth("50GB").is_err() && parse_bandwidth("0GB/s").is_err());
        assert_eq!(parse_one_bandwidth("50GB/s"), Ok(50e9));
        let refused = parse_one_bandwidth("x=32GB/s,y=16GB/s").unwrap_err();
        assert!(refused.contains("--capacity 2,1 --bandwidth 16GB/s"), "{refused}");
    }
}
