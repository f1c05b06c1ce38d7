"""`CONFIG`: the package's switches, with defaults, values and environment variables.

Switches are checked when they are set; a switch or value that is not known, and one whose feature is not built, raise.
The environment is read once, when the package is imported: a program gets the exception, the command line a sentence.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from ttnn import _engine
from ttnn.base.call import shown
from ttnn.base.exceptions import ConfigError, FileAccessError, TtnnError
from ttnn.base.files import path_name, read_text, write_atomically
from ttnn.base.system_enums import SYSTEMS
from ttnn.base.temporary import default_temporary_folder, home_folder

_MAX_FILE_BYTES = 1 << 20
_Check = Callable[[str, Any], Any]


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"CONFIG.{name}: expected True or False, got {shown(value)}")
    return value


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigError(f"CONFIG.{name}: expected a number, got {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ConfigError(f"CONFIG.{name}: expected a number of float64, got {shown(value)}") from None


def _path(name: str, value: Any) -> Path:
    if not isinstance(value, (str, os.PathLike)):
        raise ConfigError(f"CONFIG.{name}: expected a path, got {shown(value)}")
    try:
        text = path_name(f"CONFIG.{name}", os.fspath(value) or os.curdir)
    except FileAccessError as error:
        raise ConfigError(error.sentence) from None
    # Unlike Path.expanduser, this leaves the home of a user who does not exist as it is written.
    return Path(os.path.expanduser(text))


def _optional_path(name: str, value: Any) -> Path | None:
    return None if value is None else _path(name, value)


def _folder(name: str, value: Any) -> Path | None:
    folder = _optional_path(name, value)
    # An empty path would be the working folder.
    if folder is not None and (not os.fspath(value) or not folder.is_dir()):
        raise ConfigError(f"CONFIG.{name}: {os.fspath(value)!r} is not a folder")
    return folder


def _one_of(*choices: str) -> _Check:
    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ConfigError(f"CONFIG.{name}: expected one of {', '.join(choices)}; got {shown(value)}")
        return str(value)

    return check


def _on_or_off(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    return bool(_one_of("on", "off")(name, value) == "on")


MAX_THREADS = 1024
"""The largest pool of the engine."""


def _threads(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_THREADS:
        raise ConfigError(f"CONFIG.threads: expected a number from 1 to {MAX_THREADS}, got {shown(value)}")
    return value


def _cpu_level(value: Any) -> str:
    levels = _engine.cpu_levels()
    if not isinstance(value, str) or value not in levels:
        raise ConfigError(f"CONFIG.cpu_level: this CPU has {', '.join(levels)}; got {shown(value)}")
    return str(value)


def _system(name: str, value: Any) -> str | None:
    """Return the name of a system as `systems.json` writes it."""
    if value is None or (isinstance(value, str) and not value):
        return None
    known = {each.replace("_", ""): each for each in SYSTEMS}
    if not isinstance(value, str) or value.lower().replace("_", "") not in known:
        raise ConfigError(f"CONFIG.{name}: expected one of {', '.join(SYSTEMS)}; got {shown(value)}")
    return known[value.lower().replace("_", "")]


def _seed(name: str, value: Any) -> int | None:
    """Return a seed, or None.

    An environment variable has a number as text.
    """
    if value is None or (isinstance(value, str) and not value):
        return None
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1 << 64:
        raise ConfigError(f"CONFIG.{name}: expected an integer from 0 to 2**64 - 1 or None, got {shown(value)}")
    return number


_PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "threads": _threads,
    "cpu_level": _cpu_level,
    "profiler": lambda value: _on_or_off("profiler", value),
}
"""Fields that are not stored, and checks of their values."""


@dataclass(frozen=True)
class Switch:
    """One field of `CONFIG`.

    Args:
        default: Its value in a fresh configuration.
        check: Returns the value to store, or raises.
        environment: Environment variable that sets it, empty if none.
        official: Whether the official package has the field; the others are ours.
    """

    default: Any
    check: _Check
    environment: str = ""
    official: bool = True


SWITCHES: dict[str, Switch] = {
    "cache_path": Switch(home_folder() / ".cache" / "ttnn", _path),
    "model_cache_path": Switch(home_folder() / ".cache" / "ttnn" / "models", _path),
    "tmp_dir": Switch(default_temporary_folder(), _path),
    "enable_model_cache": Switch(False, _flag),
    "enable_fast_runtime_mode": Switch(True, _flag),
    # Arguments are always checked here and there is no collective operator, so that this one and strict_ccl_topology
    # hold whatever their value is.
    "validate_program_args": Switch(False, _flag),
    "throw_exception_on_fallback": Switch(False, _flag),
    "enable_logging": Switch(False, _flag),
    "enable_graph_report": Switch(False, _flag),
    "enable_graph_python_stack_traces": Switch(False, _flag),
    "enable_detailed_buffer_report": Switch(False, _flag),
    "enable_detailed_tensor_report": Switch(False, _flag),
    "enable_comparison_mode": Switch(False, _flag),
    "comparison_mode_should_raise_exception": Switch(False, _flag),
    "comparison_mode_pcc": Switch(0.9999, _number),
    "root_report_path": Switch(Path("generated/ttnn/reports"), _path),
    "report_name": Switch(None, _optional_path),
    "strict_ccl_topology": Switch(False, _flag),
    "numerics": Switch("exact", _one_of("exact", "fast"), "TTNN_NUMERICS", official=False),
    "watcher": Switch(True, _on_or_off, "TTNN_WATCHER", official=False),
    "arch_name": Switch("wormhole_b0", _one_of("wormhole_b0", "blackhole"), "ARCH_NAME", official=False),
    "golden": Switch(None, _folder, "TTNN_GOLDEN", official=False),
    "system": Switch(None, _system, "TTNN_SYSTEM", official=False),
    "fabric_shuffle": Switch(None, _seed, "TTNN_FABRIC_SHUFFLE", official=False),
    "check_ranks": Switch(False, _on_or_off, "TTNN_CHECK_RANKS", official=False),
    "rank_memory": Switch("shared", _one_of("shared", "messages"), "TTNN_RANK_MEMORY", official=False),
}
"""Stored fields.

`threads`, `cpu_level` and `profiler` are properties: they belong to the process.
"""


class ProcessProfile:
    """The profiler switch of the process; the package `profiler` acts on it."""

    on: ClassVar[bool] = False
    switched: ClassVar[Callable[[bool], None] | None] = None

    @classmethod
    def switch(cls, on: bool) -> None:
        """Begin or end the process's profile.

        Before the profiler is imported, the wish is kept.
        """
        if on != cls.on and cls.switched is not None:
            cls.switched(on)
        cls.on = on


class Config:
    """The package configuration.

    A new one has the defaults; `Config(other)` is a copy.

    Attributes:
        numerics: "exact" for every step of the chip, "fast" for faster matrix products,
            convolutions and attention with sums in float32.
        watcher: Whether accesses to device memory are checked.
        arch_name: Generation of the chip that `open_device` opens unless told otherwise.
        golden: Folder of golden vectors, or None.
        system: Name of the system of chips, such as "t3k"; None for one chip.
        fabric_shuffle: Seed for packets between chips to arrive in another legal order, for tests of kernels; None
            for the order in which they are sent.
        check_ranks: Whether the processes of a mesh compare every call.
        rank_memory: "shared" for one memory of all processes of a host, "messages" for copies of the others' chips, as
            between hosts.
    """

    cache_path: Path
    model_cache_path: Path
    tmp_dir: Path
    enable_model_cache: bool
    enable_fast_runtime_mode: bool
    validate_program_args: bool
    throw_exception_on_fallback: bool
    enable_logging: bool
    enable_graph_report: bool
    enable_graph_python_stack_traces: bool
    enable_detailed_buffer_report: bool
    enable_detailed_tensor_report: bool
    enable_comparison_mode: bool
    comparison_mode_should_raise_exception: bool
    comparison_mode_pcc: float
    root_report_path: Path
    report_name: Path | None
    strict_ccl_topology: bool
    numerics: str
    watcher: bool
    arch_name: str
    golden: Path | None
    system: str | None
    fabric_shuffle: int | None
    check_ranks: bool
    rank_memory: str
    _folder: tuple[str, str] | None  # the report that `report_path` was asked for, and its folder

    def __init__(self, arg: Config | None = None) -> None:
        if arg is not None and not isinstance(arg, Config):
            raise ConfigError(f"Config(): expected a Config to copy, got {arg!r}")
        for name, switch in SWITCHES.items():
            object.__setattr__(self, name, switch.default if arg is None else getattr(arg, name))
        object.__setattr__(self, "_folder", None if arg is None else arg._folder)

    @property
    def report_path(self) -> Path | None:
        """Return the folder of the current report, None without a report name.

        It is called after the name, in lower case with underscores, and the time at which it was first asked for.
        """
        if self.report_name is None:
            return None
        name = str(self.report_name)
        if self._folder is None or self._folder[0] != name:
            words = re.sub(r"[^a-z0-9]+", "_", name[:64].lower()).strip("_")
            object.__setattr__(self, "_folder", (name, f"{words}_{time.strftime('%b%d_%H%M').lower()}"))
        assert self._folder is not None
        return self.root_report_path / self._folder[1]

    def leave_report_path(self, number: int) -> Path:
        """Number the folder of a new report; return the new `report_path`."""
        assert self._folder is not None
        name, folder = self._folder
        object.__setattr__(self, "_folder", (name, f"{re.sub(r'_process[0-9]+$', '', folder)}_process{number}"))
        return self.root_report_path / self._folder[1]

    @property
    def threads(self) -> int:
        """Return the engine's number of threads.

        Results do not depend on it.
        """
        return int(_engine.threads())

    @threads.setter
    def threads(self, value: int) -> None:
        _engine.set_threads(_threads(value))

    @property
    def profiler(self) -> bool:
        """Return whether the process is profiled.

        The table is printed to standard error at its end.
        """
        return ProcessProfile.on

    @profiler.setter
    def profiler(self, value: bool | str) -> None:
        ProcessProfile.switch(_on_or_off("profiler", value))

    @property
    def cpu_level(self) -> str:
        """Return the engine's instruction set.

        Results do not depend on it.
        """
        return str(_engine.cpu_level())

    @cpu_level.setter
    def cpu_level(self, value: str) -> None:
        _engine.set_cpu_level(_cpu_level(value))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PROPERTIES:
            object.__setattr__(self, name, value)
            return
        object.__setattr__(self, name, _switch(name).check(name, value))

    def __delattr__(self, name: str) -> None:
        raise ConfigError(f"CONFIG.{name}: switches cannot be deleted")

    @staticmethod
    def keys() -> list[str]:
        """Return the names of all fields."""
        return [*SWITCHES, "report_path", *_PROPERTIES]

    def apply_json_overrides(self, json_text: str, strict: bool = True, source: str = "") -> None:
        """Set fields from a JSON object, after checking all of them.

        Args:
            json_text: The object.
            strict: Refuse unknown names instead of leaving them out.
            source: Source of the text, for error messages.
        """
        where = source or "JSON text"
        try:
            data = json.loads(json_text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"configuration from {where}: not JSON: {error}") from None
        if not isinstance(data, dict):
            raise ConfigError(f"configuration from {where}: expected a JSON object, got {type(data).__name__}")
        settable = {*SWITCHES, *_PROPERTIES}
        unknown = sorted(set(data) - settable)
        if unknown and strict:
            raise ConfigError(f"configuration from {where}: no such field: {', '.join(unknown)}")
        known = {name: value for name, value in data.items() if name in settable}
        for name, value in known.items():
            if name in SWITCHES:
                SWITCHES[name].check(name, value)
            else:
                _PROPERTIES[name](value)
        for name, value in known.items():
            setattr(self, name, value)

    def load_from_file(self, path: str | os.PathLike[str]) -> None:
        """Set the fields that a JSON file names."""
        self.apply_json_overrides(_read(path), source=str(path))

    def save_to_file(self, path: str | os.PathLike[str]) -> None:
        """Write all stored fields to a JSON file."""
        _require_path(path)
        text = json.dumps({name: _plain(getattr(self, name)) for name in SWITCHES}, indent=4)
        try:
            write_atomically(path, text + "\n", where="configuration file")
        except FileAccessError as error:
            raise ConfigError(str(error)) from None

    def __repr__(self) -> str:
        fields = (f"{name}={getattr(self, name)}" for name in self.keys())
        return f"Config{{{','.join(fields)}}}"


def _switch(name: str) -> Switch:
    switch = SWITCHES.get(name)
    if switch is None:
        reason = "it is derived from other switches" if name == "report_path" else "there is no such field"
        raise ConfigError(f"CONFIG.{name}: {reason}. Fields are {', '.join([*SWITCHES, *_PROPERTIES])}")
    return switch


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _require_path(path: Any) -> None:
    if not isinstance(path, (str, os.PathLike)):
        raise ConfigError(f"configuration file: expected a path, got {path!r}")


def _read(path: str | os.PathLike[str]) -> str:
    _require_path(path)
    try:
        return read_text(path, where="configuration file", limit=_MAX_FILE_BYTES)
    except FileAccessError as error:
        raise ConfigError(str(error)) from None


CONFIG = Config()


def apply_environment(config: Config, environment: Mapping[str, str]) -> None:
    """Set the switches that environment variables name.

    Raises:
        ConfigError: a variable has a value that its switch does not accept.
    """
    if path := environment.get("TTNN_CONFIG_PATH"):
        config.load_from_file(path)
    if text := environment.get("TTNN_CONFIG_OVERRIDES"):
        config.apply_json_overrides(text, source="TTNN_CONFIG_OVERRIDES")
    for name, switch in SWITCHES.items():
        value = environment.get(switch.environment) if switch.environment else None
        if value is not None:
            _from_variable(config, switch.environment, name, value)
    if (level := environment.get("TTNN_CPU_LEVEL")) is not None:
        _from_variable(config, "TTNN_CPU_LEVEL", "cpu_level", level)
    if (threads := environment.get("TTNN_THREADS")) is not None:
        _from_variable(config, "TTNN_THREADS", "threads", int(threads) if threads.isdecimal() else threads)
    if (profiler := environment.get("TTNN_PROFILER")) is not None:
        _from_variable(config, "TTNN_PROFILER", "profiler", profiler)


def _from_variable(config: Config, variable: str, name: str, value: Any) -> None:
    try:
        setattr(config, name, value)
    except ConfigError as error:
        raise ConfigError(f"environment variable {variable}: {error}") from None


@contextmanager
def manage_config(name: str, value: Any) -> Iterator[None]:
    """Set a switch inside a `with` block and restore it afterwards.

    Raises:
        ConfigError: there is no such field, or the value is invalid.
    """
    if not isinstance(name, str):
        raise ConfigError(f"manage_config: expected the name of a switch, got {name!r}")
    before = getattr(CONFIG, name, None)
    setattr(CONFIG, name, value)
    try:
        yield
    finally:
        setattr(CONFIG, name, before)


def load_config_from_dictionary(config: Mapping[str, Any], from_file: bool = False) -> None:
    """Set the switches that a dictionary names."""
    if not isinstance(config, Mapping):
        raise ConfigError(f"load_config_from_dictionary: expected a dictionary of switches, got {config!r}")
    data = {name: _plain(value) for name, value in config.items()}
    try:
        text = json.dumps(data)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"load_config_from_dictionary: {error}, as no switch is") from None
    CONFIG.apply_json_overrides(text, source="a file" if from_file else "a dictionary")


def load_config_from_json_file(json_path: str | os.PathLike[str]) -> None:
    """Set the switches that a JSON file names."""
    CONFIG.load_from_file(json_path)


def save_config_to_json_file(json_path: str | os.PathLike[str]) -> None:
    """Write all switches to a JSON file."""
    CONFIG.save_to_file(json_path)


class ConfiguredPackage(ModuleType):
    """A package with a fixed `CONFIG`: assigning copies the values."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; `CONFIG = other` sets all switches to those of `other`."""
        if name != "CONFIG" or value is CONFIG:
            super().__setattr__(name, value)
            return
        if not isinstance(value, Config):
            raise ConfigError(f"ttnn.CONFIG: expected a Config, got {type(value).__name__}")
        for switch in SWITCHES:
            setattr(CONFIG, switch, getattr(value, switch))


CONFIG_PATH = Path(os.environ["TTNN_CONFIG_PATH"]) if os.environ.get("TTNN_CONFIG_PATH") else None
CONFIG_OVERRIDES = os.environ.get("TTNN_CONFIG_OVERRIDES") or None


def _is_command() -> bool:
    """Return whether the package is imported to be run, as `python -m ttnn`."""
    # So Python calls the program while it looks for the module; what follows are the arguments of that.
    if sys.argv[:1] != ["-m"]:
        return False
    module = sys.orig_argv[-len(sys.argv)]
    return module == "ttnn" or (module.startswith("-") and module.endswith("mttnn"))


try:
    apply_environment(CONFIG, os.environ)
except TtnnError as error:
    if not _is_command():
        raise
    if sys.stderr is not None:
        sys.stderr.write(f"ttnn: {type(error).__name__}: {error}\n")
    raise SystemExit(2) from None
