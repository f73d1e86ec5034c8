//! The order in which messages take their paths from a flow, and the penalty of crowded links.

use std::cmp::Reverse;

use crate::model::network::{Message, Network};
use collsynth_bound::FlowNetwork;

/// The penalty, in chunks of flow, of a link that another chunk would load beyond its flow.
pub(super) const CROWDED: f64 = 1.0;

/// Origin and destination in the network of the flow, which may be reversed.
pub(super) fn joined_nodes(flow: &FlowNetwork, message: &Message) -> (usize, usize) {
    let (origin, dest) = (message.origin as usize, message.dest as usize);
    if flow.reversed { (dest, origin) } else { (origin, dest) }
}

/// Source by source, the messages with the most hops to go first.
pub(super) fn tracing_order(flow: &FlowNetwork, network: &Network, messages: &[Message]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..messages.len()).collect();
    let hops = |message: &Message| network.distance(message.origin, message.dest);
    order.sort_by_key(|&number| (joined_nodes(flow, &messages[number]).0, Reverse(hops(&messages[number])), number));
    order
}
