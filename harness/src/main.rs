//! The command line.

fn main() -> std::process::ExitCode {
    harness::cli::main()
}
