"""What kernels ask of Numba's runtime, in LLVM's language, for arrays that no kernel gives back to Python.

Counted blocks of memory, laid out as Numba does it: count, destructor and its argument, data, size, allocator.

A block belongs to the call of a kernel that made it, which runs on one thread: threads share groups of arrays that Python owns
(group.py), and these are not counted. So counting needs no atomic instruction, which would take five times as long, and no call:
its code is put in the place of each call (`counted`), once LLVM has taken away what cancels, which it knows by the names.
"""

from __future__ import annotations

from tumble.collision.kernels.building.objects import Objects, engine

RUNTIME = (
    "NRT_Allocate", "NRT_Free", "NRT_MemInfo_alloc", "NRT_MemInfo_alloc_aligned", "NRT_MemInfo_alloc_dtor",
    "NRT_MemInfo_call_dtor", "NRT_MemInfo_new_varsize_dtor", "NRT_MemInfo_varsize_realloc",
)  # fmt: skip
COUNTS = ("NRT_incref", "NRT_decref")
_RUNTIME = """
%block = type { i64, ptr, ptr, ptr, i64, ptr }
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

define ptr @NRT_Allocate(i64 %size) {
  %p = call ptr @malloc(i64 %size)
  ret ptr %p
}

define void @NRT_Free(ptr %p) {
  call void @free(ptr %p)
  ret void
}

define void @put(ptr %b, ptr %dtor, ptr %info, ptr %data, i64 %size) {
  store i64 1, ptr %b
  %p1 = getelementptr %block, ptr %b, i32 0, i32 1
  store ptr %dtor, ptr %p1
  %p2 = getelementptr %block, ptr %b, i32 0, i32 2
  store ptr %info, ptr %p2
  %p3 = getelementptr %block, ptr %b, i32 0, i32 3
  store ptr %data, ptr %p3
  %p4 = getelementptr %block, ptr %b, i32 0, i32 4
  store i64 %size, ptr %p4
  %p5 = getelementptr %block, ptr %b, i32 0, i32 5
  store ptr null, ptr %p5
  ret void
}

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align32) {
  %align = zext i32 %align32 to i64
  %twice = mul i64 %align, 2
  %more = add i64 %size, %twice
  %all = add i64 %more, 48
  %b = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %b, null
  br i1 %none, label %out, label %fine
fine:
  %number = ptrtoint ptr %b to i64
  %first = add i64 %number, 47
  %past = add i64 %first, %align
  %rest = urem i64 %past, %align
  %at = sub i64 %past, %rest
  %data = inttoptr i64 %at to ptr
  call void @put(ptr %b, ptr null, ptr null, ptr %data, i64 %size)
  br label %out
out:
  ret ptr %b
}

define ptr @NRT_MemInfo_alloc(i64 %size) {
  %b = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %b
}

define ptr @NRT_MemInfo_alloc_dtor(i64 %size, ptr %dtor) {
  %b = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  %none = icmp eq ptr %b, null
  br i1 %none, label %out, label %fine
fine:
  %p1 = getelementptr %block, ptr %b, i32 0, i32 1
  store ptr %dtor, ptr %p1
  br label %out
out:
  ret ptr %b
}

define void @NRT_MemInfo_call_dtor(ptr %b) {
  %p1 = getelementptr %block, ptr %b, i32 0, i32 1
  %dtor = load ptr, ptr %p1
  %none = icmp eq ptr %dtor, null
  br i1 %none, label %out, label %ask
ask:
  %p2 = getelementptr %block, ptr %b, i32 0, i32 2
  %info = load ptr, ptr %p2
  %p3 = getelementptr %block, ptr %b, i32 0, i32 3
  %data = load ptr, ptr %p3
  %p4 = getelementptr %block, ptr %b, i32 0, i32 4
  %size = load i64, ptr %p4
  call void %dtor(ptr %data, i64 %size, ptr %info)
  br label %out
out:
  call void @free(ptr %b)
  ret void
}

define void @varsize_dtor(ptr %data, i64 %size, ptr %info) {
  %none = icmp eq ptr %info, null
  br i1 %none, label %out, label %ask
ask:
  call void %info(ptr %data)
  br label %out
out:
  call void @free(ptr %data)
  ret void
}

define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %dtor) {
  %data = call ptr @malloc(i64 %size)
  %b = call ptr @malloc(i64 48)
  call void @put(ptr %b, ptr @varsize_dtor, ptr %dtor, ptr %data, i64 %size)
  ret ptr %b
}

define ptr @NRT_MemInfo_varsize_realloc(ptr %b, i64 %size) {
  %p3 = getelementptr %block, ptr %b, i32 0, i32 3
  %old = load ptr, ptr %p3
  %data = call ptr @realloc(ptr %old, i64 %size)
  store ptr %data, ptr %p3
  %p4 = getelementptr %block, ptr %b, i32 0, i32 4
  store i64 %size, ptr %p4
  ret ptr %data
}
"""

BEFORE = """
%block = type { i64, ptr, ptr, ptr, i64, ptr }
declare void @NRT_incref(ptr)
declare void @NRT_decref(ptr)

define linkonce_odr ptr @NRT_MemInfo_data_fast(ptr %b) alwaysinline {
  %place = getelementptr %block, ptr %b, i32 0, i32 3
  %data = load ptr, ptr %place
  ret ptr %data
}
"""
AFTER = """
declare void @NRT_MemInfo_call_dtor(ptr)

define linkonce_odr void @NRT_incref(ptr %b) alwaysinline {
  %none = icmp eq ptr %b, null
  br i1 %none, label %out, label %count
count:
  %old = load i64, ptr %b
  %new = add i64 %old, 1
  store i64 %new, ptr %b
  br label %out
out:
  ret void
}

define linkonce_odr void @NRT_decref(ptr %b) alwaysinline {
  %none = icmp eq ptr %b, null
  br i1 %none, label %out, label %count
count:
  %old = load i64, ptr %b
  %new = add i64 %old, -1
  store i64 %new, ptr %b
  %last = icmp eq i64 %new, 0
  br i1 %last, label %end, label %out, !prof !0
end:
  call void @NRT_MemInfo_call_dtor(ptr %b)
  br label %out
out:
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 99}
"""


def runtime() -> Objects:
    """Its object."""
    import llvmlite.binding as llvm

    _, machine = engine()
    module = llvm.parse_assembly(_RUNTIME)
    module.triple = llvm.get_process_triple()
    return [("runtime " + " ".join(RUNTIME), "", machine.emit_object(module))]
