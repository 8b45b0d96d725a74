"""Run tea as an agent of inspect_ai, and read its logs back: `python benchmarks/in_inspect.py [FOLDER]`.

inspect_ai is installed into an environment of its own in the folder, by default a temporary one. Its model is scripted:
it ends the first task with the right answer, and the second one with the same words but without success. What is
scored has to be 1 and 0, as the outcome of a run counts and not the last words of its model. Then a task set is
evaluated by tea, and inspect's own reader has to find the same figures in the log.
"""

import json
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
WANTED = ("inspect-ai>=0.3.285,<0.4", "openai>=2,<4")
AGENT = '''
import importlib.util, sys
spec = importlib.util.spec_from_file_location("inspect_agent", sys.argv[1])
tea = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tea)

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.scorer import exact


class Scripted(ModelAPI):
    """Ends each task at once; the words are the same, the success is not."""

    async def generate(self, input, tools, tool_choice, config):
        good = "failing" not in str(input[-1].content) + str(input)
        arguments = {"answer": "42", "success": good, "reason": "" if good else "no idea", "evidence": []}
        return ModelOutput.for_tool_call("scripted", "done", arguments)

    async def count_tokens(self, input, config=None):
        return 10

    async def count_text_tokens(self, text):
        return 10

    async def count_tool_tokens(self, tools):
        return 10


@modelapi(name="scripted")
def scripted():
    return Scripted


samples = [Sample(input="What is it? 42.", target="42"), Sample(input="What is it, failing? 42.", target="42")]
solver = tea.tea_agent(command=[sys.argv[2], "-m", "tea.cli"], options=[])
(log,) = eval(Task(dataset=samples, solver=solver, scorer=exact(), sandbox="local"), model="scripted/x",
              display="none", log_dir=sys.argv[3], max_samples=1)
assert log.status == "success", log.error
found = [(one.output.completion, one.scores["exact"].value, one.output.error or "") for one in log.samples]
print("| sample | answer | score | failure |\\n|---|---|---|---|")
for name, (answer, value, error) in zip(("succeeds", "fails with the right words"), found):
    print(f"| {name} | {answer!r} | {value} | {error} |")
assert [value for _, value, _ in found] == ["C", "I"], found
'''
READER = """
import sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
metrics = log.results.scores[0].metrics
assert log.status == "success" and len(log.samples) == 3
assert abs(metrics["accuracy"].value - 2 / 3) < 1e-9
assert [one.scores["tea"].as_float() for one in log.samples] == [1.0, 1.0, 0.0]
print("the log of `tea eval` reads back: accuracy", round(metrics["accuracy"].value, 3), "of", len(log.samples))
"""
TASKS = [("What is 2 + 3?", 5), ("What is 6 * 7?", 42), ("What is 1 + 1?", 3)]


def main() -> None:
    """Carry out both checks."""
    with TemporaryDirectory(prefix="tea-inspect-") as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        python = folder / "environment" / "bin" / "python"
        if not python.exists():
            venv.create(folder / "environment", with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", *WANTED], check=True)
        source = ROOT / "tea" / "evaluate" / "inspect_agent.py"
        command = [python, "-c", AGENT, source, sys.executable, Path(temporary) / "logs"]
        subprocess.run(list(map(str, command)), check=True, cwd=temporary)
        rows = [json.dumps({"task": task, "expected": answer, "scorer": "numeric"}) for task, answer in TASKS]
        Path(temporary, "set.jsonl").write_text("\n".join(rows) + "\n")
        line = [
            sys.executable,
            "-m",
            "tea.cli",
            "eval",
            "set.jsonl",
            "--home",
            "home",
            "-q",
            "--inspect-log",
            "log.json",
        ]
        subprocess.run(line, check=True, cwd=temporary, stdout=subprocess.DEVNULL)
        subprocess.run([str(python), "-c", READER, "log.json"], check=True, cwd=temporary)


if __name__ == "__main__":
    main()
