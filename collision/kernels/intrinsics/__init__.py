"""Intrinsics: pieces of code written in the language of the compiler below Numba, loaded only where something is compiled.

In: types of arguments, as Numba tells them.
Out: instructions of LLVM.

Equations: none.

shared_code.py: words that several threads read and write, for kernels/shared.py. waiting_code.py: a pause between two looks at
a word, for kernels/waiting.py. vectors.py: loops over vertices in vector instructions, for shapes/support_simd.py.
lanes_code.py: four numbers at a time, for sweeps over contacts, sim/solvers/lanes.py.
"""
