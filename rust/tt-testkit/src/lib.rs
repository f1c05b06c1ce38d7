//! Helpers for tests: golden vectors, generators, independent reference models.

pub mod golden;
pub mod random;
pub mod reference;
pub mod riscv;
