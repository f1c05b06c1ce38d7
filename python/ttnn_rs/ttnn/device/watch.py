"""Deaths of processes.

Each process writes down what it does, on a page that the others of its host can read. A thread waits for the end of the
others. The first one that notices a death writes one line to standard error, such as
`rank 1 of 4 died in all_gather (call 17)`.
"""

from __future__ import annotations

import mmap
import os
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any, Final

from ttnn.base.exceptions import RankError
from ttnn.device.mpi import gather

_SLOT: Final = 256
_HEAD: Final = struct.Struct("<QBB")
_RUNS, _INSIDE, _ENDED, _STOPPED = range(4)
"""States of a process.

Between calls, in a call, at its end, asked to end by a signal.
"""


class Watch:
    """Watches the processes of a job that are on this host.

    Attributes:
        call: The number of this process's last call.
        name: Its name.
        host: The host and what else has numbers of processes of its own.
    """

    def __init__(self, local: Any, rank: int, size: int) -> None:
        """Begin to watch the other processes of this host.

        Args:
            local: Those of this host, a communicator.
            rank: The number of this process in the job.
            size: How many there are.
        """
        self.rank, self.size = rank, size
        self.call, self.name, self._depth = 0, "", 0
        # Numbers of processes are those of a container.
        names = "/proc/self/ns/pid"
        self.host = f"{socket.gethostname()} {os.readlink(names) if os.path.exists(names) else ''}"
        own = os.memfd_create("ttnn-watch") if hasattr(os, "memfd_create") else -1
        rows = gather(local, (rank, os.getpid(), f"/proc/{os.getpid()}/fd/{own}"))
        self._page, self._slots, self._exits = self._map(own, rows), {}, {}
        local.Barrier()
        if own >= 0:
            os.close(own)
        for number, (other, pid, _) in enumerate(rows):
            self._slots[other] = number
            if other != rank and hasattr(os, "pidfd_open"):
                self._exits[other] = os.pidfd_open(pid)
        if self._exits:
            threading.Thread(target=self._wait, name="ttnn-watch", daemon=True).start()
        self._heed_signals()

    @staticmethod
    def _map(own: int, rows: Sequence[Any]) -> mmap.mmap:
        """Return the page of the first process of the host.

        Without one it is a page of this process alone.
        """
        bytes_of_all = _SLOT * len(rows)
        try:
            with open(rows[0][2], "r+b") as file:
                file.truncate(bytes_of_all)
                return mmap.mmap(file.fileno(), bytes_of_all)
        except OSError:
            return mmap.mmap(-1, bytes_of_all)

    # What this process does.

    def enter(self, name: str) -> None:
        """Note a call; calls inside of it belong to it."""
        self._depth += 1
        if self._depth == 1:
            self.call, self.name = self.call + 1, name
            self._write(_INSIDE)

    def leave(self) -> None:
        """Note the end of the innermost call."""
        self._depth -= 1
        if self._depth == 0:
            self._write(_RUNS)

    def end(self) -> None:
        """Note that this process ends, and has not died.

        After an exception it has.
        """
        if getattr(sys, "last_value", None) is None:
            self._write(_ENDED)

    def _write(self, state: int) -> None:
        start = self._slots[self.rank] * _SLOT
        name = self.name.encode()[: _SLOT - 16]
        self._page[start + 16 : start + 16 + len(name) + 1] = name + b"\0"
        _HEAD.pack_into(self._page, start, self.call, state, self._page[start + 9])

    @property
    def here(self) -> str:
        """The call that this process is in or was in last."""
        if not self.call:
            return "its start"
        return f"{'' if self.inside else 'after '}{self.name} (call {self.call})"

    @property
    def inside(self) -> bool:
        """Return whether this process is in a call."""
        return self._depth > 0

    # What the others do.

    def _state(self, rank: int) -> tuple[int, str]:
        """Return the state of another process, and where it is."""
        start = self._slots[rank] * _SLOT
        call, state, _ = _HEAD.unpack_from(self._page, start)
        name = self._page[start + 16 : start + _SLOT].split(b"\0", 1)[0].decode(errors="replace")
        if not call:
            return state, "before its first call"
        return state, f"{'in' if state == _INSIDE else 'after'} {name} (call {call})"

    def death(self) -> str | None:
        """Return a line about a process of this host that died."""
        for rank, end in self._exits.items():
            state, where = self._state(rank)
            if state in (_RUNS, _INSIDE) and select.select([end], [], [], 0)[0]:
                return f"rank {rank} of {self.size} died {where}"
        return None

    def check(self) -> None:
        """Raise if the others will not come.

        Raises:
            RankError: a process of this host died, or has ended.
        """
        line = self.death()
        if line is not None:
            self.report(line)
            raise RankError(line)
        for rank in self._exits:
            state, where = self._state(rank)
            if state == _ENDED:
                raise RankError(
                    f"rank {rank} of {self.size} has ended {where}; rank {self.rank} waits for it in {self.here}"
                )

    def report(self, line: str) -> None:
        """Write a line to standard error, once per host."""
        if not self._page[9]:
            self._page[9] = 1
            os.write(2, f"{line}\n".encode())

    def _wait(self) -> None:
        """Wait for the other processes' end; report the first death."""
        poll = select.poll()
        for end in self._exits.values():
            poll.register(end, select.POLLIN)
        for _ in self._exits:
            for end, _ in poll.poll():
                poll.unregister(end)
            line = self.death()
            if line is not None:
                self.report(line)
                return

    def _heed_signals(self) -> None:
        """Report a death before mpirun ends this process because of it."""
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            return

        def end(number: int, frame: FrameType | None) -> None:
            line = self.death()
            if line is not None:
                self.report(line)
            self._write(_STOPPED)
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

        signal.signal(signal.SIGTERM, end)
