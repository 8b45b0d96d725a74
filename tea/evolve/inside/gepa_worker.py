"""GEPA at work: its search over candidates, evaluated by the host on training tasks alone."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
channel: Any = import_module("channel").Channel()
gepa: Any = import_module("gepa")
core: Any = import_module("gepa.core.adapter")


class HostAdapter:
    """The adapter between GEPA and the host's tasks."""

    propose_new_texts = None

    def evaluate(self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        """Return the scores of a candidate on some tasks, with the traces of its runs."""
        found = channel.ask({"evaluate": {"candidate": candidate, "tasks": batch}})
        traces = found["shown"] if capture_traces else None
        return core.EvaluationBatch(outputs=found["answers"], scores=found["scores"], trajectories=traces)

    def make_reflective_dataset(self, candidate: dict[str, str], batch: Any, components: list[str]) -> Any:
        """Return the traces as examples for each component."""
        examples = [{"Feedback": shown} for shown in batch.trajectories or ()]
        return dict.fromkeys(components, examples)


def reflect(prompt: Any) -> str:
    """Return the answer of the host's model."""
    text = prompt if isinstance(prompt, str) else "\n\n".join(str(one.get("content", "")) for one in prompt)
    return str(channel.ask({"ask": {"system": "", "question": text}})["text"])


def search(job: Any) -> dict[str, str]:
    """Return the texts of the best candidate, by key; no state is read or written."""
    found = gepa.optimize(
        seed_candidate=job["candidate"], trainset=job["tasks"], valset=job["tasks"], adapter=HostAdapter(),
        reflection_lm=reflect, reflection_prompt_template=job["templates"], max_metric_calls=job["calls"],
        reflection_minibatch_size=min(3, len(job["tasks"])), seed=job["seed"], run_dir=None, use_cloudpickle=False,
        display_progress_bar=False,
    )  # fmt: skip
    return dict(found.best_candidate)


channel.write({"done": search(channel.read())})
