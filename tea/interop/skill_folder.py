"""Folders of Agent Skills: read strictly, written atomically, and never over files of others."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain, count
from pathlib import Path, PurePosixPath

from tea.components.manifest import canonical
from tea.errors import BadComponent, BadInput, StorageError
from tea.interop.skill import LONGEST_NAME, OWN, Skill, read_skill
from tea.store.files import publish, read_regular, storage_error, writing
from tea.store.scratch import Scratch, make_folders, sync_folder
from tea.store.strict import Refused

MAIN = "SKILL.md"
MOST_FILES, MOST_BYTES, MOST_ALL, DEEPEST = 200, 2**20, 4 * 2**20, 8
_REF, _SEAL = f'  "{OWN}ref": ', f'  "{OWN}seal": '


def read_folder(folder: Path) -> Skill:
    """Read a skill; hidden files are left out, and nothing is executed.

    Raises:
        BadComponent: It breaks a rule of the format, holds a link or what is not UTF-8 text, or is too large.
        StorageError: It cannot be read.
    """
    place = folder.resolve()
    if not place.is_dir():
        raise BadComponent(f"{folder.name[:80]!r} is not a folder.", fix=f"name the folder that holds {MAIN}.")
    found = _contents(place, hidden=False)
    main = next((name for name in (MAIN, MAIN.lower()) if name in found), None)
    if main is None:
        raise BadComponent(f"{place.name[:80]!r} holds no {MAIN}.", fix="name the folder of one skill.")
    skill = read_skill(found.pop(main), found)
    if skill.name != place.name:
        problem = f"The skill {skill.name!r} is in a folder called {place.name[:80]!r}."
        raise BadComponent(problem, fix="give the folder the name of its skill.")
    return skill


def write_skills(folder: Path, skills: Iterable[Skill]) -> list[Path]:
    """Write skills as folders inside of `folder`, each as a whole, and return their paths.

    A skill that is there already is replaced only where it still is what an earlier export wrote. Where components
    become skills of one name, for example one that was imported twice, the later ones get a number.

    Raises:
        BadInput: One would replace what others wrote or changed; nothing is written.
        StorageError: One cannot be written.
    """
    wanted: dict[str, dict[str, str]] = {}
    for skill in skills:
        name = _free(skill.name, wanted)
        wanted[name] = _sealed(replace(skill, name=name))
    changed = [name for name, files in wanted.items() if _differs(folder / name, files)]
    with writing(folder):
        make_folders(folder)
        for name in changed:
            _replace(folder / name, wanted[name])
        with suppress(OSError):
            os.rmdir(folder / ".tmp")
    return [folder / name for name in wanted]


def exported(folder: Path) -> dict[str, str]:
    """Return the source component of each unchanged exported skill in `folder`, by the skill's name."""
    found: dict[str, str] = {}
    for name in sorted(os.listdir(folder)):
        with suppress(StorageError):
            if _unchanged(files := _there(folder / name)):
                found[name] = _made_of(files)
    return found


def _free(name: str, taken: Container[str]) -> str:
    """Return a skill's name, with a number if it is taken."""
    numbered = (f"{name[: LONGEST_NAME - len(end)].rstrip('-')}{end}" for end in (f"-{n}" for n in count(2)))
    return next(one for one in chain([name], numbered) if one not in taken)


def _sealed(skill: Skill) -> dict[str, str]:
    """Return the files of a skill, with a seal in its fields to detect later changes."""
    files = {MAIN: skill.document(), **skill.files}
    head, fence, rest = files[MAIN].partition("\n---\n")
    lines = head if "\nmetadata:" in head else f"{head}\nmetadata:"
    return {**files, MAIN: f'{lines}\n{_SEAL}"{_seal({**files, MAIN: lines + fence + rest})}"{fence}{rest}'}


def _seal(files: Mapping[str, str]) -> str:
    return "sha256:" + hashlib.sha256(canonical(dict(files))).hexdigest()


def _differs(place: Path, files: Mapping[str, str]) -> bool:
    """Return whether a skill must be written; raise BadInput if the files there were written by others."""
    if not os.path.lexists(place):
        return True
    there = _there(place)
    if there == files:
        return False
    if not _unchanged(there):
        problem = f"{str(place)[-120:]!r} is there, and is not what tea wrote."
        raise BadInput(problem, fix="remove it, or choose another folder.")
    return True


def _there(place: Path) -> dict[str, str]:
    """Return the files of a possible skill, empty if it cannot be one."""
    try:
        return _contents(place, hidden=True) if place.is_dir() and not place.is_symlink() else {}
    except BadComponent:
        return {}


def _unchanged(files: Mapping[str, str]) -> bool:
    """Return whether files are unchanged since an earlier export, by their seal."""
    lines = files.get(MAIN, "").split("\n")
    seals = [line for line in lines if line.startswith(_SEAL)]
    bare = {**files, MAIN: "\n".join(line for line in lines if not line.startswith(_SEAL))}
    return seals == [f'{_SEAL}"{_seal(bare)}"']


def _made_of(files: Mapping[str, str]) -> str:
    told = next((line for line in files[MAIN].split("\n") if line.startswith(_REF)), "")
    return told.removeprefix(_REF).strip('"')


def _replace(place: Path, files: Mapping[str, str]) -> None:
    scratch = Scratch(place.parent)
    with scratch.folder() as fresh, scratch.folder() as aside:
        for path, text in files.items():
            file = fresh / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        former = aside / place.name
        if place.exists():
            os.rename(place, former)
        try:
            if not publish(fresh, place):
                raise BadInput(f"{str(place)[-120:]!r} appeared meanwhile.", fix="remove it, then try again.")
        except BaseException:
            if former.exists():
                publish(former, place)
            raise
        sync_folder(place.parent)


def _contents(folder: Path, *, hidden: bool) -> dict[str, str]:
    """Return the text of each file in a folder by its path there."""
    found: dict[str, str] = {}
    size = 0
    for path in _paths(folder, PurePosixPath(), hidden=hidden):
        found[str(path)] = text = _text(folder, path)
        size += len(text.encode())
        if len(found) > MOST_FILES or size > MOST_ALL:
            fix = f"a skill holds at most {MOST_FILES} files and {MOST_ALL // 2**20} MiB."
            raise BadComponent(f"{folder.name[:80]!r} holds too much.", fix=fix)
    return found


def _paths(folder: Path, inside: PurePosixPath, *, hidden: bool) -> Iterator[PurePosixPath]:
    try:
        with os.scandir(folder / inside) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
    except OSError as error:
        raise storage_error("read", folder / inside, error) from error
    for entry in entries:
        path = inside / entry.name
        if entry.name.startswith(".") and not hidden:
            continue
        if not str(path).isprintable() or len(path.parts) > DEEPEST:
            raise BadComponent(
                f"{ascii(str(path))[:80]} is not a path for a file of a skill.", fix="rename or move it."
            )
        if entry.is_symlink():
            raise BadComponent(f"{str(path)[-80:]!r} is a link.", fix="put the file itself there.")
        if entry.is_dir():
            yield from _paths(folder, path, hidden=hidden)
        else:
            yield path


def _text(folder: Path, path: PurePosixPath) -> str:
    shown = repr(str(path)[-80:])
    try:
        text = read_regular(folder / path, MOST_BYTES).decode()
    except OSError as error:
        raise storage_error("read", folder / path, error) from error
    except Refused as reason:
        raise BadComponent(f"{shown} cannot be used: {reason}.", fix="leave it out.") from reason
    except UnicodeDecodeError as error:
        raise BadComponent(f"{shown} is not UTF-8 text.", fix="leave it out, or save it as UTF-8.") from error
    if "\0" in text:
        raise BadComponent(f"{shown} holds a NUL character.", fix="leave it out.")
    return text
