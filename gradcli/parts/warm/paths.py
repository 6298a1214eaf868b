"""Folder and name of the socket, and the conditions of a start of Python.

The name is made of the installation (version, interpreter, files of the package, torch) and of the other conditions
of a start (variables that are heeded at import, limits, priority, processors, open standard streams), so that nobody
ever talks to a process that has imported something else, or was started otherwise.
"""

from __future__ import annotations

import os
import stat
import sys

import gradcli

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

COMMAND = "warm"
"""The command about the process, which it never runs itself."""

VARIABLE = "GRADCLI_WARM"
"""Environment variable: 1 starts the process by the first call, 0 asks none."""

AT_IMPORT = (
    *("OMP_", "MKL_", "KMP_", "GOMP_", "OPENBLAS_", "GOTO_", "BLIS_", "VECLIB_", "NPY_", "NUMPY_", "SYMPY_", "FLINT_"),
    *("TORCH", "PYTORCH", "ATEN_", "C10_", "DNNL_", "ONEDNN_", "CUDA_", "NVIDIA_", "HIP_", "ROCR_", "XPU_"),
    *("LD_", "DYLD_", "PYTHON", "MALLOC_", "GLIBC_", "LC_", "LANG", "LOCPATH", "GRADCLI_DEBUG", "VIRTUAL_ENV"),
    *("TYPER_", "_TYPER_", "TERMINAL_WIDTH", "GITHUB_ACTIONS", "PY_COLORS"),
)
"""Prefixes of variables that the loader, Python, or a library heeds once, at its start."""

LONGEST_SOCKET_PATH = 100
"""Most bytes of the path of a socket, of which systems take 103 to 107."""


def is_possible() -> bool:
    """Tell whether this system has fork, and sockets that signal their end; such a one has sockets with descriptors."""
    return hasattr(os, "fork") and hasattr(os, "O_ASYNC")


def folder() -> str:
    """Name the folder of the socket: in the user's run-time folder, or else a temporary one of the user's own."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and len(runtime) + 40 < LONGEST_SOCKET_PATH and _is_ours(runtime):
        return os.path.join(runtime, "gradcli")
    temporary = os.environ.get("TMPDIR", "")
    if not os.path.isabs(temporary) or len(temporary) + 60 > LONGEST_SOCKET_PATH:
        temporary = "/tmp"  # noqa: S108 -- the folder in it is looked at before it is used
    return os.path.join(temporary, f"gradcli-{os.geteuid()}")


def _is_ours(path: str) -> bool:
    """Tell whether a path is a folder, no link to one, of this user, which nobody else may look into."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def is_safe() -> bool:
    """Tell whether the folder is there, and is the user's alone."""
    return _is_ours(folder())


def make_folder() -> bool:
    """Make the folder where it is missing; tell whether it is safe."""
    try:
        os.mkdir(folder(), 0o700)
    except FileExistsError:
        pass
    except OSError:
        return False
    return is_safe()


def socket_path() -> str:
    """Name the socket of the process for calls such as this, be it there or not."""
    return os.path.join(folder(), f"{name()}.socket")


def name() -> str:
    """Name the process for calls such as this, by its imports and the conditions of its start."""
    said = "\n".join([gradcli.__version__, sys.version, sys.prefix, PACKAGE, *_installed(), *_start()])
    return f"{int.from_bytes(said.encode('utf-8', 'surrogateescape'), 'big') % (2**61 - 1):x}"


def _installed() -> Iterator[str]:
    """List the times at which files of the package and of torch were written, and the packages next to torch."""
    folders = [PACKAGE]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    yield f"{entry.name} {entry.stat().st_mtime_ns}"
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    for path in sys.path:
        try:
            torch = os.stat(os.path.join(path, "torch", "version.py"))
        except OSError:
            continue
        yield f"{path} {torch.st_mtime_ns} {torch.st_size}"
        # Not when the folder was changed, which it is by whoever compiles the first file in it.
        yield from sorted(name for name in os.listdir(path) if name.endswith((".dist-info", ".pth")))
        return


def _start() -> Iterator[str]:
    """List the conditions of a start of Python, besides the installation."""
    import resource

    root = os.stat("/")
    yield from (f"{name}={os.environ[name]}" for name in sorted(os.environ) if name.startswith(AT_IMPORT))
    limits = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    yield from (f"limit {name} {resource.getrlimit(getattr(resource, name))}" for name in limits)
    if hasattr(os, "sched_getaffinity"):
        yield f"processors {sorted(os.sched_getaffinity(0))}"
    yield f"nice {os.nice(0)}, closed standard streams {[sys.stdin, sys.stdout, sys.stderr].count(None)}"
    yield f"user {os.getuid()} {os.geteuid()} {os.getgid()} {os.getegid()} {sorted(os.getgroups())}"
    yield f"system {root.st_dev} {root.st_ino}"
    yield f"interpreter {tuple(sys.flags)} {sys._xoptions} {sys.warnoptions}"
