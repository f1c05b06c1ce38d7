"""Devices: opening and closing them, their coordinates, sub-devices, events and memory."""
