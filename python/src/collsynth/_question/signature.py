"""Signatures that show the options of a call: `help` and notebooks read them, type checkers read `Unpack`."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, TypeVar

_Call = TypeVar("_Call", bound=Callable[..., Any])


def with_options(known: type) -> Callable[[_Call], _Call]:
    """Shows these options in the signature of what takes `**options`."""

    def shown(call: _Call) -> _Call:
        stated = signature(call)
        parameters = [one for one in stated.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        for name, hint in known.__annotations__.items():
            text = getattr(hint, "__forward_arg__", hint)
            # Of switches, `relays` alone is on unless stated.
            default = name == "relays" if text == "bool" else None
            parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=text))
        call.__signature__ = stated.replace(parameters=parameters)  # type: ignore[attr-defined]
        return call

    return shown
