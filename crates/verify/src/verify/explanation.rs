//! What each code means, at length: the text behind `synth explain`.

use super::Code;

/// Meaning, a small example, what to do.
pub(super) fn of(code: Code) -> &'static str {
    match code {
        Code::F001 => {
            "The file cannot be read as JSON: a comma or bracket is missing or too many, a string is not closed, the file \
             was cut short. The message gives the line and column at which reading stopped; the mistake is there or just \
             before. Example: `{\"width\": 1 \"transfers\": []}` lacks a comma after the 1."
        }
        Code::F002 => {
            "An object has a key that the format does not know, has a key twice, or lacks one that it must have. Unknown \
             keys are refused, so that a misspelt option is never silently ignored. Example: `\"chunk\": [3]` in a \
             transfer, where the key is `chunks`. Correct the key; `synth schema` prints every key the format has."
        }
        Code::F003 => {
            "A key is known, but its value is of the wrong type or outside what the key allows. Examples: `\"width\": \
             \"2\"` (a string for a number), `\"op\": \"add\"` (operations are `copy` and `reduce`), `\"parts\": 0`. \
             `synth schema` says what each key takes."
        }
        Code::F004 => {
            "The file says that it is of a format or version this program does not read. A schedule starts with \
             `\"format\": \"collective-schedule/1\"`. Convert the file, or use a program that reads its version; it is \
             not guessed at."
        }
        Code::F005 => {
            "A transfer names a chunk that the collective does not have. Chunk ids run from 0 and depend on the kind of \
             collective, the number of ranks and the number of parts: all_to_all on 4 ranks in 1 part has the chunks 0 to \
             15, and 16 is out of range. A frequent cause is a schedule made for another number of parts."
        }
        Code::F006 => {
            "A transfer lists the same chunk more than once. Sending it twice over one link in one step uses room and \
             brings nothing. Example: `\"chunks\": [4, 7, 4]`. Remove the repetition, or correct the id that was meant."
        }
        Code::F007 => {
            "No transfer moves any chunk, although some rank needs data of another. Only a trivial collective (one live \
             rank, or no demand between different ranks) has an empty schedule. Usually the steps were lost when the file \
             was written."
        }
        Code::F008 => {
            "The topology in the file cannot be built: an extent of 0, a failed link between ranks that are not \
             neighbours, a failure stated twice, a capacity of 0. Example: on a 4x4x4 torus, `{\"from\": 2, \"to\": 4}` \
             is no cable. The message says what does not fit and what would."
        }
        Code::F009 => {
            "The topology and the collective are each well-formed, but not together: a root that is out of range or \
             failed, a demand matrix of another size than the number of ranks, more chunks than are handled. Correct the \
             collective, or use the topology it was written for."
        }
        Code::T001 => {
            "A transfer names a rank that the topology does not have, or one that failed. Ranks are 0 to N-1; a failed \
             rank takes no part, and the others keep their numbers. Example: a transfer to rank 9 on a 3x3 torus. Correct \
             the number, or route around the failed rank."
        }
        Code::T002 => {
            "A transfer goes from one rank to another, but no link joins them: data moves one hop a step. Example: 0 -> 2 \
             on a ring of 4, which needs two steps, by way of 1 or 3. The same code is given where two links join the \
             ranks and the transfer does not say which (add `\"via\": \"x+\"`), or where `via` names a direction that \
             does not lead to the receiver."
        }
        Code::T003 => {
            "A transfer uses a link that the machine was built with but that failed. A failed cable removes both of its \
             directions. Example: 2 -> 3 on a ring whose cable between 2 and 3 is dead. Send the chunk the other way \
             round, or have the schedule planned again for this topology."
        }
        Code::L001 => {
            "Two transfers of the same step use the same directed link. In a step a link carries one transfer. Example: \
             0 -> 1 with chunk 1 and again 0 -> 1 with chunk 2. Put the chunks into one transfer if the width allows \
             it, else into different steps. The two directions of a cable are different links."
        }
        Code::L002 => {
            "A transfer carries more chunks than its link takes in a step: width of the step times capacity of the link. \
             Example: 3 chunks over a link of capacity 1 in a step of width 2. Widen the step (its volume grows), or \
             move chunks to another step or link."
        }
        Code::D001 => {
            "A rank sends a chunk that it does not hold when the step begins. What arrives in a step is there only when \
             the step ends, so a chunk cannot be received and sent on in one step. Example: 0 -> 1 and 1 -> 2 with the \
             same chunk in step 1. The message says whether the chunk arrives too late or never. Move the transfer to a \
             later step, or add the hop that is missing."
        }
        Code::D002 => {
            "The schedule ends, and a rank does not hold a chunk that the collective promises it. The message says where \
             the chunk got stuck. Example: all_to_all on a ring of 4 in which chunk 0>2 reaches rank 1 and stays there. \
             Add the hops that are missing."
        }
        Code::D003 => {
            "Several transfers of one step bring the same chunk to the same rank, and at least one of them is a copy. A \
             copy replaces what the receiver holds, so what stays would depend on which arrives last. Example: copies of \
             chunk 5 from both neighbours in step 2. Keep one, or make all of them `reduce` if they are to be added. \
             Several reduces in one step are fine: they are added in the order of the file."
        }
        Code::R001 => {
            "A `reduce` adds two values that share the contribution of a rank, which would then be counted twice. \
             Example: rank 1 has already added what rank 0 sent, and rank 0 sends the same again. Send partial sums over \
             a tree, each contribution once; where a finished sum is only handed on, use `copy`."
        }
        Code::R002 => {
            "At the end a rank holds a sum that lacks the contribution of some ranks. Example: in a ring reduce_scatter \
             one of the N-1 hops is missing, or a `copy` replaced a partial sum where a `reduce` was meant. The message \
             lists the ranks whose contributions are missing."
        }
        Code::R003 => {
            "A transfer with `\"op\": \"reduce\"` carries a chunk that is moved as it is: messages of an all_to_all, \
             shards of an all_gather, and the values of all_reduce_gathered, which cannot be added in flight. Use `copy` \
             (the default)."
        }
        Code::C001 => {
            "The file claims a lower bound in `bounds`, and its evidence does not prove it: the ranks are closer than the \
             steps claimed, the weights or sets give less volume than claimed, or the evidence names links or ranks that \
             do not fit. The schedule itself may be fine. Correct or remove the bound; `synth bound` finds one that \
             holds."
        }
        Code::W001 => {
            "A chunk is sent to a rank that already holds just this, or a transfer carries no chunk at all. The result is \
             right, but the room on the link is wasted. Example: chunk 0>2 reaches rank 1 again after it was there. \
             Remove the transfer."
        }
        Code::W002 => {
            "A chunk reaches a rank that does not need it at the end and does not send it on in a later step. The result \
             is right, but the move is wasted. Often this is what remains of a detour, or a sign that the next hop was \
             forgotten."
        }
        Code::W003 => {
            "Ranks that all hold the same sum at the end have added its contributions in different orders, such as \
             (a+b)+c and a+(b+c). Integer sums are equal; floating-point sums may differ in the last bits between ranks. \
             If ranks must agree to the bit, reduce each chunk once and copy the result."
        }
        Code::W004 => {
            "A step has no transfer. It costs a start-up, and its width counts as volume, for nothing. Remove it."
        }
    }
}
