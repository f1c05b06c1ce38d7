"""The official module of this name: the state of the database of reports, which is not built. Nothing is open."""

from __future__ import annotations

import sqlite3

SQLITE_DB_PATH = "db.sqlite"
TENSORS_PATH = "tensors"
GRAPHS_PATH = "graph"
CONFIG_PATH = "config.json"
SQLITE_CONNECTION: sqlite3.Connection | None = None
DEVICE_IDS_IN_DATABASE: set[int] = set()
