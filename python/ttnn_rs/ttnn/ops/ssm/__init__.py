"""Steps of state space models."""
