"""Folders of Agent Skills: read strictly, written atomically, and never over files of others."""

from __future__ import annotations

import hashlib
import os
from base64 import b64encode
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, count
from pathlib import Path, PurePosixPath

from tea.components.manifest import canonical
from tea.errors import BadComponent, BadInput, StorageError
from tea.interop.skill import LONGEST_NAME, OWN, Skill, read_skill
from tea.source.text import check_characters
from tea.store.files import followed, publish, read_regular, storage_error, writing
from tea.store.scratch import PUBLIC_FILE, Scratch, make_folders, sync_folder
from tea.store.strict import Refused

Files = dict[str, bytes]
MAIN = "SKILL.md"
MOST_FILES, MOST_BYTES, MOST_ALL, DEEPEST = 200, 2**20, 4 * 2**20, 8
_SCRIPTS = frozenset((".bash", ".js", ".md", ".php", ".pl", ".ps1", ".py", ".r", ".rb", ".sh", ".ts", ".zsh"))
_REF, _SEAL = f'  "{OWN}ref": ', f'  "{OWN}seal": '


def read_folder(folder: Path) -> Skill:
    """Read a skill; hidden files are left out, and nothing is executed.

    Raises:
        BadComponent: It breaks a rule of the format, holds a link, or is too large.
        StorageError: It cannot be read.
    """
    place = followed(folder)
    if not place.is_dir():
        raise BadComponent(f"{folder.name[:80]!r} is not a folder.", fix=f"name the folder that holds {MAIN}.")
    found = _contents(place, hidden=False)
    main = next((name for name in (MAIN, MAIN.lower()) if name in found), None)
    if main is None:
        raise BadComponent(f"{place.name[:80]!r} does not contain {MAIN}.", fix="name the folder of one skill.")
    texts, assets = _divided(found)
    if main not in texts:
        raise BadComponent(f"{main} is not UTF-8 text without NUL.", fix="save it as UTF-8.")
    if script := next((path for path, data in assets.items() if _is_script(path, data)), None):
        raise BadComponent(f"{script[-80:]!r} is a script and not UTF-8 text without NUL.", fix="save it as UTF-8.")
    check_characters("", {MAIN: texts[main]})
    skill = read_skill(texts.pop(main), texts, assets)
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
    wanted: dict[str, Files] = {}
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
            if _unchanged(files := _existing_files(folder / name)):
                found[name] = _made_of(files)
    return found


def _free(name: str, taken: Container[str]) -> str:
    """Return a skill's name, with a number if it is taken."""
    numbered = (f"{name[: LONGEST_NAME - len(end)].rstrip('-')}{end}" for end in (f"-{n}" for n in count(2)))
    return next(one for one in chain([name], numbered) if one not in taken)


def _sealed(skill: Skill) -> Files:
    """Return the files of a skill, with a seal in its fields to detect later changes."""
    files: Files = {**{path: text.encode() for path, text in skill.files.items()}, **skill.assets}
    head, fence, rest = skill.document().partition("\n---\n")
    lines = head if "\nmetadata:" in head else f"{head}\nmetadata:"
    seal = _seal({**files, MAIN: (lines + fence + rest).encode()})
    return {**files, MAIN: f'{lines}\n{_SEAL}"{seal}"{fence}{rest}'.encode()}


def _seal(files: Files) -> str:
    texts, assets = _divided(files)
    found = {**texts, **{path: {"base64": b64encode(data).decode()} for path, data in assets.items()}}
    return "sha256:" + hashlib.sha256(canonical(found)).hexdigest()


def _divided(files: Files) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the text files and the binary ones."""
    texts, assets = dict[str, str](), dict[str, bytes]()
    for path, data in files.items():
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            assets[path] = data
        else:
            texts[path] = text
    return texts, assets


def _is_script(path: str, data: bytes) -> bool:
    """Return whether a file is one that people read before it is executed."""
    is_one = path.startswith("scripts/") or PurePosixPath(path).suffix.casefold() in _SCRIPTS
    return is_one or data.startswith(b"#!")


def _differs(place: Path, files: Files) -> bool:
    """Return whether a skill must be written; raise BadInput if the files there were written by others."""
    if not os.path.lexists(place):
        return True
    there = _existing_files(place)
    if there == files:
        return False
    if not _unchanged(there):
        problem = f"{str(place)[-120:]!r} exists, and was not written by tea."
        raise BadInput(problem, fix="remove it, or choose another folder.")
    return True


def _existing_files(place: Path) -> Files:
    """Return the files of a possible skill, empty if it cannot be one."""
    try:
        return _contents(place, hidden=True) if place.is_dir() and not place.is_symlink() else {}
    except BadComponent:
        return {}


def _unchanged(files: Files) -> bool:
    """Return whether files are unchanged since an earlier export, by their seal."""
    lines = _lines(files)
    seals = [line for line in lines if line.startswith(_SEAL)]
    bare = {**files, MAIN: "\n".join(line for line in lines if not line.startswith(_SEAL)).encode()}
    return seals == [f'{_SEAL}"{_seal(bare)}"']


def _lines(files: Files) -> list[str]:
    return _divided({MAIN: files.get(MAIN, b"")})[0].get(MAIN, "").split("\n")


def _made_of(files: Files) -> str:
    told = next((line for line in _lines(files) if line.startswith(_REF)), "")
    return told.removeprefix(_REF).strip('"')


def _replace(place: Path, files: Files) -> None:
    scratch = Scratch(place.parent)
    with scratch.folder() as fresh, scratch.folder() as aside:
        for path, data in files.items():
            file = fresh / path
            make_folders(file.parent)
            with open(file, "xb", opener=lambda name, flags: os.open(name, flags, PUBLIC_FILE)) as made:
                made.write(data)
        former = aside / place.name
        if place.exists():
            os.rename(place, former)
        try:
            if not publish(fresh, place):
                raise BadInput(
                    f"{str(place)[-120:]!r} was created meanwhile by something else.", fix="remove it, then try again."
                )
        except BaseException:
            if former.exists():
                publish(former, place)
            raise
        sync_folder(place.parent)


def _contents(folder: Path, *, hidden: bool) -> Files:
    """Return the bytes of each file in a folder by its path there."""
    found: Files = {}
    size = 0
    for path in _paths(folder, PurePosixPath(), hidden=hidden):
        found[str(path)] = data = _bytes(folder, path)
        size += len(data)
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


def _bytes(folder: Path, path: PurePosixPath) -> bytes:
    try:
        return read_regular(folder / path, MOST_BYTES)
    except OSError as error:
        raise storage_error("read", folder / path, error) from error
    except Refused as reason:
        raise BadComponent(f"{str(path)[-80:]!r} cannot be used: {reason}.", fix="leave it out.") from reason
