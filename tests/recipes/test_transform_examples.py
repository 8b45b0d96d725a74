"""The paper's examples of transformations (Section 3 and Appendix C.4), at work and replayed."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from transform_kit import STEP, chooser, script

from tea.models.offline import observations
from tea.platform import Platform
from tea.testing import FunctionModel, platform
from tea.types import ModelRequest

BROWSER = '''
from tea import Environment, ToolError, action

PAGES = {"home": ["news"], "news": ["weather"], "weather": []}


class Browser(Environment):
    """A browser with three pages."""

    name = "browser"
    metadata = {"category": "web"}
    rules = "Look before you click."

    def __init__(self) -> None:
        self.visited: list[str] = []

    async def state(self) -> dict[str, object]:
        """Return the page, its links, and how many were visited."""
        page = self.visited[-1] if self.visited else ""
        return {"page": page, "links": PAGES.get(page, []), "visited": len(self.visited)}

    @action(effects="external", after="the page is open")
    async def navigate(self, page: str) -> str:
        """Open a page by its name."""
        if page not in PAGES:
            raise ToolError(f"There is no page {page!r}.", fix="open home.")
        self.visited.append(page)
        return page

    @action(effects="external", before="a page is open that has the link", after="the linked page is open")
    async def click(self, link: str) -> str:
        """Follow a link of the open page."""
        if not self.visited or link not in PAGES[self.visited[-1]]:
            raise ToolError(f"No link {link!r} is here.", fix="look at the state.")
        self.visited.append(link)
        return link

    @action(effects="external", before="a page was open before", after="that page is open again")
    async def go_back(self) -> str:
        """Return to the page before."""
        self.visited.pop()
        return self.visited[-1]
'''

DEVELOPMENT = [
    '''
from tea import Context, tool


@tool(effects="writes", network=False)
async def edit(ctx: Context, path: str, text: str) -> int:
    """Write a program, and return its number of lines."""
    ctx.path(path).write_text(text)
    return len(text.splitlines())
''',
    '''
import ast

from tea import Context, tool


@tool(effects="reads", idempotent=True, network=False, before="the file is there")
async def compile_program(ctx: Context, path: str) -> dict[str, object]:
    """Say whether a program compiles, and in which line it does not."""
    try:
        ast.parse(ctx.path(path).read_text())
    except SyntaxError as error:
        return {"ok": False, "fault": error.lineno}
    return {"ok": True, "fault": None}
''',
    '''
from tea import Context, tool


@tool(effects="reads", idempotent=True, network=False)
async def debug(ctx: Context, path: str, fault: int | None = None) -> str:
    """Show the faulty line of a program, or its first."""
    return ctx.path(path).read_text().splitlines()[(fault or 1) - 1]
''',
]

MARKET = '''
import json

from tea import Agent, Context, Result, Task

FIRST = {"price": 10, "stock": 20, "sold": 0}


class Market(Agent):
    """Run a market with one good, whose price follows demand."""

    name = "market"
    role = "Market"
    objectives = ("keep trading", "hold the rules")
    rules = "Each sale raises the price by one, each return lowers it. Nobody buys what is not in stock."

    async def run(self, ctx: Context, task: Task) -> Result:
        """Answer one order."""
        order = json.loads(task.text)
        book = await ctx.state.load() or FIRST
        wanted = order["arguments"]["amount"] * (1 if order["action"] == "buy" else -1)
        if wanted > book["stock"]:
            return Result(ok=False, reason=f"Only {book['stock']} are in stock.")
        sold = book["sold"] + wanted
        await ctx.state.save({"price": book["price"] + wanted, "stock": book["stock"] - wanted, "sold": sold})
        return Result(answer={"price": book["price"], "amount": wanted})
'''

TRADERS = '''
from tea import Agent, Context, Result, Task


class Traders(Agent):
    """Let traders act in the market, side by side."""

    name = "traders"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Trade."""
        async with ctx.group() as group:
            for amount in (1, 2, 3):
                group.spawn(ctx.acp.invoke("trader", Task(text=str(amount))))
        return Result(answer=(await ctx.ecp.state("exchange")).value)
'''

TRADER = '''
from tea import Agent, Context, Result, Task


class Trader(Agent):
    """Buy twice, bring one back, and ask for too much."""

    name = "trader"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Trade."""
        amount = int(task.text)
        for action, wanted in (("buy", amount), ("buy", amount), ("sell", 1), ("buy", 99)):
            given = await ctx.ecp.invoke(f"exchange#{action}", {"amount": wanted})
        return Result(answer=given.error)
'''

GAME = '''
from tea import Environment, ToolError, action


class Sticks(Environment):
    """Players take one to three of the sticks; who takes the last one wins."""

    name = "sticks"
    rules = "Take one, two or three. Only take what is there."

    def __init__(self) -> None:
        self.left, self.moves = 9, []

    async def state(self) -> dict[str, object]:
        """Return how many are left, and who took how many."""
        return {"left": self.left, "moves": list(self.moves)}

    @action(effects="writes", network=False)
    async def take(self, player: str, count: int) -> int:
        """Take sticks, and return how many are left."""
        if not 1 <= count <= min(3, self.left):
            raise ToolError("That many cannot be taken.", fix="take one to three of what is left.")
        self.left -= count
        self.moves.append([player, count])
        return self.left
'''

REFEREE = '''
from typing import Any

from tea import tool


@tool(effects="reads", idempotent=True, network=False)
async def referee(action: str, arguments: dict[str, Any], state: Any = None) -> str:
    """Let the opponent move for itself, and only in its turn."""
    if action == "task":
        return ""
    moves = state["sticks"]["moves"]
    if arguments.get("player") != "opponent":
        return "Move for yourself."
    return "It is not your turn." if moves and moves[-1][0] == "opponent" else ""
'''

PLAYER = '''
from tea import Agent, Context, Result, Task


class Player(Agent):
    """Play against the opponent."""

    name = "player"

    async def run(self, ctx: Context, task: Task) -> Result:
        """Play until no stick is left."""
        while True:
            left = (await ctx.ecp.invoke("sticks#take", {"player": "me", "count": 1})).unwrap()
            if left:
                moved = await ctx.acp.invoke("opponent", Task(text="tick"))
                assert moved.result.ok, moved.result.reason
            state = (await ctx.ecp.state("sticks")).value
            if not state["left"]:
                return Result(answer=state["moves"])
'''


def calls(*wanted: tuple[str, dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [[{"name": name, "arguments": arguments}] for name, arguments in wanted]


async def replays(made: Platform, task: str, agent: str, **options: Any) -> Any:
    outcome = await made.run(task, agent=agent, **options)
    assert outcome.ok, outcome.reason
    assert (await made.replay(outcome.run)).to_json() == outcome.to_json()
    return outcome.answer


async def test_a_browser_becomes_a_toolkit_that_knows_what_must_hold() -> None:
    moves = calls(
        ("web_click", {"link": "news"}),
        ("web_navigate", {"page": "home"}),
        ("web_click", {"link": "news"}),
        ("web_click", {"link": "weather"}),
        ("web_go_back", {}),
        ("web_state", {}),
    )
    async with platform(model=chooser(*moves)) as made:
        await made.ecp.register(BROWSER)
        toolkit = await made.transform("E2T", "browser", name="web")
        assert {(one.metadata["toolkit"], one.metadata["category"]) for one in toolkit} == {("web", "web")}
        click = next(one for one in toolkit if one.name == "web_click")
        assert "Before: a page is open that has the link" in click.description
        await made.transform("T2A", [one.name for one in toolkit], name="surfer")
        answer = await replays(made, "What links has the news page?", "surfer")
        assert answer == {"page": "news", "links": ["weather"], "visited": 2}


async def test_tools_for_code_become_an_environment_with_a_common_file() -> None:
    moves = script(
        *calls(
            ("studio_edit", {"path": "main.py", "text": "x = 1\nprint(x"}),
            ("studio_compile_program", {}),
            ("studio_debug", {}),
            ("studio_edit", {"text": "x = 1\nprint(x)\n"}),
            ("studio_compile_program", {}),
        )
    )
    seen: list[Any] = []

    def reply(request: ModelRequest) -> Any:
        steps = [one for one in observations(request) if "calls" in one]
        seen.append(steps[-1] if steps else request.variables["environments"])
        return moves(request)

    async with platform(model=FunctionModel(reply)) as made:
        for source in DEVELOPMENT:
            await made.tcp.register(source)
        shared = {"path": None, "fault": None}
        operands = ["edit", "compile_program", "debug"]
        await made.transform("T2E", operands, name="studio", shared=shared, rules="Compile after each edit.")
        await made.transform("E2A", "studio", name="developer", initiative="Make it compile.")
        assert await replays(made, "tick", "developer", session="s") == {"ok": True, "fault": None}
        state = (await made.ecp.state("studio", session="s")).unwrap()
        assert state["variables"] == {"path": "main.py", "fault": None}
        assert state["last"]["compile_program"] == {"ok": True, "fault": None}
    assert seen[0][0]["rules"] == "Compile after each edit."
    assert seen[0][0]["state"] == {"variables": shared, "last": {}}
    assert seen[2]["calls"][0]["value"] == {"ok": False, "fault": 2}
    assert seen[5]["calls"][0]["value"] == {"ok": True, "fault": None}
    assert seen[3]["calls"][0]["value"] == "print(x"


async def test_a_market_agent_is_an_environment_in_which_traders_act() -> None:
    amount = {"properties": {"amount": {"type": "integer", "minimum": 1}}, "required": ["amount"]}
    actions = {name: {"description": f"{name.title()} at the price.", "parameters": amount} for name in ("buy", "sell")}
    async with platform() as made:
        for source in (MARKET, TRADER, TRADERS):
            await made.acp.register(source)
        [place] = await made.transform("A2E", "market", name="exchange", actions=actions)
        assert place.rules.startswith("Each sale raises the price")
        state = await replays(made, "Trade.", "traders", session="day")
        assert state["state"] == {"price": 19, "stock": 11, "sold": 9}
        assert state["objectives"] == ["keep trading", "hold the rules"]
        given = await made.ecp.invoke("exchange#buy", {"amount": 12}, session="day")
        assert given.error is not None
        assert given.error["problem"] == "'buy' did not succeed: Only 11 are in stock."
        async with Platform(made.home, state=made.trust.path.parent) as later:
            found = (await later.ecp.state("exchange", session="day")).unwrap()
            assert found["state"] == state["state"]


async def test_a_game_becomes_an_opponent_that_adapts_and_keeps_to_the_rules() -> None:
    def reply(request: ModelRequest) -> dict[str, Any]:
        """Play to leave a multiple of four, once the player has shown to be careful; then end the turn."""
        results = [one["calls"][0] for one in observations(request) if "calls" in one]
        if results and results[-1]["ok"]:
            return {**STEP, "calls": [{"name": "done", "arguments": {"answer": results[-1]["value"]}}]}
        left = request.variables["environments"][0]["state"]["left"]
        player = "me" if not results and left == 8 else "opponent"
        return {**STEP, "calls": [{"name": "sticks_take", "arguments": {"player": player, "count": left % 4 or 1}}]}

    async with platform(model=FunctionModel(reply)) as made:
        await made.ecp.register(GAME)
        await made.tcp.register(REFEREE)
        await made.acp.register(PLAYER)
        await made.transform("E2A", "sticks", name="opponent", guard="referee", initiative="Make your move.")
        moves = await replays(made, "Play.", "player")
        assert moves[:2] == [["me", 1], ["opponent", 1]]
        assert [count for player, count in moves if player == "me"] == [1] * len(moves[::2])
        assert sum(count for _, count in moves) == 9
        assert moves[-1][0] == "opponent"
        refused = await made.acp.invoke("opponent", {"task": {"text": ""}})
        assert not refused.ok


def test_the_example_of_a_market_says_what_it_does(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "examples" / "market.py"
    environment = {**os.environ, "TEA_STATE": str(tmp_path / "state"), "TEA_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert '"\'buy\' did not succeed: Only 1 left.",\n    "2 at 10",\n    "2 at 12"' in done.stdout
    assert "replayed: True\ntool:exchange_buy@1.0.0 Buy at the price of the moment.\n" in done.stdout
