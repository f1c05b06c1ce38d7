"""Element-wise operators on one tensor."""
