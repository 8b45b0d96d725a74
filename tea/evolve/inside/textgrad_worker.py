"""TextGrad at work: one step of textual gradient descent on the variables of a job.

Each failed run is the output of a function of all variables. A loss asks what is wrong with it, its gradient goes back
through that function, and the optimiser rewrites the variables.
"""

import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
channel: Any = import_module("channel").Channel()
tg: Any = import_module("textgrad")
base: Any = import_module("textgrad.engine.base")
functions: Any = import_module("textgrad.autograd.string_based_ops")


class HostEngine(base.EngineLM):
    """An engine asking the host, so each question is recorded there."""

    model_string = "tea"

    def generate(self, prompt: Any, system_prompt: Any = None, **options: Any) -> str:
        """Return the answer of the host's model."""
        system = self.system_prompt if system_prompt is None else system_prompt
        return str(channel.ask({"ask": {"system": str(system), "question": str(prompt)}})["text"])

    def __call__(self, prompt: Any, system_prompt: Any = None, **options: Any) -> str:
        """Return the same."""
        return self.generate(prompt, system_prompt, **options)


def traced(shown: str, **texts: Any) -> str:
    """Return the trace of a run made with some texts."""
    return shown


def step(job: Any) -> dict[str, str]:
    """Return the texts after one step, by key."""
    engine = HostEngine()
    made = {key: tg.Variable(one["value"], role_description=one["role"]) for key, one in job["variables"].items()}
    losses: list[Any] = []
    for shown in job["failures"]:
        function = functions.StringBasedFunction(partial(traced, shown), job["purpose"])
        output = function({f"text_{number}": one for number, one in enumerate(made.values())}, job["output"])
        losses.append(tg.TextLoss(job["loss"], engine=engine)(output))
    tg.sum(losses).backward(engine)
    optimizer = tg.TextualGradientDescent(parameters=[*made.values()], engine=engine, constraints=job["constraints"])
    optimizer.step()
    return {key: str(one.value) for key, one in made.items()}


channel.write({"done": step(channel.read())})
