"""Complex tensors: pairs of real tensors, and their operators."""
