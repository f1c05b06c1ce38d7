"""Complex tensors: two real tensors of one shape, and operators made of those on real tensors."""
