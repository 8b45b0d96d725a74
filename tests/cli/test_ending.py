"""Test the end of a run on the terminal."""

from .conftest import Tea

CAREFUL = '''
from tea import Agent, Context, Result, Task


class Careful(Agent):
    """Answer, and doubt it."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Answer, and tell what the answer leaves out."""
        return Result(answer="6 seats", reason="Only one of the seven planes is listed.")
'''


def test_what_an_agent_remarks_on_its_answer_is_told_beside_it(tea: Tea) -> None:
    tea.write("careful.py", CAREFUL)
    assert tea("register", "careful.py").code == 0
    done = tea("run", "How many seats?", "--agent", "careful")
    assert (done.code, done.out) == (0, "6 seats\n")
    assert "remark: Only one of the seven planes is listed." in done.err.splitlines()
    said = tea("chat", "--agent", "careful", stdin=b"How many seats?\n")
    assert "remark: Only one of the seven planes is listed." in said.err.splitlines()
