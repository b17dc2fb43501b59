"""The command ``tumble``: one verb of `scenarios/verbs/` at a time, its errors in one line, its exit code."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NoReturn

from tumble.scenarios.verbs import comparing, looking, measuring, running, scenes
from tumble.scenarios.verbs.given import BAD_INPUT, FAILED, INTERRUPTED, check_paths

LONGEST_LINE = 1500  # letters of an error: what files say is quoted in it
VERBS = (
    scenes.add_list, scenes.add_show, running.add_run, running.add_demo, looking.add_film, comparing.add_check,
    comparing.add_compare, comparing.add_converge, scenes.add_schema, scenes.add_import, running.add_sweep, looking.add_view,
    looking.add_report, looking.add_export, looking.add_trace, measuring.add_validate, measuring.add_bench, measuring.add_doctor,
)  # fmt: skip


class Parser(argparse.ArgumentParser):
    """Says what is wrong on one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        from tumble.sim.words import printable

        self.exit(BAD_INPUT, printable(f"{self.prog}: {message} (see {self.prog} --help)\n"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb; the exit code: 0, 2 for bad input, 1 for what failed, 130 for Ctrl-C."""
    arguments = parser().parse_args(argv)
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    signal.signal(signal.SIGTERM, _terminated)  # as Ctrl-C: recordings are closed on the way out
    from tumble.sim.words import Printable

    shown, warnings.showwarning = warnings.showwarning, _note
    try:
        check_paths(arguments)
        with contextlib.redirect_stdout(Printable(sys.stdout)):  # names in files of others are not trusted with the terminal
            code = arguments.verb(arguments) or 0
        sys.stdout.flush()  # here, where a closed pipe can still be handled
        return code
    except KeyboardInterrupt as interrupt:
        return _fail(INTERRUPTED, f"stopped{': ' + str(interrupt) if str(interrupt) else ''}")
    except BrokenPipeError:  # the reader has seen enough, as in `tumble list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        code = _code(error)
        if code is None:
            raise  # a mistake of ours: the traceback is wanted
        return _fail(code, str(error))
    finally:
        warnings.showwarning = shown


def _note(*warning: Any) -> None:
    """A warning in one line. What does that is loaded when there is one."""
    from tumble.scenarios.showing.report import show_warnings

    show_warnings()
    warnings.showwarning(*warning)


def _code(error: Exception) -> int | None:
    """The exit code of an error that a user can do something about; None for any other."""
    from tumble.collision.errors import MissingExtra
    from tumble.sim.errors import InputError, RecordingError, SimulationError

    if isinstance(error, InputError):
        return BAD_INPUT
    if isinstance(error, RecordingError):  # no recording, or no room for one
        full = getattr(error.__cause__, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
        return FAILED if full else BAD_INPUT
    render = sys.modules.get("tumble.render.errors")
    if isinstance(error, SimulationError | OSError | MissingExtra) or (render and isinstance(error, render.RenderError)):
        return FAILED
    return None


def _fail(code: int, message: str) -> int:
    from tumble.sim.words import printable

    line = " ".join(message.split())
    print(printable(f"tumble: {line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + ' ...'}"), file=sys.stderr)
    return code


def _terminated(*_: object) -> None:
    raise KeyboardInterrupt


@cache
def parser() -> Parser:
    """The verbs and their options."""
    top = Parser(prog="tumble", description="Rigid bodies whose energy and momentum can be trusted.")
    verbs = top.add_subparsers(metavar="VERB", required=True, parser_class=Parser)

    def verb(name: str, action: Callable, help: str) -> Parser:
        made = verbs.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
        made.set_defaults(verb=action)
        return made

    for add in VERBS:
        add(verb)
    return top


if __name__ == "__main__":
    sys.exit(main())
