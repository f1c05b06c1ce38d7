"""Layouts, devices and system descriptors as plain data, and the algebra on them."""
