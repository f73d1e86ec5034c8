"""What programs for TPUs move, by Google's compiler, without a TPU: `python -m collsynth.jax.report v5p:4x4x4`."""
