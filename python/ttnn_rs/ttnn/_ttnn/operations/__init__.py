"""Operators and their helpers, of which programs name those below."""

from ttnn._ttnn.operations import ccl as ccl
from ttnn._ttnn.operations import core as core
from ttnn._ttnn.operations import experimental as experimental
