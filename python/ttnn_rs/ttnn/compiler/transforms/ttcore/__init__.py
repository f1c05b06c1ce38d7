"""Passes of the dialect `ttcore`: the system, the device, kinds of arguments."""
