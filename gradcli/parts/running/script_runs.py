"""A script that is run from Python, with the answers to its backward passes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradcli.errors import InputError, MissingPassError, brief
from gradcli.locking import one_at_a_time
from gradcli.parts.running.pass_line import pass_line
from gradcli.parts.running.script_process import answer_passes
from gradcli.parts.running.script_texts import user_script
from gradcli.parts.running.scripts import ScriptRecorder
from gradcli.questions.call_arguments import in_words
from gradcli.report import WIDTH
from gradcli.report.document import Screen
from gradcli.results import VJP, Pass


@dataclass(frozen=True, repr=False)
class ScriptRun:
    """The backward passes of a script, in order, as `gradcli run` shows them.

    Attributes:
        name: The name of the script.
        passes: The passes; those behind the first 100 are looked at, and have no answers.
        remarks: What is wrong with the whole script, such as parameters that were never trained.
        exit_code: The code with which the script ended itself, or 1 where an exception did, which is on standard
            error; None where it ran to its end.
    """

    name: str
    passes: tuple[Pass, ...]
    remarks: tuple[str, ...] = ()
    exit_code: int | None = None

    def __iter__(self) -> Iterator[Pass]:
        return iter(self.passes)

    def __len__(self) -> int:
        return len(self.passes)

    def __getitem__(self, index: int) -> Pass:
        return self.passes[index]

    @property
    def answers(self) -> tuple[VJP, ...]:
        """The answers of all passes: a product, its check and its formula for each v."""
        return tuple(answer for one in self.passes for answer in one.answers)

    @property
    def passed(self) -> bool:
        """Tell whether the script ended well, and all that was judged is right."""
        is_right = all(not one.is_wrong and (one.refusal is None or one.is_excused) for one in self.passes)
        return not self.exit_code and is_right

    def __repr__(self) -> str:
        """Write a line for each pass, and the first that is not right, or the only one, in full."""
        wrong = next((one for one in self.passes if one.is_wrong), None)
        full = wrong or (self.passes[0] if len(self.passes) == 1 else None)
        lines = [pass_line(one, Screen(WIDTH, encoding="utf-8")).rstrip("\n") for one in self.passes]
        lines += [*self.remarks, *(str(one) for one in (full.answers if full is not None else ()))]
        return "\n".join(lines)


@brief
def run(
    script: str | os.PathLike[str],
    *arguments: str,
    wrt: Sequence[str] | str = (),
    check: bool = True,
    budget: float | None = None,
    only: int | None = None,
) -> ScriptRun:
    """Run a script of PyTorch as Python does, and answer each of its backward passes.

    The script prints where it always does, and its errors are shown as Python shows them.

    Args:
        script: A file, or the text of a script.
        arguments: Its arguments, as on its command line.
        wrt: The leaves to differentiate by, all by default.
        check: Whether to compare with the truth.
        budget: Seconds that the check of a pass may take.
        only: The number of the one pass to judge.

    Raises:
        GradcliError: There is no such file, or the script makes no backward pass.

    >>> ran = run("import torch; x = torch.tensor(3., requires_grad=True); (x**2).backward()")
    >>> ran.passed, ran[0].where, ran.answers[0]["x"]
    (True, '-c, line 1', array(6., dtype=float32))
    """
    if not isinstance(script, str | os.PathLike):
        raise InputError(f"a script is a file or a text, and not {in_words(script)}", hint='gradcli.run("train.py")')
    text = None
    if not os.path.exists(script):
        text = os.fspath(script)
        if {*"\n;=("}.isdisjoint(text):
            raise InputError(f"there is no file {text}", hint="a text of Python is run too")
    ran = user_script("-c" if text is not None else str(Path(script)), arguments, text)
    names = [name.strip() for name in wrt.split(",") if name.strip()] if isinstance(wrt, str) else [*wrt]
    passes: list[Pass] = []
    with one_at_a_time():
        recorder = ScriptRecorder(passes.append, check=check, seconds=budget, wrt=names, only=only)
        ended = answer_passes(ran, recorder)
    if not passes and ended is None:
        message = f"{ran.name} makes no backward pass"
        raise MissingPassError(message, hint="name a function of it: gradcli.grad(f, x)")
    return ScriptRun(ran.name, tuple(passes), (*ran.remarks, *recorder.watch.summary()), ended)
