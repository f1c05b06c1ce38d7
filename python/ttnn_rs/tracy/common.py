"""Official module: folders and file names of a profiler.

No file of them is ever written here.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

TT_METAL_HOME: Final = Path(os.environ.get("TT_METAL_HOME", "."))
PROFILER_DEVICE_SIDE_LOG: Final = "profile_log_device.csv"
PROFILER_HOST_SIDE_LOG: Final = "profile_log_host.csv"
PROFILER_CPP_DEVICE_PERF_REPORT: Final = "cpp_device_perf_report.csv"
PROFILER_DEFAULT_OP_SUPPORT_COUNT: Final = 1000
PROFILER_ARTIFACTS_DIR: Final = TT_METAL_HOME / "generated" / "profiler"
PROFILER_LOGS_DIR: Final = PROFILER_ARTIFACTS_DIR / ".logs"
PROFILER_OUTPUT_DIR: Final = PROFILER_ARTIFACTS_DIR / "reports"


def generate_logs_folder(outFolder: str | os.PathLike[str]) -> Path:  # noqa: N803 - the official name
    """Return the folder of logs below an output folder."""
    return Path(outFolder) / ".logs"


def generate_reports_folder(outFolder: str | os.PathLike[str]) -> Path:  # noqa: N803 - the official name
    """Return the folder of reports below an output folder."""
    return Path(outFolder) / "reports"


def rm(fileOrFolder: str | os.PathLike[str]) -> None:  # noqa: N803 - the official name
    """Remove a file, or a folder with its content, if it exists."""
    path = Path(fileOrFolder)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def clear_profiler_runtime_artifacts() -> None:
    """Remove the logs of earlier profiles, if there are any."""
    rm(PROFILER_LOGS_DIR)
