//! `cargo xtask wheel`: the distributed wheel, built and tried.
//!
//! It is built with zig against an old C library, and tried from outside.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Where the wheel is written, below the repository.
const FOLDER: &str = "dist";
/// The oldest Linux that wheels of this toolchain run on: glibc 2.17.
const PLATFORM: &str = "manylinux2014";

/// Builds the wheel, and runs its demo in a clean environment.
///
/// It is installed outside the repository.
pub fn build(root: &Path, python: &Path) -> ExitCode {
    match wheel(root, python) {
        Ok((path, bytes)) => {
            println!("{}: {:.1} MB", path.display(), bytes as f64 / 1e6);
            ExitCode::SUCCESS
        }
        Err(command) => {
            println!("failed: {command}");
            ExitCode::FAILURE
        }
    }
}

/// Returns path and size of the wheel, or the command that failed.
fn wheel(root: &Path, python: &Path) -> Result<(PathBuf, u64), String> {
    let folder = root.join(FOLDER);
    let _ = std::fs::remove_dir_all(&folder);
    // maturin finds zig through the first `python3` of the path.
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let path = python.parent().map(Path::to_path_buf).into_iter().chain(std::env::split_paths(&folders));
    let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
    let build = ["-m", "maturin", "build", "--release", "--zig", "--compatibility", PLATFORM, "--out", FOLDER];
    run(Command::new(python).args(build).env("PATH", path).current_dir(root))?;

    let built = std::fs::read_dir(&folder).map_err(|error| error.to_string())?.find_map(Result::ok);
    let built = built.ok_or_else(|| format!("no wheel in {FOLDER}"))?.path();
    if run(Command::new(python).args(["-m", "auditwheel", "show"]).arg(&built)).is_err() {
        println!("auditwheel is not installed or refuses the wheel");
    }

    let clean = std::env::temp_dir().join(format!("ttnn-wheel-{}", std::process::id()));
    let tried = try_out(python, &built, &clean);
    let _ = std::fs::remove_dir_all(&clean);
    tried?;
    let bytes = std::fs::metadata(&built).map_err(|error| error.to_string())?.len();
    Ok((built, bytes))
}

/// Installs the wheel into a new environment in `clean` and runs the demo from there.
fn try_out(python: &Path, wheel: &Path, clean: &Path) -> Result<(), String> {
    run(Command::new(python).args(["-m", "venv"]).arg(clean))?;
    let installed = clean.join("bin").join("python");
    let with_demo = format!("{}[demo]", wheel.display());
    run(Command::new(&installed).args(["-m", "pip", "install", "--quiet", &with_demo]))?;
    run(Command::new(&installed).args(["-m", "ttnn", "demo"]).current_dir(clean))
}

/// Runs a command after printing it.
fn run(command: &mut Command) -> Result<(), String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let text = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    println!("$ {text}");
    if command.status().is_ok_and(|status| status.success()) { Ok(()) } else { Err(text) }
}
