//! Prices in words.

use collsynth_core::topology::dim_name;
use collsynth_plan::cost::{Bandwidth, Price, Rates};
use collsynth_verify::report::figures::seconds;

/// The cost model in words.
pub(super) fn describe_rates(rates: &Rates) -> String {
    let rate = |bandwidth: f64| format!("{} GB/s", (bandwidth / 1e9 * 1e6).round() / 1e6);
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

/// The same of the price of one message size.
pub fn describe_price(price: &Price) -> String {
    let Price { alpha, bandwidth, .. } = *price;
    describe_rates(&Rates { alpha, transfer_setup: 0.0, bandwidth: Bandwidth::Uniform(bandwidth) })
}
