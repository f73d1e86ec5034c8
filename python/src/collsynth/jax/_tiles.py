"""How chunks lie in memory: whole tiles, as TPUs keep and send them."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from .._errors import UsageError

#: The last dimension of a tile.
LANES = 128


def sublanes(elements: int, itemsize: int) -> int:
    """Rows of 128 elements that a chunk of as many elements takes, without any that the machine would add.

    A TPU sends rows of 1, 2, 4 or a multiple of 8 where elements have four bytes; smaller ones are packed, so that a
    single row of bfloat16 is sent as two, and one of int8 as four.
    """
    rows = max(math.ceil(elements / LANES), 4 // itemsize, 1)
    return math.ceil(rows / 8) * 8 if rows > 4 else 1 << (rows - 1).bit_length()


def element_type(name: str, stated: Any) -> jnp.dtype[Any]:
    """The type of elements that somebody stated."""
    try:
        found: jnp.dtype[Any] = jnp.dtype(stated)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is a type of elements, such as 'float32' or 'bfloat16', not {stated!r}") from None
    return found


def to_tiles(x: jax.Array, blocks: int, parts: int) -> jax.Array:
    """Blocks as chunks: shape (blocks * parts, sublanes, 128). What fills up the last parts of a block is zero."""
    elements = math.ceil(x.size / blocks) if blocks else 0
    rows = sublanes(math.ceil(elements / parts), x.dtype.itemsize)
    flat = x.reshape(blocks, elements)
    padded = jnp.pad(flat, ((0, 0), (0, parts * rows * LANES - elements)))
    return padded.reshape(blocks * parts, rows, LANES)


def from_tiles(chunks: jax.Array, blocks: int, shape: tuple[int, ...]) -> jax.Array:
    """Blocks of a shape, one after the other, from their chunks."""
    flat = chunks.reshape(blocks, chunks.size // max(blocks, 1))
    return flat[:, : math.prod(shape)].reshape(blocks, *shape)
