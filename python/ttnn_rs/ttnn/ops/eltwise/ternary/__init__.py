"""Element-wise operators on three tensors."""
