//! The `synth` command.

fn main() {}
