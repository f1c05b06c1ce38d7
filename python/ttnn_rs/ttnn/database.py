"""Official module: the database of a report."""

from __future__ import annotations

import sqlite3

from ttnn.reports.database import *  # noqa: F403
from ttnn.reports.schema import Buffer as Buffer
from ttnn.reports.schema import BufferPage as BufferPage
from ttnn.reports.schema import Device as Device
from ttnn.reports.schema import ErrorRecord as ErrorRecord
from ttnn.reports.schema import InputTensor as InputTensor
from ttnn.reports.schema import Operation as Operation
from ttnn.reports.schema import OperationArgument as OperationArgument
from ttnn.reports.schema import OutputTensor as OutputTensor
from ttnn.reports.schema import Tensor as Tensor
from ttnn.reports.schema import TensorComparisonRecord as TensorComparisonRecord

SQLITE_CONNECTION: sqlite3.Connection | None = None
"""The connection that is open: none, because every call opens its own."""
