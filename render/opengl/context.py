"""Finds something to draw with: OpenGL without a window through EGL or OSMesa, else the software painter.

The environment variable TUMBLE_RENDERER forces one: ``egl``, ``osmesa``, ``painter``; ``auto`` tries them in this order.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tumble.collision.errors import need
from tumble.render.errors import RenderError, RendererWarning
from tumble.render.interrupts import held

if TYPE_CHECKING:
    from tumble.render.opengl.renderer import Renderer
    from tumble.render.software.painter import Painter

SCREENS = ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY")
CHOICES = ("auto", "egl", "osmesa", "painter")
SOFTWARE = ("llvmpipe", "softpipe")  # Mesa's drivers without a graphics card
HOW_TO = "On Debian and Ubuntu: apt-get install libegl1 libgl1 libgl1-mesa-dri"


@dataclass(frozen=True)
class GL:
    """An OpenGL context: ``backend`` is how it was found, ``renderer`` the driver's own name."""

    context: Any
    backend: str
    renderer: str

    @functools.cached_property
    def wait(self) -> Callable[[], None]:
        """A function that waits until all is drawn, without Python's lock, so that other threads go on meanwhile."""
        try:
            address = self.context.mglo._context.load_opengl_function("glFinish")
        except AttributeError:  # moderngl's inner parts are not those that are known
            address = 0
        return ctypes.CFUNCTYPE(None)(address) if address else self.context.finish


_found: GL | None = None
_failed: dict[str, str] = {}  # backend -> reason; a driver that failed once is not tried again
_warned = False


def choice() -> str:
    """What TUMBLE_RENDERER asks for."""
    wish = os.environ.get("TUMBLE_RENDERER", "auto").strip().lower() or "auto"
    if wish not in CHOICES:
        raise RenderError(f"TUMBLE_RENDERER = {wish!r}: must be one of {', '.join(CHOICES)}")
    return wish


def standalone(backends: tuple[str, ...] = ("egl", "osmesa")) -> GL:
    """The one context without a window that this process shares; RenderError with all the reasons where there is none."""
    global _found
    if _found is not None and _found.backend in (*backends, "native"):
        return _found
    for backend in backends:
        if backend in _failed:
            continue
        try:
            with held():
                context = _OPEN[backend]()
            name = "native" if backend == "egl" and not _has_egl() else backend
            _found = GL(context, name, context.info["GL_RENDERER"])
            return _found
        except Exception as error:  # drivers fail in their own ways: each is a reason to try the next
            _failed[backend] = " ".join(str(error).split()) or type(error).__name__
    raise RenderError("no OpenGL: " + "; ".join(f"{b}: {_failed[b]}" for b in backends) + f". {HOW_TO}")


def open_renderer(size: tuple[int, int], preset: str = "default") -> Renderer | Painter:
    """A renderer for pictures of ``size`` (width, height): the GL one where there is OpenGL, else the software painter.

    Raises
    ------
    RenderError : TUMBLE_RENDERER asks for something that is not there.
    """
    global _warned
    need("view")
    wish = choice()
    if wish != "painter":
        try:
            gl = standalone() if wish == "auto" else standalone((wish,))
            from tumble.render.opengl.renderer import Renderer

            return Renderer(size, preset, gl)
        except RenderError as error:
            if wish != "auto":
                raise
            if not _warned:
                _warned = True
                message = f"pictures are drawn in software, with shadows on the floor only: {error}"
                warnings.warn(message, RendererWarning, stacklevel=3)
    from tumble.render.software.painter import Painter

    return Painter(size, preset)


def windowed(size: tuple[int, int]) -> GL:
    """Open pygame's window with OpenGL 3.3 in it, resizable; its context. Raises what the driver raises where there is none."""
    need("view")
    import moderngl
    import pygame

    wishes = {
        pygame.GL_CONTEXT_MAJOR_VERSION: 3,
        pygame.GL_CONTEXT_MINOR_VERSION: 3,
        pygame.GL_CONTEXT_PROFILE_MASK: pygame.GL_CONTEXT_PROFILE_CORE,
        pygame.GL_CONTEXT_FORWARD_COMPATIBLE_FLAG: int(sys.platform == "darwin"),  # elsewhere it would only forbid wide lines
    }
    for name, value in wishes.items():
        pygame.display.gl_set_attribute(name, value)
    pygame.display.set_mode(size, pygame.OPENGL | pygame.DOUBLEBUF | pygame.RESIZABLE)
    with held():
        moderngl.init_context()  # plain create_context() fails under EGL when another context is alive
        context = moderngl.get_context()
    return GL(context, "window", context.info["GL_RENDERER"])


def screen() -> str:
    """Open pygame's display, for windows; SDL's name of the driver. RenderError where there is no screen.

    Left alone, SDL falls back on a driver that shows nothing, which would be waited at in vain.
    """
    need("view")
    import pygame

    hint = "SDL_VIDEODRIVER=offscreen opens windows that nobody sees"
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in SCREENS):
        raise RenderError(f"there is no screen: none of {', '.join(SCREENS[1:])} is set; {hint}")
    try:
        pygame.display.init()
    except pygame.error as error:
        raise RenderError(f"there is no screen ({error}); {hint}") from error
    driver = pygame.display.get_driver()
    if driver in ("offscreen", "dummy") and not os.environ.get("SDL_VIDEODRIVER"):
        pygame.display.quit()
        raise RenderError(f"there is no screen; {hint}")
    return driver


def draws_lines(gl: GL, width: float) -> bool:
    """Lines of that width [pixels] are best drawn as such. In software: one is half the work of two triangles."""
    if not gl.renderer.startswith(SOFTWARE):
        return False
    gl.context.line_width = width
    taken = gl.context.line_width > 0.99 * width  # held in single precision
    gl.context.line_width = 1.0
    return bool(taken)


def forget() -> None:
    """Open a new context when one is needed: closing a window may end those of the whole process (EGL's default display)."""
    global _found
    _found = None


def describe() -> dict[str, str]:
    """What pictures are drawn with here: ``backend``, ``renderer``, ``version`` and, where it is not OpenGL, the ``reason``."""
    wish = choice()
    try:
        if wish == "painter":
            raise RenderError("TUMBLE_RENDERER asks for it")
        gl = standalone() if wish == "auto" else standalone((wish,))
    except RenderError as error:
        return {"backend": "painter", "renderer": "software painter (pygame)", "version": "", "reason": str(error)}
    return {"backend": gl.backend, "renderer": gl.renderer, "version": gl.context.info["GL_VERSION"], "reason": ""}


def _has_egl() -> bool:
    return sys.platform.startswith("linux")


def _open_egl() -> Any:
    import moderngl

    if not _has_egl():  # macOS and Windows make one of their own without a window
        return moderngl.create_context(standalone=True, require=330)
    # by soname: the names without a version, which are looked up otherwise, come with the -dev packages only
    return moderngl.create_context(standalone=True, require=330, backend="egl", libgl="libGL.so.1", libegl="libEGL.so.1")


def _open_osmesa() -> Any:
    import moderngl

    return moderngl.create_context(require=330, context=OSMesa())


_OPEN = {"egl": _open_egl, "osmesa": _open_osmesa}


class OSMesa:
    """Mesa's off-screen context, in the form moderngl takes contexts made elsewhere. Draws into framebuffer objects only."""

    def __init__(self) -> None:
        for name in ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"):
            try:
                self._lib = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            raise RenderError("libOSMesa.so.8 not found")
        self._lib.OSMesaCreateContextAttribs.restype = ctypes.c_void_p
        self._lib.OSMesaGetProcAddress.restype = ctypes.c_void_p
        # format RGBA, 24 bits of depth, profile core, version 3.3 (GL/osmesa.h)
        wishes = (0x22, 0x1908, 0x30, 24, 0x33, 0x34, 0x36, 3, 0x37, 3, 0)
        self._context = self._lib.OSMesaCreateContextAttribs((ctypes.c_int * len(wishes))(*wishes), None)
        if not self._context:
            raise RenderError("OSMesa has no OpenGL 3.3 core")
        self._screen = (ctypes.c_ubyte * (16 * 16 * 4))()
        self.__enter__()

    def __enter__(self) -> OSMesa:
        made = self._lib.OSMesaMakeCurrent(ctypes.c_void_p(self._context), self._screen, 0x1401, 16, 16)
        if not made:
            raise RenderError("OSMesa's context can not be made current")
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def load(self, name: str) -> int:
        return self._lib.OSMesaGetProcAddress(name.encode()) or 0

    load_opengl_function = load

    def release(self) -> None:
        self._lib.OSMesaDestroyContext(ctypes.c_void_p(self._context))
