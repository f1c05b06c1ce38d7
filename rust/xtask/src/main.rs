//! `cargo xtask <chore>`.
fn main() {}
