//! Rust benches of the engine; see `benches/`.
