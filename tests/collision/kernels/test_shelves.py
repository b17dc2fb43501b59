"""Blocks of memory that kernels give back are kept for the next, each thread its own, and no more than some."""

from __future__ import annotations

import ctypes
import threading

import llvmlite.binding as llvm
import pytest

from tumble.collision.kernels.building import runtime as texts
from tumble.collision.kernels.building.objects import add_code, engine
from tumble.collision.kernels.building.runtime import KEPT, LARGEST, OPEN_SHELVES, runtime
from tumble.collision.kernels.jit import DISABLED

pytestmark = pytest.mark.skipif(DISABLED, reason="nothing is compiled")

DATA, ALLOCATOR = 3, 5  # words of a block


class Memory:
    """The functions of the runtime."""

    def __init__(self, begun: bool = True):
        self.linker, _ = engine()
        for _, _, code in runtime():
            add_code(self.linker, code)
        if begun:
            self.function(OPEN_SHELVES, None)()
            self.function(OPEN_SHELVES, None)()  # once more changes nothing
        self.take = self.function("NRT_MemInfo_alloc_aligned", ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32)
        self.give = self.function("NRT_MemInfo_call_dtor", None, ctypes.c_void_p)

    def function(self, name: str, *kinds):
        return ctypes.CFUNCTYPE(*kinds)(self.linker.get_function_address(name))


def word(block: int, k: int) -> int:
    return ctypes.c_int64.from_address(block + 8 * k).value


@pytest.fixture
def memory() -> Memory:
    return Memory()


def test_a_block_comes_back(memory):
    first = memory.take(100, 32)
    other = memory.take(100, 32)
    assert other != first
    memory.give(first)
    assert memory.take(120, 32) == first  # of the same shelf


def test_without_shelves_none_are_kept():
    memory = Memory(begun=False)
    block = memory.take(100, 32)
    assert word(block, ALLOCATOR) == 0  # the C library's
    memory.give(block)


@pytest.mark.parametrize("size", [0, 1, 8, 15, 16, 17, 100, 1000, 4096, LARGEST - 112, LARGEST - 111, LARGEST, 10 * LARGEST])
@pytest.mark.parametrize("align", [16, 32])
def test_a_block_has_room_and_is_aligned(memory, size, align):
    """Blocks of all sizes at once, written to the last byte: none reaches into another."""
    blocks = [memory.take(size, align) for _ in range(20)]
    for k, block in enumerate(blocks):
        data = word(block, DATA)
        assert data % align == 0
        assert data >= block + 48
        assert (word(block, ALLOCATOR) == 0) == (size + 2 * align + 48 > LARGEST)
        ctypes.memset(data, k, size)
    for k, block in enumerate(blocks):
        assert ctypes.string_at(word(block, DATA), size) == bytes([k]) * size
        memory.give(block)


def test_no_more_than_some_are_kept(memory):
    blocks = [memory.take(5000, 32) for _ in range(2 * KEPT)]
    for block in blocks:
        memory.give(block)
    again = [memory.take(5000, 32) for _ in range(KEPT)]
    assert set(again) == set(blocks[:KEPT])


def test_threads_keep_their_own(memory):
    """What a thread takes while another holds it is another block; its end frees what it kept."""
    mine = memory.take(300, 32)
    memory.give(mine)
    theirs = []
    thread = threading.Thread(target=lambda: theirs.append(memory.take(300, 32)))
    thread.start()
    thread.join()
    assert theirs[0] != mine
    assert memory.take(300, 32) == mine
    memory.give(theirs[0])  # made by another: it is of this thread now
    assert memory.take(300, 32) == theirs[0]


def optimized(machine):
    """The runtime for a processor."""
    module = llvm.parse_assembly(texts._RUNTIME)
    module.triple, module.data_layout = llvm.get_process_triple(), str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return module


@pytest.mark.skipif(not llvm.get_host_cpu_features().get("lzcnt"), reason="there is nothing that it might use")
def test_it_is_for_any_processor():
    """It goes with kernels for other processors than this machine's; the twin, for this one, counts zeros as others can not."""
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    own = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, jit=True)
    plain = target.create_target_machine(jit=True)
    assert "lzcnt" in own.emit_assembly(optimized(own))
    assert "lzcnt" not in plain.emit_assembly(optimized(plain))
    ((_, _, code),) = runtime()
    assert code == plain.emit_object(optimized(plain))
    assert code != own.emit_object(optimized(own))
