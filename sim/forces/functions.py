"""Functions of the user as forces: C functions that the step calls by address, so that nothing is compiled anew for them.

A function compiled by Numba becomes a C function of machine code; a plain Python one is called back through ctypes. Both
read 14 numbers (t, position, orientation, velocity, angular velocity) and write six (force, torque).
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable
from typing import Any

from tumble.collision.kernels.jit import intrinsic
from tumble.sim.errors import InputError

_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))


class Callback:
    """A user's function as a C function: its ``address``, and the ``error`` that it raised, if it did."""

    def __init__(self, name: str, function: Callable[..., Any]):
        self.name, self.function, self.error = name, function, None
        self._c = self._compiled() if hasattr(function, "py_func") else _PROTOTYPE(self._call)
        self.address = self._c.address if hasattr(self._c, "address") else ctypes.cast(self._c, ctypes.c_void_p).value
        if not hasattr(function, "py_func"):
            self._try()

    def _compiled(self):
        import numba
        from numba.core import types

        function, numbers = self.function, types.CPointer(types.float64)

        def call(given, out):
            force, torque = function(
                given[0],
                (given[1], given[2], given[3]),
                (given[4], given[5], given[6], given[7]),
                (given[8], given[9], given[10]),
                (given[11], given[12], given[13]),
            )
            out[0], out[1], out[2] = force[0], force[1], force[2]  # one by one: a tuple may mix 0 and 0.0
            out[3], out[4], out[5] = torque[0], torque[1], torque[2]

        try:
            return numba.cfunc(types.void(numbers, numbers), error_model="numpy")(call)
        except numba.core.errors.NumbaError as error:
            plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # without the colours that Numba gives it where it can
            lines = [line.strip() for line in plain.splitlines()]
            reason = next((line for line in lines if line and not line.startswith("Failed in nopython")), lines[0])
            hint = "must take (t, position, orientation, velocity, angular_velocity) and give (force, torque), two triples; "
            raise InputError("function", self.name, f"{hint}Numba says: {reason}") from None

    def _call(self, given, out):
        try:
            force, torque = self._asked(given)
        except Exception as error:  # nothing may be raised through C: the step sees numbers that are not finite, and stops
            self.error = self.error or error
            force = torque = (math.nan, math.nan, math.nan)
        for k in range(3):
            out[k], out[3 + k] = force[k], torque[k]

    def _asked(self, given) -> tuple[tuple[float, ...], tuple[float, ...]]:
        g = [given[k] for k in range(14)]
        force, torque = self.function(g[0], tuple(g[1:4]), tuple(g[4:8]), tuple(g[8:11]), tuple(g[11:14]))
        return _triple(force), _triple(torque)

    def _try(self) -> None:
        """A plain function is tried once, so that a wrong one is found at the door."""
        try:
            self._asked([0.0, 0.0, 0.0, 0.0, 1.0] + [0.0] * 9)
        except ArithmeticError:  # it may have a singularity there
            pass
        except Exception as error:
            hint = "must take (t, position, orientation, velocity, angular_velocity) and give (force, torque), two triples; "
            raise InputError("function", self.name, f"{hint}it raised {type(error).__name__}: {error}") from None


def _triple(value: Any) -> tuple[float, float, float]:
    x, y, z = value
    return float(x), float(y), float(z)


def _call_uncompiled(address, given, out):
    pointer = ctypes.POINTER(ctypes.c_double)
    _PROTOTYPE(int(address))(given.ctypes.data_as(pointer), out.ctypes.data_as(pointer))


def _call_compiled() -> Any:
    from tumble.sim.forces.function_call import call_function

    return call_function


call_function = intrinsic(_call_compiled, _call_uncompiled)
