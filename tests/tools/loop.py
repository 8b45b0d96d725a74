"""The offline solver and its tools in one process: asks, carries out what is asked for, until it is done."""

import asyncio
from pathlib import Path
from typing import Any

from tea.errors import TeaError
from tea.protocols.tcp import TCPServer

MOST_STEPS = 8


async def solve(tools: TCPServer, task: str, files: list[str], answer: dict[str, Any] | None = None) -> dict[str, Any]:
    """Work on a task as an agent would; return the arguments of `done`."""
    history: list[dict[str, Any]] = []
    for number in range(1, MOST_STEPS):
        arguments = {"task": task, "files": files, "history": history, "answer": answer}
        step = (await tools.invoke("answer_from_data", arguments)).unwrap()
        calls = step["calls"]
        if calls[0]["name"] == "done":
            return calls[0]["arguments"] | {"history": history}
        responses = await asyncio.gather(*(tools.invoke(call["name"], call["arguments"]) for call in calls))
        history.append({"step": number, "calls": [_record(*pair) for pair in zip(calls, responses, strict=True)]})
    raise AssertionError("the solver does not come to an end")


def _record(call: dict[str, Any], response: Any) -> dict[str, Any]:
    error: TeaError | None = response.error
    return {**call, "ok": response.ok, "value": response.value, "error": error and dict(error)}


PLANETS = """Planet;Type;Diameter (km);Mass (10^24 kg);Moons;Distance from Sun (million km);Has rings;Discovered
Mercury;Terrestrial;4879;0.33;0;57.9;No;
Venus;Terrestrial;12104;4.87;0;108.2;No;
Earth;Terrestrial;12756;5.97;1;149.6;No;
Mars;Terrestrial;6792;0.642;2;227.9;No;
Jupiter;Gas giant;142984;1898;95;778.6;Yes;
Saturn;Gas giant;120536;568;146;1433.5;Yes;
Uranus;Ice giant;51118;86.8;28;2872.5;Yes;1781
Neptune;Ice giant;49528;102;16;4495.1;Yes;1846
"""
COUNTRIES = """name,capital,region,population,area_km2,languages,eu_member
Germany,Berlin,Europe,"83,200,000",357022,German,TRUE
Switzerland,Bern,Europe,"8,703,000",41284,"German, French, Italian",FALSE
Norway,Oslo,Europe,"5,408,000",385207,Norwegian,FALSE
Japan,Tokyo,Asia,"125,700,000",377975,Japanese,FALSE
India,New Delhi,Asia,"1,408,000,000",3287263,"Hindi, English",FALSE
Kenya,Nairobi,Africa,"53,010,000",580367,"Swahili, English",FALSE
Chad,N'Djamena,Africa,"17,180,000",1284000,"French, Arabic",FALSE
Canada,Ottawa,North America,"38,250,000",9984670,"English, French",FALSE
"""
ORDERS = """order_id,order_date,customer_id,product,quantity,total
5000,2021-03-02,C1,Desk,2,400.5
5001,2021-11-20,C2,Chair,6,300
5002,2022-01-15,C1,Lamp,1,30.25
5003,2022-05-09,C3,Chair,4,200
5004,2023-08-30,C3,Desk,1,200.25
5005,2023-12-01,C4,Lamp,3,90.75
"""
CUSTOMERS = """customer_id,customer_name,country
C1,Ada Berg,Norway
C2,Ben Costa,Spain
C3,Cleo Dahl,Norway
C4,Dan Egger,Austria
"""
MUSEUM = """# The Harbour Museum

The Harbour Museum opened in 1932 in a former customs house. It was designed by the architect Elena Marsh.

## Visiting

Tickets cost 8 euros for adults and 4 euros for children. Dogs are not admitted.
"""


def write_files(folder: Path) -> None:
    """Write the tables and the text that the questions are about."""
    files = {
        "planets.csv": PLANETS,
        "countries.csv": COUNTRIES,
        "orders.csv": ORDERS,
        "customers.csv": CUSTOMERS,
        "museum.md": MUSEUM,
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
