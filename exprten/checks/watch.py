"""What happens to a statement while it is looked at: `EXPRTEN_CHECK`, `EXPRTEN_INTERPRET` and the options of these names."""

from __future__ import annotations

from ..expression.expr import late
from ..options import DEFAULT, trails
from ..statement.running import Launch, Statement
from . import trail
from .culprit import run_and_look
from .judge import run_compared, run_interpreted


def _run(s: Statement, launch: Launch) -> None:
    if s.options.interpret:
        run_interpreted(s, launch)
    elif s.options.check == "oracle":
        run_compared(s, launch)
    else:
        launch.enter(s)


def _watched(s: Statement, launch: Launch) -> None:
    if s.options.check == "nan":
        run_and_look(s, lambda: _run(s, launch))
    else:
        _run(s, launch)


late["watched"] = _watched
trails.append(trail.written)
if DEFAULT.check == "nan":
    trail.begin()
