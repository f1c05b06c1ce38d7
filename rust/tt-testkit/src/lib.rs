//! Helpers for tests: golden vectors, generators, independent reference models.

pub mod golden;
