"""Layouts, devices and system descriptors as plain data, with algebra."""
