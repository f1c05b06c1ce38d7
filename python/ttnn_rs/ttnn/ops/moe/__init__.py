"""Mixture of experts: gates, routers and exchanges of tokens between experts."""
