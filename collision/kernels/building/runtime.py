"""What kernels ask of Numba's runtime, in LLVM's language, for arrays that no kernel gives back to Python.

Counted blocks of memory, laid out as Numba does it: count, destructor and its argument, data, size, allocator.

A block belongs to the call of a kernel that made it, which runs on one thread: threads share groups of arrays that Python owns
(group.py), and these are not counted. So counting needs no atomic instruction, which would take five times as long, and no call:
its code is put in the place of each call, once LLVM has taken away what cancels, which it knows by the names.

A step makes some tens of blocks, and gives them all back. So each thread keeps those that it gave back on shelves, one for each
power of two up to LARGEST, and takes the next ones from there: swifter than from the C library, whose own store of such blocks
holds seven of a size. A block says which shelf it is from by its allocator, in Numba's form, so that Numba can give it back too.
"""

from __future__ import annotations

from tumble.collision.kernels.building.objects import Objects

RUNTIME = (
    "NRT_Allocate", "NRT_Free", "NRT_MemInfo_alloc", "NRT_MemInfo_alloc_aligned", "NRT_MemInfo_alloc_dtor",
    "NRT_MemInfo_call_dtor",
)  # fmt: skip
COUNTS = ("NRT_incref", "NRT_decref")
OPEN_SHELVES = "tumble.open_shelves"  # to be called once, as the object is loaded
SHELVES, KEPT = 10, 64  # shelf k has blocks of 64 2^k bytes: of some threads, so many blocks on each
LARGEST = 64 << (SHELVES - 1)  # bytes
_SHELF = "%allocator {{ ptr null, ptr null, ptr @put_back, ptr inttoptr (i64 {} to ptr) }}"
_RUNTIME = (
    f"""
%block = type {{ i64, ptr, ptr, ptr, i64, ptr }}
%allocator = type {{ ptr, ptr, ptr, ptr }}
%shelves = type {{ [{SHELVES} x ptr], [{SHELVES} x i64] }}
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare void @free(ptr)
declare i32 @pthread_key_create(ptr, ptr)
declare ptr @pthread_getspecific(i64)
declare i32 @pthread_setspecific(i64, ptr)
declare i64 @llvm.ctlz.i64(i64, i1)

@key = internal global i64 0
@open = internal global i64 0
@shelf = internal constant [{SHELVES} x %allocator] [{", ".join(_SHELF.format(k) for k in range(SHELVES))}]
"""
    + """
define void @"tumble.open_shelves"() {
  %opened = load i64, ptr @open
  %twice = icmp ne i64 %opened, 0
  br i1 %twice, label %out, label %try
try:
  %failed = call i32 @pthread_key_create(ptr @key, ptr @clear)
  %fine = icmp eq i32 %failed, 0
  %now = zext i1 %fine to i64
  store i64 %now, ptr @open
  br label %out
out:
  ret void
}

define internal ptr @shelves_here() {
  %opened = load i64, ptr @open
  %none = icmp eq i64 %opened, 0
  br i1 %none, label %without, label %look
look:
  %key = load i64, ptr @key
  %old = call ptr @pthread_getspecific(i64 %key)
  %first = icmp eq ptr %old, null
  br i1 %first, label %make, label %there
there:
  ret ptr %old
make:
  %new = call ptr @calloc(i64 1, i64 SIZE)
  %ignored = call i32 @pthread_setspecific(i64 %key, ptr %new)
  ret ptr %new
without:
  ret ptr null
}

define internal void @clear(ptr %shelves) {
entry:
  br label %shelf
shelf:
  %k = phi i64 [ 0, %entry ], [ %next, %empty ]
  %head = getelementptr %shelves, ptr %shelves, i32 0, i32 0, i64 %k
  %first = load ptr, ptr %head
  br label %turn
turn:
  %b = phi ptr [ %first, %shelf ], [ %below, %drop ]
  %none = icmp eq ptr %b, null
  br i1 %none, label %empty, label %drop
drop:
  %below = load ptr, ptr %b
  call void @free(ptr %b)
  br label %turn
empty:
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, SHELVES
  br i1 %more, label %shelf, label %out
out:
  call void @free(ptr %shelves)
  ret void
}

define internal void @put_back(ptr %b, ptr %which) {
  %shelves = call ptr @shelves_here()
  %nowhere = icmp eq ptr %shelves, null
  br i1 %nowhere, label %drop, label %look
look:
  %k = ptrtoint ptr %which to i64
  %place = getelementptr %shelves, ptr %shelves, i32 0, i32 1, i64 %k
  %count = load i64, ptr %place
  %full = icmp uge i64 %count, KEPT
  br i1 %full, label %drop, label %keep
keep:
  %head = getelementptr %shelves, ptr %shelves, i32 0, i32 0, i64 %k
  %first = load ptr, ptr %head
  store ptr %first, ptr %b
  store ptr %b, ptr %head
  %more = add i64 %count, 1
  store i64 %more, ptr %place
  ret void
drop:
  call void @free(ptr %b)
  ret void
}

define internal void @give_back(ptr %b) {
  %p5 = getelementptr %block, ptr %b, i32 0, i32 5
  %allocator = load ptr, ptr %p5
  %plain = icmp eq ptr %allocator, null
  br i1 %plain, label %drop, label %ask
ask:
  %pf = getelementptr %allocator, ptr %allocator, i32 0, i32 2
  %function = load ptr, ptr %pf
  %pw = getelementptr %allocator, ptr %allocator, i32 0, i32 3
  %which = load ptr, ptr %pw
  call void %function(ptr %b, ptr %which)
  ret void
drop:
  call void @free(ptr %b)
  ret void
}

define ptr @NRT_Allocate(i64 %size) {
  %p = call ptr @malloc(i64 %size)
  ret ptr %p
}

define void @NRT_Free(ptr %p) {
  call void @free(ptr %p)
  ret void
}

define internal void @put(ptr %b, ptr %dtor, ptr %info, ptr %data, i64 %size, ptr %allocator) {
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
  store ptr %allocator, ptr %p5
  ret void
}

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align32) {
entry:
  %align = zext i32 %align32 to i64
  %twice = shl i64 %align, 1
  %more = add i64 %size, %twice
  %all = add i64 %more, 48
  %small = icmp ule i64 %all, LARGEST
  br i1 %small, label %shelved, label %large
shelved:
  %shelves = call ptr @shelves_here()
  %nowhere = icmp eq ptr %shelves, null
  br i1 %nowhere, label %large, label %look
look:
  %below = sub i64 %all, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %below, i1 false)
  %k = sub i64 58, %zeros
  %head = getelementptr %shelves, ptr %shelves, i32 0, i32 0, i64 %k
  %first = load ptr, ptr %head
  %bare = icmp eq ptr %first, null
  %allocator = getelementptr [SHELVES x %allocator], ptr @shelf, i64 0, i64 %k
  br i1 %bare, label %new, label %take
take:
  %next = load ptr, ptr %first
  store ptr %next, ptr %head
  %place = getelementptr %shelves, ptr %shelves, i32 0, i32 1, i64 %k
  %count = load i64, ptr %place
  %less = sub i64 %count, 1
  store i64 %less, ptr %place
  br label %fine
new:
  %whole = shl i64 64, %k
  %made = call ptr @malloc(i64 %whole)
  br label %asked
large:
  %bought = call ptr @malloc(i64 %all)
  br label %asked
asked:
  %got = phi ptr [ %made, %new ], [ %bought, %large ]
  %from = phi ptr [ %allocator, %new ], [ null, %large ]
  %none = icmp eq ptr %got, null
  br i1 %none, label %out, label %fine
fine:
  %b = phi ptr [ %first, %take ], [ %got, %asked ]
  %owner = phi ptr [ %allocator, %take ], [ %from, %asked ]
  %number = ptrtoint ptr %b to i64
  %head1 = add i64 %number, 47
  %past = add i64 %head1, %align
  %mask = sub i64 0, %align
  %at = and i64 %past, %mask
  %data = inttoptr i64 %at to ptr
  call void @put(ptr %b, ptr null, ptr null, ptr %data, i64 %size, ptr %owner)
  br label %out
out:
  %given = phi ptr [ null, %asked ], [ %b, %fine ]
  ret ptr %given
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
  call void @give_back(ptr %b)
  ret void
}
"""
)
for _name, _number in (("SHELVES", SHELVES), ("SIZE", 16 * SHELVES), ("KEPT", KEPT), ("LARGEST", LARGEST)):
    _RUNTIME = _RUNTIME.replace(_name, str(_number))
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
    """Its object, for any processor of this kind: kernels for others than this machine's go with it too (shipped.py)."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    module = llvm.parse_assembly(_RUNTIME)
    module.triple, module.data_layout = llvm.get_process_triple(), str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return [("runtime " + " ".join(RUNTIME), OPEN_SHELVES, machine.emit_object(module))]
