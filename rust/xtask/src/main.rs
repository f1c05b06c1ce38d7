//! Project chores: `cargo xtask <chore>`.
#![allow(clippy::print_stdout, reason = "a command line tool answers on standard output")]

mod size;
mod wheel;
mod words;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Stands for the arguments after the chore's name, in a command that takes some.
const ARGUMENTS: &str = "ARGUMENTS";

/// One chore: its name, what it does, and the commands that do it, in order.
struct Chore {
    name: &'static str,
    help: &'static str,
    commands: &'static [&'static str],
}

/// Every chore that is a list of commands. `python` stands for the interpreter of `PYTHON` or of the environment.
const CHORES: &[Chore] = &[
    Chore { name: "ci", help: "everything that must pass, in a fresh environment", commands: &["bash .ci/run"] },
    Chore {
        name: "lint",
        help: "formatting, lints, types and imports of Rust and Python",
        commands: &[
            "cargo fmt --all --check",
            "cargo clippy --workspace --all-targets --locked -- -D warnings",
            "python -m ruff check",
            "python -m ruff format --check",
            "python -m mypy",
            "python -m mypy tests/package/test_typing.py",
            "lint-imports --no-cache",
        ],
    },
    Chore {
        name: "format",
        help: "format Rust and Python",
        commands: &["cargo fmt --all", "python -m ruff check --fix", "python -m ruff format"],
    },
    Chore {
        name: "test",
        help: "Rust tests (the extension module is tested from Python)",
        commands: &["cargo test --workspace --exclude tt-python --locked"],
    },
    Chore {
        name: "test-smaller",
        help: "Rust tests as on a CPU without AVX-512, and as on one without AVX2 either",
        commands: &[
            "env TT_CPU_AT_MOST=avx2 cargo test --workspace --exclude tt-python --locked",
            "env TT_CPU_AT_MOST=scalar cargo test --workspace --exclude tt-python --locked",
        ],
    },
    Chore {
        name: "reference",
        help: "ten million outputs of the FPU against an independent integer reference",
        commands: &["cargo run --release --quiet --package tt-fpu --example matmul_reference -- 10000000"],
    },
    Chore {
        name: "generated",
        help: "check _engine.pyi against the installed module, and the stubs and pages that are written from the sources",
        commands: &[
            "python -m mypy.stubtest ttnn._engine --mypy-config-file pyproject.toml --ignore-disjoint-bases \
                    --allowlist rust/xtask/stubtest-allowlist.txt",
            "python -m ttnn.operation.stubs python/ttnn_rs/ttnn --check",
            "python docs/make_operators.py --check",
            "python docs/make_kernel_api.py --check",
        ],
    },
    Chore {
        name: "stubs",
        help: "write ttnn/ops/__init__.pyi, ttnn/namespaces.pyi and the keyword arguments in ttnn/_engine.pyi",
        commands: &["python -m ttnn.operation.stubs python/ttnn_rs/ttnn"],
    },
    Chore {
        name: "docs",
        help: "write docs/operators.md and docs/kernel-api.md from the sources, and the README's picture",
        commands: &[
            "python docs/make_operators.py",
            "python docs/make_kernel_api.py",
            "python -m ttnn demo --output docs/demo.png",
        ],
    },
    Chore {
        name: "fast-mode",
        help: "measure the distances of the fast mode and write the table of docs/fast-mode.md; takes some minutes",
        commands: &["python docs/make_fast_mode.py"],
    },
    Chore {
        name: "models",
        help: "run the demos of models and write the table of docs/models.md; takes names; up to 13 GB",
        commands: &["python docs/make_models.py ARGUMENTS"],
    },
    Chore { name: "meshes", help: "write the picture of docs/meshes.md", commands: &["python docs/make_meshes.py"] },
    Chore {
        name: "coverage",
        help: "write which operators and data types golden vectors cover; takes their folder",
        commands: &["python tests/testkit vector_coverage ARGUMENTS"],
    },
    Chore {
        name: "pairs",
        help: "functions of two operands: 2^24 pairs at every CPU level against the scalar form",
        commands: &["cargo test --release -p tt-sfpu --test all --locked pairs -- --ignored --nocapture"],
    },
    Chore {
        name: "every-pair",
        help: "the same with all 2^32 pairs of bfloat16 values; takes names, --threads N, --part K/N, --list",
        commands: &["cargo run --release --quiet -p tt-sfpu --example exhaustive --locked -- pairs ARGUMENTS"],
    },
    Chore {
        name: "every-input",
        help: "functions of one operand: all 2^32 words at every CPU level; takes what every-pair takes",
        commands: &["cargo run --release --quiet -p tt-sfpu --example exhaustive --locked -- inputs ARGUMENTS"],
    },
    Chore {
        name: "every-place",
        help: "every operator x data type x layout x shape x place, on the installed package; takes names, --jobs N",
        commands: &["python tests/testkit every_place ARGUMENTS"],
    },
    Chore {
        name: "speculative",
        help: "forms of the speculative lanes: 32 million of each kind against the SFPU's multiply-add",
        commands: &["cargo test --release -p tt-sfpu --test all --locked lanes -- --ignored --nocapture"],
    },
    Chore {
        name: "bounds",
        help: "bounds of speculative programs, asserted for all bfloat16 values and 10 million words of each function",
        commands: &["cargo test --release -p tt-sfpu --test all --locked bounds -- --ignored --nocapture"],
    },
    Chore {
        name: "fuzz",
        help: "200,000 random programs of kernels, each run twice, on the installed package",
        commands: &["python tests/metal/random_programs.py --programs 200000"],
    },
    Chore {
        name: "fuzz-bytes",
        help: "programs of kernels from libFuzzer's bytes; takes its arguments, such as -max_total_time=600",
        commands: &["cargo run --package fuzz --bin programs --features libfuzzer --target host-tuple \
             --target-dir target/fuzz --config build.rustflags=['--cfg=fuzzing','-Cpasses=sancov-module',\
             '-Cllvm-args=-sanitizer-coverage-level=4','-Cllvm-args=-sanitizer-coverage-inline-8bit-counters',\
             '-Cllvm-args=-sanitizer-coverage-pc-table'] -- ARGUMENTS"],
    },
    Chore {
        name: "mutants",
        help: "changes of a crate that the tests notice, of a sample; takes a crate and --sample N; needs cargo-mutants",
        commands: &["python tests/testkit mutants ARGUMENTS"],
    },
    Chore {
        name: "bench",
        help: "Python benchmarks of the installed package",
        commands: &["python -m pytest benches --benchmark-only"],
    },
];

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let root = repository();
    match wanted.as_str() {
        "size" => return size::print(&root),
        "wheel" => return wheel::build(&root, &python()),
        "words" => return words::check(&root),
        _ => {}
    }
    let Some(chore) = CHORES.iter().find(|chore| chore.name == wanted) else {
        println!("cargo xtask <chore>");
        for chore in CHORES {
            println!("  {:11} {}", chore.name, chore.help);
        }
        println!("  {:11} lines per module, and what changed since the last commit", "size");
        println!(
            "  {:11} build the wheel that is handed out, and run the demo from it in a clean environment",
            "wheel"
        );
        println!("  {:11} check first lines of docstrings and commit subjects against rust/xtask/words.txt", "words");
        return ExitCode::from(2);
    };
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    if !arguments.is_empty() && !chore.commands.iter().any(|command| command.ends_with(ARGUMENTS)) {
        println!("cargo xtask {wanted} takes no arguments");
        return ExitCode::from(2);
    }
    for command in chore.commands {
        println!("$ {}", command.replace(ARGUMENTS, &arguments.join(" ")));
        if !run(&root, command, &arguments) {
            println!("failed: {command}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The folder of the workspace.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map_or_else(PathBuf::new, Path::to_path_buf)
}

/// The interpreter of `PYTHON` or of the environment.
fn python() -> PathBuf {
    PathBuf::from(std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned()))
}

/// Runs one command in `root`, with `arguments` where it takes some; false if it failed or could not be started.
fn run(root: &Path, command: &str, arguments: &[String]) -> bool {
    let (command, arguments) =
        command.strip_suffix(ARGUMENTS).map_or((command, &[][..]), |command| (command.trim_end(), arguments));
    let mut words = command.split(' ');
    let python = python();
    let program = match words.next() {
        Some("python") => python,
        // A script of the environment stands beside its interpreter.
        Some(script @ "lint-imports") => python.with_file_name(script),
        program => PathBuf::from(program.unwrap_or_default()),
    };
    Command::new(program).args(words).args(arguments).current_dir(root).status().is_ok_and(|status| status.success())
}
