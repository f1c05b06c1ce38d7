//! Helpers for tests: golden vectors, generators, independent reference models.
