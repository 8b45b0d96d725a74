"""SkillService: the imported skills, for agents and for the tool to open one."""

from __future__ import annotations

from base64 import b64encode
from typing import TypeAlias

from tea.components.manifest import Manifest
from tea.components.port import ListSkills, ReadSkill
from tea.errors import BadRef, UnknownComponent
from tea.prompts.skills import assets_of, instructions, is_skill, texts_of
from tea.refs import Ref
from tea.registry.row import SKILL
from tea.runs.service import Service
from tea.types import JsonValue

SkillRequest: TypeAlias = ListSkills | ReadSkill


class SkillService(Service):
    """The service `skills`: untrusted ones are listed and read too, as nothing of them is executed here."""

    async def answer(self, request: SkillRequest, agent: str, key: str) -> JsonValue:
        """Answer a request inside an effect."""
        return await (self._read(request.name) if isinstance(request, ReadSkill) else self._listed())

    async def _listed(self) -> JsonValue:
        found = [await self._info(Ref(kind="prompt", name=name)) for name in await self._names()]
        return [
            {"name": one.name, "version": one.version, "description": one.description, "trusted": trusted}
            for one, trusted in found
        ]

    async def _read(self, asked: str) -> JsonValue:
        found, trusted = await self._find(asked)
        return {
            "name": found.name,
            "version": found.version,
            "trusted": trusted,
            "instructions": instructions(found),
            "texts": texts_of(found),
            "assets": {path: b64encode(data).decode() for path, data in assets_of(found).items()},
        }

    async def _find(self, asked: str) -> tuple[Manifest, bool]:
        """Return the skill with a name, perhaps with a version, and whether it is trusted.

        Raises:
            UnknownComponent: There is no such skill.
        """
        name, at, version = asked.partition("@")
        try:
            ref = Ref.parse(f"{name.replace('-', '_')}{at}{version}", kind="prompt")
            if ref.name in (names := await self._names()) and is_skill((found := await self._info(ref))[0]):
                return found
        except (BadRef, UnknownComponent):
            names = await self._names()
        fix = f"there is {', '.join(names)}." if names else "import one with `tea import`."
        raise UnknownComponent(f"No skill is named {asked[:80]!r}.", fix=fix)

    async def _names(self) -> list[str]:
        """Return the names of the active skills in reach of this run."""
        rows = await self._run.deps.libraries["prompt"].list(category=SKILL)
        return [one.name for one in rows if self._run.pins.may_use(f"prompt:{one.name}")]

    async def _info(self, ref: Ref) -> tuple[Manifest, bool]:
        selector = ref.selector or self._run.run_config.use.get(str(ref.at(None)))
        return await self._run.deps.libraries["prompt"].judged(ref.at(selector))
