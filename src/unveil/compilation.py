"""Compile inner loops with numba: once, and without the interpreter's lock.

**What is compiled.** A kernel allocates nothing: its caller provides work space and the arrays to fill. numba then need
not count references to arrays, which is most of what it would compile. Its arguments carry no types; numba finds them
out. ``parallel=True`` is never used: it takes ten times as long to compile.

**Where compiled code is kept.** Beside the source; if that directory is read-only, in the user's cache directory; if
neither is writable, or the disk is full, every process compiles anew. A damaged file counts as none. A kernel is
compiled again when its own file changes, or any file of the package that it imports, because the functions it calls are
compiled into it. Contents count, not dates, so that compiled code survives a move.

**What a wheel contains.** Compiled code for the platform that the wheel was built on (``hatch_build.py``), in the
folder ``_shipped``. It targets a processor level, not one processor: x86-64-v3 (2013 and later, with AVX2), or what all
processors of another architecture have in common. On an older processor, or if the contents of the files differ, the
kernel is compiled as if that folder did not exist.
"""

from __future__ import annotations

import errno
import functools
import gc
import hashlib
import importlib
import pickle
import platform
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = [
    "CompilationListener",
    "allocating_kernel",
    "helper",
    "kernel",
    "on_compilation",
    "processor_level",
    "write_shipped_code_to",
]

_PACKAGE = Path(__file__).parent
_SHIPPED = _PACKAGE / "_shipped"
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "xsave")

CompilationListener = Callable[[int, float], None]
"""Called with the number of functions compiled so far, and the seconds that took."""

_listeners: list[CompilationListener] = []
_ship_to: Path | None = None


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that neither allocates nor returns arrays, when it is first called."""
    return _compile_function(function, _nrt=False, pipeline_class=_compiler_classes()[0], **_OPTIONS)


def helper(function: Callable[..., Any]) -> Any:
    """Compile such a function for other kernels only. It is translated once and becomes machine code only as a part of
    the kernels that call it, which takes half the time."""
    import numba

    _register_listener()
    options: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, **_OPTIONS}
    return numba.njit(pipeline_class=_compiler_classes()[1], **options)(function)


def allocating_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that allocates arrays, draws random numbers or returns arrays."""
    return _compile_function(function, **_OPTIONS)


def _compile_function(function: Callable[..., Any], **options: Any) -> Any:
    import numba

    _register_listener()
    compiled = numba.njit(**options)(function)
    with suppress(RuntimeError):  # no cache directory is writable
        compiled._cache = _cache_class()(function)
    return compiled


@functools.cache
def _compiler_classes() -> tuple[Any, Any]:
    """numba's compiler without what kernels do not need: for kernels, and for helpers.

    numba optimises each function by itself, and everything again once it is linked; the first is left out. A helper is
    translated up to LLVM's intermediate code. What follows, optimisation and machine code, would be repeated in every
    kernel that calls the helper, because numba links the intermediate code of a helper into its callers.
    """
    codegen: Any = importlib.import_module("numba.core.codegen")  # untyped
    compiler: Any = importlib.import_module("numba.core.compiler")
    machinery: Any = importlib.import_module("numba.core.compiler_machinery")
    passes: Any = importlib.import_module("numba.core.typed_passes")
    untyped: Any = importlib.import_module("numba.core.untyped_passes")
    dynamic: Any = importlib.import_module("numba._dynfunc")
    needless = (untyped.InlineClosureLikes, passes.NopythonRewrites)

    class KernelCode(codegen.JITCodeLibrary):  # type: ignore[misc]
        """Code that is optimised as a whole only."""

        def _optimize_functions(self, module: Any) -> None:
            module.data_layout = self._codegen._data_layout

    class LinkableCode(KernelCode):
        """Code that others link: it contains what it calls, and is neither optimised nor executable."""

        def finalize(self) -> None:
            for library in dict.fromkeys(self._linking_libraries):
                self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._finalized = True

    @machinery.register_pass(mutates_CFG=False, analysis_only=True)
    class OfferForLinking(machinery.LoweringPass):  # type: ignore[misc]
        """Let callers find the function by an object that stands for it, since it cannot be executed by itself."""

        _name = "offer_for_linking"

        def __init__(self) -> None:
            machinery.LoweringPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            described, environment = state.cr.fndesc, state.cr.env
            module, name = described.lookup_module(), described.qualname
            entry = dynamic.make_function(module, name, "", 0, environment, (state.library,))
            state.targetctx.insert_user_function(entry, described, [state.library])
            state.cr = state.cr._replace(cfunc=entry)
            return True

    def define_passes(state: Any) -> Any:
        """The passes without those that look for closures and for expressions of whole arrays."""
        steps = compiler.DefaultPassBuilder.define_nopython_pipeline(state)
        steps.passes = [step for step in steps.passes if step[0] not in needless]
        return steps

    class KernelCompiler(compiler.CompilerBase):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            self.state.library = KernelCode(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
            return [define_passes(self.state)]

    class HelperCompiler(compiler.CompilerBase):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            self.state.flags.no_compile = True
            self.state.library = LinkableCode(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            steps = define_passes(self.state)
            steps.add_pass_after(OfferForLinking, passes.NativeLowering)
            steps.finalize()
            return [steps]

    return KernelCompiler, HelperCompiler


# ---- listeners -------------------------------------------------------------------------------------------------------


@contextmanager
def on_compilation(listener: CompilationListener) -> Iterator[None]:
    """Call ``listener`` whenever a function is about to be compiled because no cache has it."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@functools.cache
def _register_listener() -> None:
    """Follow every compilation. The garbage collector pauses meanwhile: numba creates many long-lived objects, and
    scanning them again and again takes a tenth of the time."""
    event: Any = importlib.import_module("numba.core.event")  # untyped

    class Compilation(event.Listener):  # type: ignore[misc]
        depth = functions = 0
        seconds = begun = 0.0
        collecting = False

        def on_start(self, compiling: Any) -> None:
            if self.depth == 0:
                if not compiling.data["dispatcher"].py_func.__module__.startswith("unveil."):
                    return
                self.begun, self.collecting = time.perf_counter(), gc.isenabled()
                gc.disable()
            self.depth += 1
            for listener in tuple(_listeners):
                listener(self.functions, self.seconds + time.perf_counter() - self.begun)
            self.functions += 1

        def on_end(self, compiling: Any) -> None:
            if self.depth == 0:
                return
            self.depth -= 1
            if self.depth == 0:
                self.seconds += time.perf_counter() - self.begun
                if self.collecting:
                    gc.enable()

    event.register("numba:compile", Compilation())


# ---- the cache -------------------------------------------------------------------------------------------------------


@functools.cache
def _cache_class() -> Any:
    caching: Any = importlib.import_module("numba.core.caching")  # untyped

    class KernelIndex(caching.IndexDataCacheFile):  # type: ignore[misc]
        """Files that begin with a hash of what follows. Damaged files are misses, because machine code that is not what
        was written may do anything; so are entries that refer to classes that a later version renamed."""

        def _load_index(self) -> Any:
            with suppress(OSError, TypeError, ValueError):
                version, stamp, overloads = _unpickle_checked(self._index_path)
                if (version, stamp) == (self._version, self._source_stamp):
                    return dict(overloads)
            return {}

        def _save_index(self, overloads: Any) -> None:
            self._write_checked(self._index_path, (self._version, self._source_stamp, overloads))

        def _load_data(self, name: str) -> Any:
            return _unpickle_checked(self._data_path(name))

        def _save_data(self, name: str, data: Any) -> None:
            self._write_checked(self._data_path(name), data)

        def _write_checked(self, path: str, data: Any) -> None:
            body = self._dump(data)
            with self._open_for_write(path) as file:
                file.write(hashlib.sha256(body).digest() + body)

    class KernelCache(caching.FunctionCache):  # type: ignore[misc]
        """numba's own cache, valid by contents, in front of the code that came with the wheel."""

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            stamp, name = _content_stamp(Path(function.__code__.co_filename)), self._impl.filename_base
            folder = (_ship_to or _SHIPPED) / function.__module__
            self._shipped = KernelIndex(str(folder), name, stamp)
            if _ship_to:
                folder.mkdir(parents=True, exist_ok=True)
                self._cache_path, self._cache_file = str(folder), self._shipped
            else:
                self._cache_file = KernelIndex(self._cache_path, name, stamp)

        def _load_overload(self, signature: Any, target_context: Any) -> Any:
            level = None if _ship_to else _shipped_level()
            if level is not None:
                data = self._shipped.load(self._index_key(signature, level))
                if data is not None:
                    return self._impl.rebuild(target_context, data)
            return super()._load_overload(signature, target_context)

        def _save_overload(self, signature: Any, data: Any) -> None:
            with suppress(OSError):  # the disk is full: what was compiled runs, and is compiled again next time
                super()._save_overload(signature, data)

    return KernelCache


def _unpickle_checked(path: str) -> Any:
    """What was pickled to a file after the hash of it; OSError if that is not what was written."""
    data = Path(path).read_bytes()
    size = hashlib.sha256().digest_size
    if hashlib.sha256(data[size:]).digest() == data[:size]:
        with suppress(Exception):  # bytes that are no pickle may raise anything
            return pickle.loads(data[size:])
    raise OSError(errno.EIO, "the file is damaged", path)


@functools.cache
def _content_stamp(file: Path) -> bytes:
    """A hash of the contents of a file and of all files of the package that it imports."""
    read, waiting = dict[Path, bytes](), [file]
    while waiting:
        path = waiting.pop()
        if path in read:
            continue
        read[path] = path.read_bytes()
        for module, names in re.findall(r"^\s*from unveil([\w.]*) import ([^#\n]*)", read[path].decode(), re.MULTILINE):
            folder = _PACKAGE.joinpath(*module.split(".")[1:])
            found = [folder.with_suffix(".py"), *(folder / f"{name.strip()}.py" for name in names.split(","))]
            waiting.extend(each for each in found if each.is_file())
    return hashlib.sha256(b"".join(hashlib.sha256(text).digest() for _, text in sorted(read.items()))).digest()


# ---- code that comes with a wheel ------------------------------------------------------------------------------------


class _ProcessorLevel:
    """A processor level, in the form in which numba's cache describes its target."""

    def __init__(self, name: str) -> None:
        self.name = name

    def magic_tuple(self) -> tuple[str, str, str]:
        import llvmlite.binding as llvm

        return llvm.get_process_triple(), self.name, ""


def processor_level() -> str | None:
    """The level that shipped code targets; None if this processor is below it."""
    import llvmlite.binding as llvm

    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "generic"
    features = llvm.get_host_cpu_features()
    return "x86-64-v3" if all(features.get(name) for name in _V3) else None


@functools.cache
def _shipped_level() -> _ProcessorLevel | None:
    level = processor_level() if _SHIPPED.is_dir() else None
    return None if level is None else _ProcessorLevel(level)


def write_shipped_code_to(folder: Path) -> None:
    """Write everything compiled from now on to a folder that will be shipped.

    Call it before any kernel is loaded, in a process with ``NUMBA_CPU_NAME`` set to the processor level and an empty
    ``NUMBA_CPU_FEATURES``.
    """
    global _ship_to
    _ship_to = folder
