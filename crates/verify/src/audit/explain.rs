//! What the codes of programs mean, in a few sentences each.

use super::Code;
use crate::verify;

/// The sentences for a code.
pub(super) fn of(code: Code) -> &'static str {
    match code {
        Code::P001 => {
            "Packets of a channel answer its receives in order. Here one side has more than the other: a receive \
             waits for a packet that nobody sends, or a packet is left over when all workers have finished. Usually \
             an operation was left out, or stands on the wrong channel."
        }
        Code::P002 => {
            "A packet of some slots is received as one of more or fewer. Both sides must say the same count; often \
             an operation before these two was left out, so that packets answer the wrong receives."
        }
        Code::P003 => {
            "Each of the workers named waits for the next, and the last for the first: for a packet, for room in a \
             full channel, or for an operation of another worker. Since nothing else can free them, this happens in \
             every run. More slots in a channel help where a full one is in the circle; else the order of operations \
             in a worker, or a wait, is wrong."
        }
        Code::P004 => {
            "Two operations of a rank touch the same slot, at least one writes it, and nothing says which comes first: \
             neither do they stand in one worker, nor does a chain of waits and packets lead from one to the other. \
             What is read then depends on luck. Let the later one wait for the earlier one."
        }
        Code::P005 => {
            "Two workers send on one channel, or two receive from it. Then the order of packets is not fixed. Give \
             each its own channel."
        }
        Code::P006 => {
            "A slot beyond the end of its buffer, a channel or a worker that is not there, a channel of other ranks, an \
             operation waited for that its worker does not have; or the slots an operation writes overlap in part those \
             it reads, so that its outcome depends on how it goes about it."
        }
        Code::P007 => {
            "When all is done, the slot holds another chunk than it should, or a sum of different chunks. The \
             operation where it went wrong is named. Often an offset is wrong."
        }
        Code::P008 => {
            "The program claims to be free of contention, but in some run two transfers are on one link at a time: nothing \
             makes the second wait until the first was received. Usually a barrier between two steps is missing, or a \
             worker that sends does not wait for it. Packets that are one transfer are counted in `transfers` of their \
             channel."
        }
        _ => code.of_schedules().map_or("", verify::Code::explanation),
    }
}
