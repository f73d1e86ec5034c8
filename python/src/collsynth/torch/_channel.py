"""Connections of our own among the processes of a group: nobody else's messages, one call at a time."""

from __future__ import annotations

import importlib
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import torch

from .._errors import CallFailed, UsageError
from .._running import agreement
from .._running.ranges import Message, Range

#: Without types: what it states of process groups differs from version to version.
c10d: Any = importlib.import_module("torch.distributed.distributed_c10d")


class Channel:
    """The connections of a group of processes, over gloo, and the thread in which its asynchronous calls run.

    Calls run in the order in which they start. When one fails, the connections are closed, so that every other process
    that waits for this one hears of it; then none can follow.
    """

    def __init__(self, group: Any, timeout: timedelta) -> None:
        self.rank, self.size = group.rank(), group.size()
        self._group = weakref.ref(group)
        self._timeout = timeout
        store = _store_of(group)
        self._gloo: Any = c10d.ProcessGroupGloo(store, self.rank, self.size, timeout=timeout)
        self._closed: str | None = None
        #: Held while a call runs.
        self._running = threading.Lock()
        #: Held while a call is put in order; how many asynchronous ones have not ended.
        self._order = threading.Lock()
        self._waiting = 0
        self._worker: ThreadPoolExecutor | None = None

    def number_of(self, process: int) -> int:
        """The number within the group of a process of the whole job; -1: it is not in it."""
        group = self._group()
        if group is None or group is c10d._get_default_group():
            return process
        ranks = c10d._world.pg_group_ranks if hasattr(c10d, "_world") else c10d._pg_group_ranks
        return ranks[group].get(process, -1)  # type: ignore[no-any-return]

    def close(self, reason: str = "its process group has ended") -> None:
        """Ends the connections: calls of other processes that need this one fail."""
        self._closed = self._closed or reason
        self._gloo = None

    def check(self) -> None:
        """Raises `UsageError` if no call can follow."""
        group = self._group()
        if group is None or group not in _groups():
            self.close()
        if self._closed is not None:
            raise UsageError(
                f"this Collective cannot be called any more: {self._closed}", "make another, in another process group"
            )

    def run(self, body: Callable[[], Any]) -> Any:
        """Runs a call, after those that have started."""
        with self._order:
            inline = self._waiting == 0
            if inline:
                self._running.acquire()
        if not inline:
            return self.start(body).result()
        try:
            return body()
        finally:
            self._running.release()

    def start(self, body: Callable[[], Any]) -> Future[Any]:
        """Starts a call, after those that have started."""

        def alone() -> Any:
            try:
                with self._running:
                    return body()
            finally:
                with self._order:
                    self._waiting -= 1

        with self._order:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, "collsynth")
            self._waiting += 1
            return self._worker.submit(alone)

    def agree(self, words: bytes) -> None:
        """Goes on if all processes say the same."""
        mine = torch.frombuffer(bytearray(words), dtype=torch.uint8)
        found = self.gather(mine)
        if not torch.equal(found, mine.expand_as(found)):
            agreement.check([bytes(one.tolist()) for one in found], self.rank)

    def refuse(self, reason: Exception) -> None:
        """Takes part in an agreement that is none, so that no other process waits for this one."""
        self.gather(torch.frombuffer(bytearray(agreement.refusal_words(reason)), dtype=torch.uint8))

    def gather(self, mine: torch.Tensor) -> torch.Tensor:
        """What each process has, in rows."""
        # All at once: the rounds of an allgather cost more than the bytes.
        whole = mine.flatten().repeat(self.size)
        found = torch.empty_like(whole)
        meet = "the processes meet for a call"
        self.within(meet, lambda: self._gloo.alltoall_base(found, whole, [], []).wait())
        return found.view(self.size, *mine.shape)

    def traffic(self, name: str, peers: dict[int, int], octets: Sequence[Any], size: int) -> Traffic:
        """Messages of one call: `peers` are processes by rank, `octets` the bytes of elements of this size."""
        return Traffic(self, name, peers, octets, size)

    def within(self, name: str, body: Callable[[], None]) -> None:
        try:
            if self._gloo is None:
                raise RuntimeError(self._closed)
            body()
        except BaseException as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            self.close(f"a call failed ({name}: {reason})")
            if not isinstance(error, Exception):
                raise
            raise CallFailed(
                f"{name}: process {self.rank} of {self.size}: {reason}",
                "a process has died, is late, or gave up; plans need another process group",
            ) from error


class Traffic:
    """Sends and receives the messages of one call, over gloo."""

    def __init__(self, channel: Channel, name: str, peers: dict[int, int], octets: Sequence[Any], size: int) -> None:
        self._channel, self._name, self._peers, self._octets, self._size = channel, name, peers, octets, size
        self._receives: dict[tuple[int, int], Any] = {}
        self._sends: dict[int, Any] = {}
        self._started = 0

    def post(self, messages: list[Message]) -> None:
        def all_of_them() -> None:
            recv = self._channel._gloo.recv
            for peer, tag, whole in messages:
                self._receives[peer, tag] = recv([self._of(whole)], self._peers[peer], tag)

        self._channel.within(self._name, all_of_them)

    def send(self, messages: list[Message]) -> None:
        def all_of_them() -> None:
            send = self._channel._gloo.send
            for peer, tag, whole in messages:
                self._sends[self._started] = send([self._of(whole)], self._peers[peer], tag)
                self._started += 1

        self._channel.within(self._name, all_of_them)

    def arrived(self, keys: list[tuple[int, int]]) -> None:
        self._wait(self._receives, keys)

    def sent(self, numbers: list[int] | None) -> None:
        self._wait(self._sends, list(self._sends) if numbers is None else numbers)

    def end(self) -> None:
        """Lets go of all messages: connections close when nothing refers to them, a traceback neither."""
        self._receives.clear()
        self._sends.clear()

    def _wait(self, works: dict[Any, Any], keys: list[Any]) -> None:
        def all_of_them() -> None:
            for key in keys:
                works.pop(key).wait()

        self._channel.within(self._name, all_of_them)

    def _of(self, whole: Range) -> Any:
        return self._octets[whole.region][whole.start * self._size : whole.stop * self._size]


#: Ends with the group.
_CHANNELS: weakref.WeakKeyDictionary[Any, Channel] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def channel_of(group: Any, timeout: timedelta | None) -> Channel:
    """The channel of a process group, which the first caller of each process makes together."""
    if group is None:
        group = c10d._get_default_group()
    if not isinstance(group, c10d.ProcessGroup) or group.rank() < 0:
        raise UsageError("this process is not in the group")
    with _making:
        found = _CHANNELS.get(group)
        if found is None:
            try:
                found = _CHANNELS[group] = Channel(group, timeout or _timeout_of(group))
            except RuntimeError as error:
                reason = str(error).splitlines()[0]
                raise CallFailed(f"the processes of the group cannot all connect for their plans: {reason}") from None
            # Whoever waits for this process hears that it has ended the group.
            weakref.finalize(group, found.close)
        return found


def _groups() -> Any:
    """The groups that have not ended."""
    return c10d._world.pg_map if hasattr(c10d, "_world") else c10d._pg_map


def _store_of(group: Any) -> Any:
    """The store of a group, for keys of our own. Older versions share one among all groups."""
    names = c10d._world.pg_names if hasattr(c10d, "_world") else c10d._pg_names
    return c10d.PrefixStore(f"collsynth/{names[group]}", _groups()[group][1])


def _timeout_of(group: Any) -> timedelta:
    """The timeout of a group over gloo, or PyTorch's own for all."""
    found: Any = group
    if hasattr(group, "_get_backend"):
        try:
            found = group._get_backend(torch.device("cpu"))
        except RuntimeError:
            return c10d.default_pg_timeout  # type: ignore[no-any-return]
    return getattr(getattr(found, "options", None), "_timeout", c10d.default_pg_timeout)  # type: ignore[no-any-return]
