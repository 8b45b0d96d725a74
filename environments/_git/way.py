"""The way to a repository of elsewhere: its address, the guard's proxy, and the credentials of the operator."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tea import Context, ToolError
from tea.web import GuardProxy, UrlGuard, Verdict, WebSettings, code_host

from .process import Credentials, Ended, Remote


class WatchedGuard(UrlGuard):
    """A guard with a memory: the places asked about, each with the verdict, the last one at the end."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.asked: list[tuple[str, Verdict]] = []

    async def check_target(self, target: Any) -> Verdict:
        """Return the verdict on a place."""
        verdict = await super().check_target(target)
        self.asked.append((f"{target.scheme}://{target.authority}", verdict))
        return verdict


@asynccontextmanager
async def opened_way(ctx: Context, url: str) -> AsyncGenerator[Remote]:
    """Yield a reachable address: through the guard, or a folder opened by the operator.

    Raises:
        ToolError: It may not be reached.
    """
    settings = WebSettings.of(await ctx.web())
    if url.startswith(("http://", "https://")):
        guard = WatchedGuard(settings.allow, deny=settings.deny)
        verdict = await guard.check(url)
        if not verdict:
            fix = verdict.fix("use a public https address, or have the operator open it in [web] allow.")
            raise ToolError(verdict.problem(repr(url[:100])), fix=fix)
        credentials = await _credentials(ctx, url)
        async with GuardProxy(guard).on_loopback() as proxy:
            yield Remote(
                url=url, protocol=url.partition(":")[0], proxy=proxy, credentials=credentials, asked=guard.asked
            )
        return
    path = await asyncio.to_thread(_local, url, settings.repositories)
    if path is None:
        fix = "use an https address, or have the operator name its folder in [web] repositories."
        raise ToolError(f"{url[:100]!r} is not an address that may be reached.", fix=fix)
    yield Remote(url=f"file://{path}", protocol="file", folder=str(path))


async def _credentials(ctx: Context, url: str) -> Credentials | None:
    """Return the operator's credentials for the host of an address, None if there are none."""
    found = await code_host(ctx, url)
    if found is None or not found.key:
        return None
    host = found.host
    return Credentials(origin=host.url, user=host.user, word=found.key, variable=host.key_env)


def _local(url: str, allowed: Sequence[str]) -> Path | None:
    """Return the path of a bare repository inside an allowed folder, None if it is not."""
    try:
        path = Path(url.removeprefix("file://")).resolve()
        inside = any(path.is_relative_to(Path(one).resolve()) for one in allowed if Path(one).is_absolute())
        return (
            path if inside and Path(url.removeprefix("file://")).is_absolute() and (path / "HEAD").is_file() else None
        )
    except (OSError, ValueError, RuntimeError):
        return None


def denied(ended: Ended, remote: Remote) -> ToolError | None:
    """Return the error for a server asking for other credentials, or redirecting to one asking for some."""
    url, given = remote.url[:100], remote.credentials
    begun, (last, verdict) = (remote.asked[0][0], remote.asked[-1]) if remote.asked else ("", ("", None))
    if verdict is not None and not verdict:
        told = repr(last[:100])
        problem = f"{url!r} redirects to {told}, which may not be reached. {verdict.problem(told)}"
        return ToolError(problem, fix=verdict.fix("use an address at a public place."))
    wanted = "could not read Username" in ended.error or "could not read Password" in ended.error
    refused = "Authentication failed for" in ended.error
    if last != begun and (wanted or refused):
        problem = f"{url!r} redirects to {last[:100]!r}, which asks for credentials of its own."
        return ToolError(problem, fix="give the address that it redirects to.")
    if wanted or (refused and given is None):
        fix = "set the key of the host (GITHUB_TOKEN, GITLAB_TOKEN, or url and key_env in [hosts.NAME] of tea.toml)."
        return ToolError(f"{url!r} asks for credentials, and none are set for its host.", fix=fix)
    if refused and given:
        return ToolError(
            f"{url!r} does not accept the key in {given.variable}.", fix=f"set a valid key in {given.variable}."
        )
    if "returned error: 403" in ended.error:
        named = f"give the key in {given.variable} that right" if given else "set a key for this host"
        return ToolError(f"{url!r} does not allow this (403).", fix=f"{named}, or use another repository.")
    return None
