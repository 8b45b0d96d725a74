"""An agent that asks the person behind its run two things at once, who may answer tomorrow, in another terminal."""

from tea import Agent, Context, Result, Task


class Dinner(Agent):
    """Plan a dinner as its hosts want it."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask for the number of guests and the dish, and say what is to be done."""
        async with ctx.group() as group:
            guests = group.spawn(ctx.person("How many guests come?"))
            dish = group.spawn(ctx.person("What shall they eat?", ["soup", "curry"]))
        return Result(answer=f"{task.text} Cook {dish.result()} for {guests.result()}.")
