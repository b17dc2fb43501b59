"""How chunks of recordings are packed, with a bound on what a chunk may unpack to.

Zarr makes room for as many texts, or bytes, as a chunk says that it holds, before it looks at them. A damaged chunk, or one that
was made to fill the memory, could ask for any amount; here it can ask for no more than a chunk can hold.
"""

from __future__ import annotations

import functools
import math
from typing import Any

EXTRA_BYTES = 1 << 24  # bytes beyond what is known of a chunk: texts have any length
ZSTD_MAGIC, SIZES = b"\x28\xb5\x2f\xfd", (0, 2, 4, 8)  # of Zstandard's frames (RFC 8878, 3.1.1)


def declared(data: bytes) -> int | None:
    """How many bytes a frame of Zstandard says that it holds; None where it does not say."""
    if len(data) < 6 or data[:4] != ZSTD_MAGIC:
        return None
    flags = data[4]
    single = flags >> 5 & 1
    size = SIZES[flags >> 6] or single
    start = 5 + (1 - single) + (0, 1, 2, 4)[flags & 3]
    return int.from_bytes(data[start : start + size], "little") + 256 * (size == 2) if size else None


@functools.cache
def hold() -> None:
    """From now on Zarr unpacks by these in this process."""
    import zarr
    from zarr import codecs
    from zarr.registry import register_codec

    class VLenUTF8Codec(codecs.VLenUTF8Codec):  # Zarr asks for this name
        async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
            told, meant = int.from_bytes(chunk_bytes.to_bytes()[:4], "little"), math.prod(chunk_spec.shape)
            if told != meant:
                raise ValueError(f"a chunk of {meant} texts says that it holds {told}")
            return await super()._decode_single(chunk_bytes, chunk_spec)

    class ZstdCodec(codecs.ZstdCodec):
        async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
            told, most = declared(chunk_bytes.to_bytes()[:18]), math.prod(chunk_spec.shape) * 16 + EXTRA_BYTES
            if told is None or told > most:
                raise ValueError(f"a chunk of at most {most} bytes says that it holds {told}")
            return await super()._decode_single(chunk_bytes, chunk_spec)

    for name, codec in (("vlen-utf8", VLenUTF8Codec), ("zstd", ZstdCodec)):
        register_codec(name, codec, qualname=f"tumble.sim.recording.storage.codecs.{codec.__name__}")
        zarr.config.set({f"codecs.{name}": f"tumble.sim.recording.storage.codecs.{codec.__name__}"})
