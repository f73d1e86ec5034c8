"""What an asynchronous call returns."""

from __future__ import annotations

from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from datetime import timedelta
from typing import Any

import torch

from .._errors import CallFailed


class Work:
    """What an asynchronous call returns, with the methods of `torch.distributed.Work`."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Waits for the end; raises what went wrong, and `CallFailed` if it has not ended in time."""
        limit = timeout.total_seconds() if timeout else None
        try:
            self._future.result(limit)
        except NotYet:
            # An error of the call may be of this class too.
            if self._future.done():
                raise
            raise CallFailed(f"the call has not ended within {limit} s, and goes on") from None
        return True

    def is_completed(self) -> bool:
        """Has it ended, well or not?"""
        return self._future.done()

    def is_success(self) -> bool:
        """Has it ended well?"""
        return self._future.done() and self._future.exception() is None

    def exception(self) -> BaseException | None:
        """What went wrong so far."""
        return self._future.exception() if self._future.done() else None

    def result(self) -> list[torch.Tensor]:
        """The outputs, once it has ended."""
        self.wait()
        return [self._future.result()]

    def get_future(self) -> Any:
        """The outputs as a future of PyTorch."""
        return torch_future(self._future, lambda output: [output])


def torch_future(future: Future[Any], of_result: Any) -> Any:
    """A future of PyTorch with the result, or with what went wrong."""
    # Without a type: older versions of PyTorch state a wrong one.
    found: Any = torch.futures.Future()

    def tell(done: Future[Any]) -> None:
        error = done.exception()
        if error is None:
            found.set_result(of_result(done.result()))
        else:
            found.set_exception(error)

    future.add_done_callback(tell)
    return found
