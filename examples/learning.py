"""A failing agent, evaluated and improved without a key: `python examples/learning.py plant|eval|evolve [VERSION]`.

The model is the obedient one of `tea.testing.desk`: it follows its prompt to the letter, and reflects by what traces
show. With a model of your own the same is done by `tea eval` and `tea evolve`.
"""

import asyncio
import json
import sys
from pathlib import Path

from tea import Platform
from tea.evaluate import Plan, evaluate
from tea.evolve.campaign import Campaign, Limits
from tea.evolve.strategies import Reflection
from tea.testing.desk.clerk import ObedientModel
from tea.testing.desk.defects import defect

DEFECT = defect("small letters")


async def main(step: str, version: str = "") -> None:
    """Carry out one step of the tutorial."""
    async with Platform(model=ObedientModel()) as tea:
        if step == "plant":
            await DEFECT.plant(tea)
            told = {"task", "expected", "scorer", "tags", "split"}
            rows = [one.task.model_dump(include=told) for one in DEFECT.tasks().tasks]
            text = "".join(f"{json.dumps(one, default=list)}\n" for one in rows)
            await asyncio.to_thread(Path("words.jsonl").write_text, text)
            print(f"planted a clerk that fails, and {len(rows)} tasks in words.jsonl")
        elif step == "eval":
            plan = Plan(agent="clerk", use={"prompt:desk": version} if version else {})
            found = await evaluate(tea, DEFECT.tasks(), plan)
            print(f"{found.id}: {100 * sum(one.score for one in found.runs) / len(found.runs):.0f} % right")
        else:
            campaign = Campaign(
                platform=tea,
                tasks=DEFECT.tasks(),
                refs=[DEFECT.ref],
                strategy=Reflection(),
                plan=DEFECT.plan,
                tell=print,
            )
            report = await campaign.run(Limits(tests=1))
            print(f"{report.accepted} accepted of {report.tests} tested: {dict(report.use)}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
