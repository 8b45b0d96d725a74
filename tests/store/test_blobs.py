"""Blobs: kept once under their digest, verified when read."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tea.errors import BadInput, Damaged
from tea.store.blobs import FileBlobs
from tea.store.journal import FileJournals


@pytest.fixture
def blobs(tmp_path: Path) -> Iterator[FileBlobs]:
    journals = FileJournals(tmp_path / "traces")
    with journals.create("run"):
        yield journals.blobs("run")


def path_of(tmp_path: Path, digest: str) -> Path:
    return tmp_path / "traces/run/blobs" / digest[7:9] / digest[7:]


def test_bytes_are_found_again_by_their_digest(blobs: FileBlobs, tmp_path: Path) -> None:
    digest = blobs.put(b"abc", "text/plain")
    assert digest == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert blobs.get(digest) == b"abc"
    assert blobs.media_type(digest) == "text/plain"
    assert path_of(tmp_path, digest).read_bytes() == b"abc"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(data=st.binary(min_size=1), place=st.integers(0, 10**6))
def test_a_flipped_bit_is_named_damage_and_putting_again_mends_it(
    blobs: FileBlobs, tmp_path: Path, data: bytes, place: int
) -> None:
    digest = blobs.put(data, "application/octet-stream")
    bad = bytearray(data)
    bad[place % len(data)] ^= 1 << place % 8
    path_of(tmp_path, digest).write_bytes(bad)
    with pytest.raises(Damaged, match=digest[-32:]):
        blobs.get(digest)
    assert blobs.put(data, "application/octet-stream") == digest
    assert blobs.get(digest) == data


def test_the_same_bytes_are_kept_once_with_their_first_media_type(blobs: FileBlobs, tmp_path: Path) -> None:
    digest = blobs.put(b"abc", "text/plain")
    before = os.stat(path_of(tmp_path, digest)).st_ino
    assert blobs.put(b"abc", "text/csv") == digest
    assert os.stat(path_of(tmp_path, digest)).st_ino == before
    assert blobs.media_type(digest) == "text/plain"


def test_a_missing_blob_is_named(blobs: FileBlobs) -> None:
    with pytest.raises(Damaged, match="is missing"):
        blobs.get("sha256:" + "0" * 64)


@pytest.mark.parametrize("digest", ["", "sha256:../../etc/passwd", "sha256:" + "G" * 64, "md5:" + "0" * 64])
def test_only_digests_are_looked_up(blobs: FileBlobs, digest: str) -> None:
    with pytest.raises(BadInput):
        blobs.get(digest)


@pytest.mark.parametrize("media_type", ["", "text/plain\nx", "x" * 256, "ü/ü"])
def test_a_media_type_is_one_short_line(blobs: FileBlobs, media_type: str) -> None:
    with pytest.raises(BadInput):
        blobs.put(b"abc", media_type)
