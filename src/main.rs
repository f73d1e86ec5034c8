//! The `synth` command. Everything it does is in the library's `cli`, one file per command.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(collsynth::cli::run(std::env::args_os()))
}
