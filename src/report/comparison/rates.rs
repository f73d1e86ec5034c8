//! Prices in words.

use collsynth_core::topology::dim_name;
use collsynth_plan::cost::{Bandwidth, Price, Rates};
use collsynth_verify::report::figures::seconds;

/// The cost model in words.
pub(super) fn describe_rates(rates: &Rates) -> String {
    let mut words = vec![format!("{} a step", seconds(rates.alpha))];
    if rates.transfer_setup > 0.0 {
        words.push(format!("{} a transfer", seconds(rates.transfer_setup)));
    }
    words.push(match &rates.bandwidth {
        Bandwidth::Uniform(bandwidth) => format!("{} over a link of capacity 1", rate(*bandwidth)),
        Bandwidth::PerDimension(bandwidths) => {
            let each = bandwidths.iter().enumerate();
            each.map(|(dim, &bandwidth)| format!("{} along {}", rate(bandwidth), dim_name(dim as u8)))
                .collect::<Vec<_>>()
                .join(", ")
        }
    });
    words.join(", ")
}

/// A bandwidth in six digits, in a unit that leaves some before the point where there is one: `12.5 GB/s`, `3 kB/s`.
fn rate(bandwidth: f64) -> String {
    let units = [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)];
    let unit = units.into_iter().find(|(_, factor)| bandwidth >= *factor);
    let (name, factor) = unit.unwrap_or(("B/s", 1.0));
    let amount = bandwidth / factor;
    let digits: f64 = format!("{amount:.5e}").parse().unwrap_or(amount);
    format!("{digits} {name}")
}

/// The same of the price of one message size.
pub fn describe_price(price: &Price) -> String {
    let Price { alpha, bandwidth, .. } = *price;
    describe_rates(&Rates { alpha, transfer_setup: 0.0, bandwidth: Bandwidth::Uniform(bandwidth) })
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn no_bandwidth_is_shown_as_none() {
        let rates = [50e9, 12.5e9, 400e9 / 3.0, 0.5e9, 3210.0, 0.001, 1e-9].map(rate);
        let shown = ["50 GB/s", "12.5 GB/s", "133.333 GB/s", "500 MB/s", "3.21 kB/s", "0.001 B/s", "0.000000001 B/s"];
        assert_eq!(rates, shown);
    }
}
