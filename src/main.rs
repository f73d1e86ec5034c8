//! The `synth` command. Everything it does is in `cli`, one file per command.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
