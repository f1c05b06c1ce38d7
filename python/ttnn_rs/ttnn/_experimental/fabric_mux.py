"""Official module: mux cores, which forward packets of several workers."""

from ttnn.metal.fabric_mux import *  # noqa: F403
