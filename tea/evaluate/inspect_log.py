"""InspectLog: an evaluation as a log for inspect_ai, in the JSON form of its version 2."""

from __future__ import annotations

from typing import Any

from tea.components.equality import text_of
from tea.evaluate.evaluation import Evaluation, ScoredRun
from tea.evaluate.summary import Summary
from tea.journal.history import tea_version
from tea.types import JsonValue

VERSION = 2
_SCORER = "tea"


def inspect_log_of(evaluation: Evaluation, summary: Summary, tasks: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return an evaluation as an inspect log.

    A run that did not succeed is in it with its score of 0 and the kind of its failure, not as a sample without score,
    so that the accuracy that inspect computes is the one that was measured.

    Args:
        evaluation: The evaluation.
        summary: Its figures.
        tasks: The tasks in words and what is expected, by id; without them a sample says its id.
    """
    model = f"{evaluation.plan.agent}/{evaluation.plan.model or evaluation.model.get('model') or 'default'}"
    score = summary.whole.score
    usage = {"input_tokens": summary.whole.tokens, "output_tokens": 0, "total_tokens": summary.whole.tokens}
    metrics = {"accuracy": score.mean, "stderr": score.error if score.clusters > 1 else 0.0}
    return {
        "version": VERSION,
        "status": "success",
        "eval": {
            "eval_id": evaluation.id,
            "run_id": evaluation.id,
            "created": evaluation.begun,
            "task": evaluation.name,
            "task_id": evaluation.set_digest[:22],
            "task_version": 0,
            "task_attribs": {},
            "task_args": {},
            "dataset": {
                "name": evaluation.name,
                "samples": summary.whole.tasks,
                "sample_ids": list(evaluation.by_task()),
                "shuffled": False,
            },
            "model": model,
            "model_args": {},
            "config": {"epochs": evaluation.epochs, "epochs_reducer": ["mean"]},
            "packages": {"tea-protocol": tea_version()},
            "metadata": {"plan": evaluation.plan.to_json(), "plan_digest": evaluation.plan_digest},
        },
        "plan": {"name": "plan", "steps": [{"solver": evaluation.plan.agent, "params": {}}], "config": {}},
        "results": {
            "total_samples": summary.whole.runs,
            "completed_samples": summary.whole.runs,
            "scores": [
                {
                    "name": _SCORER,
                    "scorer": _SCORER,
                    "params": {},
                    "metrics": {name: {"name": name, "value": value, "params": {}} for name, value in metrics.items()},
                }
            ],
        },
        "stats": {"started_at": evaluation.begun, "completed_at": evaluation.begun, "model_usage": {model: usage}},
        "samples": [_sample(one, model, (tasks or {}).get(one.id)) for one in evaluation.runs],
    }


def _sample(run: ScoredRun, model: str, task: Any) -> dict[str, Any]:
    question = task.task if task is not None else run.id
    answer = text_of(run.answer) if run.status == "done" else ""
    message = {"role": "assistant", "content": answer, "source": "generate"}
    return {
        "id": run.id,
        "epoch": run.epoch,
        "input": question,
        "target": text_of(task.expected) if task is not None else "",
        "messages": [{"role": "user", "content": question, "source": "input"}, message],
        "output": {
            "model": model,
            "choices": [{"message": message, "stop_reason": "stop"}],
            "usage": {"input_tokens": run.tokens, "output_tokens": 0, "total_tokens": run.tokens},
        },
        "scores": {
            _SCORER: {
                "value": run.score,
                "answer": answer,
                "explanation": run.reason,
                "metadata": {"kind": run.kind, "status": run.status, "run": run.run, **_plain(dict(run.details))},
            }
        },
        "metadata": {"tags": list(run.tags), "split": run.split, "run": run.run},
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
        "total_time": run.seconds,
        "working_time": run.seconds,
    }


def _plain(details: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {f"judge_{name}": value for name, value in details.items()}
