"""Programs that are killed, disks that are full, folders that go: nothing is lost, all opens. ``python -m benchmarks.faults``"""
