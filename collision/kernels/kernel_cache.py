"""Compiled kernels on disk: filed so that they can not go stale, and read back only where they are whole.

Numba's own on-disk cache looks at the file of the function alone: edit a callee in another file and the caller runs on
with the old code inlined. Here each kernel is filed in a folder named by a hash over all that it depends on (sources.py).

Numba also keeps an index beside the code, which two processes that fill it at once can tear, and runs whatever a file holds.
Here each signature on each kind of processor has a file of its own, written whole, with a digest: what is truncated or has a
bit flipped is compiled anew, since machine code that is damaged ends the interpreter.
"""

from __future__ import annotations

import hashlib
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.serialize import dumps

from tumble.collision.kernels.sources import cache_root, source_hash
from tumble.collision.regular import put_sealed, sealed

MOST_BYTES = 2_000_000_000  # of a file


class _Locator(_CacheLocator):
    """Tells Numba the folder of a kernel, and a stamp that is good for ever in that folder."""

    def __init__(self, py_func: Callable, py_file: str):
        self._py_file = py_file
        self._line = py_func.__code__.co_firstlineno
        path = Path(py_file).resolve()
        self._hash = source_hash(path)
        self._path = cache_root() / f"{path.parent.name}.{path.stem}-{self._hash}"

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        return self._hash

    def get_disambiguator(self) -> str:
        return str(self._line)

    def ensure_cache_path(self) -> None:
        """Made as the first kernel is written into it: what is there can be read where nothing may be written."""

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> _Locator:
        return cls(py_func, py_file)


class _CacheImpl(CompileResultCacheImpl):
    _locator_classes = [_Locator]


class _Files:
    """The machine code of one kernel: a file for each signature and processor; a digest, then what Numba hands over."""

    def __init__(self, folder: str, base: str):
        self.folder, self.base = Path(folder), base

    def path(self, key: object) -> Path:
        return self.folder / f"{self.base}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load(self, key: object) -> Any:
        """What was saved under a key; None where there is nothing, or it is damaged."""
        data = sealed(self.path(key), MOST_BYTES)
        if data is None:
            return None
        stored, code = pickle.loads(data)
        return code if stored == key else None

    def save(self, key: object, code: object) -> None:
        put_sealed(self.path(key), dumps((key, code)))

    def flush(self) -> None:
        for file in self.folder.glob(f"{self.base}.*.nbc"):
            file.unlink(missing_ok=True)


class KernelCache(FunctionCache):
    """Numba's cache of one function, in files of ours. Where they can not be written it says so once, and goes on."""

    _impl_class = _CacheImpl
    _warned = False

    def __init__(self, py_func: Callable):
        super().__init__(py_func)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base)

    def save_overload(self, sig: object, data: object) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            if not KernelCache._warned:
                KernelCache._warned = True
                why = f"compiled kernels can not be kept in {cache_root()} ({error.strerror}), so that each start compiles anew"
                warnings.warn(f"{why}; TUMBLE_CACHE_DIR names another folder", RuntimeWarning, stacklevel=2)
