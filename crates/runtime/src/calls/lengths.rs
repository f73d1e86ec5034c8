//! Checks that the buffers of a call have the lengths that its layout requires.

use super::error::RunError;
use collsynth_core::program::Layout;

/// The elements of a block, from the lengths of buffers; 0 for a rank without blocks.
pub(crate) fn block_length(layout: &Layout<'_>, input: usize, output: usize) -> Result<usize, RunError> {
    let (inputs, outputs) = layout.blocks();
    let (buffer, found, blocks) = if outputs == 0 { ("input", input, inputs) } else { ("output", output, outputs) };
    match found.checked_rem(blocks) {
        None => Ok(0),
        Some(0) => Ok(found / blocks),
        Some(_) => {
            let rule = format!("it must be a multiple of {blocks}, a block for each rank");
            Err(RunError::Length { buffer, found, rule })
        }
    }
}

/// Checks buffer lengths against blocks of `block` elements.
pub(crate) fn check(layout: &Layout<'_>, block: usize, input: usize, output: usize) -> Result<(), RunError> {
    let (inputs, outputs) = layout.blocks();
    for (buffer, found, blocks) in [("input", input, inputs), ("output", output, outputs)] {
        if blocks.checked_mul(block) != Some(found) {
            let rule = format!("it must have {} ({blocks} blocks of {block})", blocks.saturating_mul(block));
            return Err(RunError::Length { buffer, found, rule });
        }
    }
    Ok(())
}
