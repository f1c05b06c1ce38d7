"""`tt-explorer`: Model Explorer's own server with the adapter.

Requests come from pages of any origin that the browser has open: the server answers this machine's own page only, and
touches only files below the folder that it was started for.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from ttnn.base.exceptions import TtnnError
from ttnn.base.files import make_folder
from ttnn.base.paths import is_inside
from ttnn.compiler.explorer.folder import ARTIFACTS, ROOT, root
from ttnn.compiler.explorer.runner import Runner

__all__ = ["main"]

_LOCAL: Final = ("localhost", "127.0.0.1", "::1")
_INSTALL: Final = (
    "tt-explorer: the server is missing. Install it without its converters, which are large and not needed: "
    "pip install --no-deps ai-edge-model-explorer==0.1.34 && "
    "pip install flask dacite packaging portpicker requests termcolor watchdog"
)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        prog="tt-explorer", description="Show programs of the Tenstorrent compiler as graphs in a browser."
    )
    parser.add_argument("paths", nargs="*", metavar="model", help="files .mlir, .ttir or .ttnn, or a folder of them")
    parser.add_argument("-p", "--port", type=int, default=8080, help="port (default: 8080 or the next that is free)")
    parser.add_argument("-u", "--url", default="localhost", help="name of this machine (default: localhost)")
    parser.add_argument("-q", "--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument("-x", "--no-model-execution", action="store_true", help="show graphs only")
    parser.add_argument("-c", "--cors_host", default=None, help="origin on this machine that may use the server")
    parser.add_argument("--root", default="", help="folder whose files are served (default: that of the first model)")
    found = parser.parse_args(arguments)
    if found.url not in _LOCAL:
        parser.error(f"--url: only this machine is served ({', '.join(_LOCAL)}), got {found.url}")
    if found.cors_host is not None and urlsplit(found.cors_host).hostname not in _LOCAL:
        parser.error(f"--cors_host: an origin of this machine, such as http://localhost:3000, got {found.cors_host}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `tt-explorer`; return its exit code."""
    options = parse(arguments)
    paths = [Path(path).resolve() for path in options.paths]
    first = paths[0] if paths else Path.cwd()
    os.environ[ROOT] = str(Path(options.root).resolve() if options.root else first if first.is_dir() else first.parent)
    for path in paths:
        if not path.exists() or not (path == root() or is_inside(path, root())):
            reason = f"is not below {root()}; name its folder with --root" if path.exists() else "does not exist"
            print(f"tt-explorer: error: {path} {reason}", file=sys.stderr)
            return 1
    try:
        import model_explorer
    except ImportError as error:
        print(f"{_INSTALL} ({error})", file=sys.stderr)
        return 1
    try:
        # Files that the page uploads are below the folder too.
        tempfile.tempdir = str(make_folder(root() / ARTIFACTS / "uploads", where="tt-explorer"))
    except TtnnError as error:
        print(f"tt-explorer: error: {error}", file=sys.stderr)
        return 1
    Runner.enabled = not options.no_model_execution
    guard(model_explorer, options.cors_host)
    config = model_explorer.config()
    for path in paths:
        config.add_model_from_path(str(path), "tt_adapter")
    model_explorer.visualize_from_config(
        config=config,
        extensions=["tt_adapter"],
        no_open_in_browser=options.no_browser,
        port=options.port,
        host=options.url,
        cors_host=options.cors_host,
    )
    return 0


def guard(model_explorer: Any, origin: str | None) -> None:
    """Check each request of the server, and keep it from the network.

    Args:
        model_explorer: The package.
        origin: A further origin that may send requests.
    """
    import flask

    from ttnn.compiler.explorer.providers import OPENED

    server = model_explorer.server
    # It asks the package index for a newer version.
    none = {"version": "", "runningVersion": "", "releaseUrl": "", "desktopAppUrl": ""}
    server._check_new_version = lambda print_msg=True: none

    def check(sender: Any, **_: Any) -> None:
        reason = refusal(flask.request, origin) if sender.import_name == server.__name__ else ""
        if reason:
            flask.abort(flask.make_response({"error": f"tt-explorer: {reason}"}, 403))

    flask.request_started.connect(check, weak=False)

    def opened(data: str) -> None:
        directive = {"name": "refreshPage", "url": f"/?data={quote(data)}"}
        server.server_directive_dispatcher.broadcast(json.dumps(directive))

    OPENED.append(opened)


def refusal(request: Any, origin: str | None) -> str:
    """Return why a request is refused, or an empty text."""
    if urlsplit(f"//{request.host}").hostname not in _LOCAL:
        return "the name of the host is not one of this machine"
    own = (f"http://{request.host}", origin)
    sent = request.headers.get("Origin")
    if sent is not None and sent not in own:
        return "the request comes from another page"
    site = request.headers.get("Sec-Fetch-Site")
    if request.path.startswith("/api") and site in ("cross-site", "same-site") and sent is None:
        return "the request comes from another page"
    if request.path == "/api/v1/read_text_file":
        path = request.args.get("path") or ""
        return "" if _inside(path) else "only files below the folder of the explorer are read"
    if request.path.endswith("/send_command"):
        return _command_refusal(request)
    return ""


def _command_refusal(request: Any) -> str:
    try:
        command = request.get_json() if request.method == "POST" else json.loads(request.args.get("json", "{}"))
    except ValueError:
        return "the command is no JSON"
    if not isinstance(command, dict) or not str(command.get("extensionId")).startswith("tt_"):
        return "only its own extensions are called"
    if command.get("cmdId") not in _COMMANDS:
        return f"there is no such command; there are {', '.join(_COMMANDS)}"
    path = command.get("modelPath") or ""
    if path and not _inside(str(path)):
        return f"only models below {root()} are opened"
    uploads = root() / ARTIFACTS / "uploads"
    if command.get("deleteAfterConversion") and not is_inside(os.path.dirname(str(path)), uploads):
        return "only uploaded models are deleted"
    return ""


_COMMANDS: Final = ("convert", "execute", "status_check", "preload", "run", "get_config_editors")


def _inside(path: str) -> bool:
    # The server expands the home folder of names.
    found = root() / os.path.expanduser(path)
    return found.resolve() == root() or is_inside(found, root())


if __name__ == "__main__":
    sys.exit(main())
