"""Verbs that measure tumble itself: exact answers, speed, what works on this machine."""

from __future__ import annotations

import argparse

from tumble.scenarios.verbs.given import FAILED, Adder, quantity

BENCHMARKS = "tumbling stack pyramid balls balls_729 wall pile_200 pile_1000 rocks"


def add_validate(verb: Adder) -> None:
    one = verb("validate", validate, "run the cases with a known answer, and compare each number with its limit")
    one.add_argument("case", nargs="*", metavar="CASE", help="such as V01; else all but the long ones")
    one.add_argument("--all", action="store_true", help="the long ones too")
    one.add_argument("--json", metavar="F.json", help="write the numbers as JSON")
    one.add_argument("--page", metavar="F.md", help="write the page of the docs")
    one.add_argument("--peers", metavar="F.json", help="numbers of other engines to put on the page")


def validate(arguments: argparse.Namespace) -> int:
    """Cases with a known answer; exit code 1 where a number is off its limit."""
    from tumble.scenarios.runs.scene_run import warm
    from tumble.scenarios.validation.case import cases, chosen
    from tumble.scenarios.validation.validation_report import run_cases, table, verdict, write_json, write_page

    wanted = chosen(arguments.case) if arguments.case else [c for c in cases().values() if arguments.all or not c.long]
    warm()
    results = run_cases(wanted)
    print(table(results))
    print(f"\n{verdict(results)}")
    if arguments.json:
        print(write_json(results, arguments.json))
    if arguments.page:
        print(write_page(results, arguments.page, arguments.peers))
    return 0 if all(result.holds for result in results) else FAILED


def add_bench(verb: Adder) -> None:
    one = verb("bench", bench, "measure microseconds a step by stage: tumbling boxes, stack, pyramid, balls, piles")
    one.add_argument("scene", nargs="*", metavar="SCENE", help=f"of: {BENCHMARKS}; else all")
    one.add_argument(
        "--budget", type=quantity("s", above=0), default=20.0, metavar="S", help="wall-clock time for each scene (20)"
    )
    one.add_argument("--calls", action="store_true", help="instead: what calls from Python cost, and many worlds at once")
    one.add_argument("--start", action="store_true", help="instead: seconds from the start of Python to a first step")
    one.add_argument("--compile", action="store_true", help="with --start: also where nothing is compiled yet")
    one.add_argument("--kernels", action="store_true", help="list the kernels that take most of each step")
    one.add_argument("--json", metavar="F", help="write the measurements to a file")


def bench(arguments: argparse.Namespace) -> None:
    """How fast scenes step, and where the time goes."""
    from tumble.collision.errors import InputError
    from tumble.scenarios.measuring.bench import chosen, kernels, run_suite, table, write_json

    if arguments.compile and not arguments.start:
        raise InputError("--compile", True, "goes with --start")
    if arguments.calls or arguments.start:
        from tumble.scenarios.measuring import bench_calls

        for key, given in (("scene", arguments.scene), ("--json", arguments.json), ("--kernels", arguments.kernels)):
            if given:
                raise InputError(key, given, "is nothing for --calls and --start, which time worlds of their own")
        rows = bench_calls.calls() + bench_calls.many() if arguments.calls else []
        rows += bench_calls.start(arguments.compile) if arguments.start else []
        print(bench_calls.table(rows))
        return
    names = chosen(arguments.scene)
    rows = run_suite(names, arguments.budget)
    print(table(rows))
    if arguments.kernels:
        for row in rows:
            if "kernels" in row:
                print(f"\n{kernels(row)}")
    if arguments.json:
        print(f"\n{write_json(rows, arguments.json)}")


def add_doctor(verb: Adder) -> None:
    one = verb("doctor", doctor, "tell what works here, and how to get what is missing")
    one.add_argument("--prune", action="store_true", help="delete compiled kernels and tables of grounds that no longer fit")


def doctor(arguments: argparse.Namespace) -> int:
    """What works here; exit code 1 where something needed is missing."""
    from tumble.render.opengl.context import describe, screen
    from tumble.scenarios.measuring.doctor import examine

    if arguments.prune:
        from tumble.collision.ground import cache
        from tumble.collision.kernels.sources import prune
        from tumble.sim.words import count

        print(f"deleted {count(prune(), 'folder')} of kernels that no longer fit, {count(cache.prune(), 'file')} of grounds")
    missing = False
    for finding in examine(describe, screen):
        mark = {True: "ok     ", None: "limited", False: "MISSING"}[finding.good]
        print(f"{mark}  {finding.what:13} {finding.says}")
        if finding.remedy:
            print(f"{'':24}{finding.remedy}")
        missing |= finding.good is False
    return FAILED if missing else 0
