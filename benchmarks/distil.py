"""Distil the built-in embedder's word vectors from a sentence-transformers model.

    /usr/lib/apt/apt-helper cat-file /var/lib/apt/lists/*_main_i18n_Translation-en* |
        python benchmarks/distil.py --model FOLDER > tea/retrieval/embedding/words.npz

Standard input is Debian's package descriptions (any control file with Description-en will do). Every word piece starts
as what the model makes of it alone, shortened by how common it is; then all vectors are fitted, by ridge regression,
so that their sum is near to what the model makes of a whole sentence. The packages whose name has a SHA-256 that ends
in 0 or 1 are held out, for choosing between settings. Takes some ten minutes on one core, and needs the extra
`embeddings`.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from tea.retrieval.embedding.builtin import packed
from tea.retrieval.embedding.wordpiece import WordPieces

SENTENCES, DIMENSIONS, RIDGE, STEPS, COMMON = 40_000, 256, 1.0, 60, 1e-3
CLIPS = (1.0, 0.85, 0.7, 0.6, 0.5)


def main() -> None:
    """Write the vectors to standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(parser.parse_args().model), device="cpu")
    texts = sentences(sys.stdin.read())
    say(f"{len(texts)} sentences")
    teacher = centred(model.encode(texts, batch_size=64, normalize_embeddings=True))
    vocabulary = {piece: place for piece, place in model.tokenizer.get_vocab().items() if latin(piece)}
    pieces, alone = sorted(vocabulary), alone_in(model, vocabulary)
    vectors = fitted(texts, teacher, pieces, alone)
    codes, scales = coded(vectors)
    file = io.BytesIO()
    names = np.frombuffer("\n".join(pieces).encode(), np.uint8)
    np.savez_compressed(file, vocabulary=names, codes=packed(codes), scales=scales)
    sys.stdout.buffer.write(file.getvalue())


def sentences(control: str) -> list[str]:
    """Return summaries and first sentences of the packages not held out, in a meaningless order."""
    found: dict[str, None] = {}
    for block in control.split("\n\n"):
        name = re.search(r"^Package: (\S+)", block, re.M)
        said = re.search(r"^Description-en: (.*)\n((?: .*\n?)*)", block, re.M)
        if name and said and sha256(name[1].encode()).hexdigest()[-1] not in "01":
            body = re.split(r"(?<=[.!?]) +", " ".join(said[2].split(" .\n")[0].split()))
            found |= dict.fromkeys(text[:300] for text in (said[1], *body[:2]) if len(text) > 20)
    return sorted(found, key=lambda text: sha256(text.encode()).digest())[:SENTENCES]


def latin(piece: str) -> bool:
    """Tell whether a piece can be part of a word as `tea.retrieval.embedding.wordpiece` finds them."""
    return re.fullmatch(r"(##)?[a-z0-9\u00df-\u024f\u0370-\u03ff\u0400-\u04ff]+", piece) is not None


def alone_in(model: Any, vocabulary: dict[str, int]) -> np.ndarray:
    """Return the model's vector of each piece alone."""
    import torch

    places, rows = [vocabulary[piece] for piece in sorted(vocabulary)], []
    start, end = model.tokenizer.cls_token_id, model.tokenizer.sep_token_id
    with torch.inference_mode():
        for at in range(0, len(places), 512):
            ids = torch.tensor([[start, place, end] for place in places[at : at + 512]])
            hidden = model[0].auto_model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
            rows.append(torch.nn.functional.normalize(hidden.mean(1), dim=1).numpy())
    return np.concatenate(rows)


def fitted(texts: list[str], teacher: np.ndarray, pieces: list[str], alone: np.ndarray) -> np.ndarray:
    """Return a vector for each piece, in as many dimensions as wanted."""
    from scipy.sparse import csr_matrix, diags

    cut = WordPieces({piece: place for place, piece in enumerate(pieces)})
    cuts = [cut(text) for text in texts]
    rows, columns = np.repeat(np.arange(len(cuts)), [len(one) for one in cuts]), np.concatenate(cuts).astype(int)
    bags = csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=(len(cuts), len(pieces)))
    counts = np.bincount(columns, minlength=len(pieces)) + 1.0
    weights = (COMMON / (COMMON + counts / counts.sum())).astype(np.float32)
    begun = (alone - alone.mean(0)) * weights[:, None]
    begun /= np.linalg.norm(begun, axis=1).mean()
    bags = diags((1 / (np.linalg.norm(bags @ begun, axis=1) + 1e-6)).astype(np.float32)) @ bags
    sums = bags @ begun
    turned = begun @ np.linalg.solve(sums.T @ sums + np.eye(sums.shape[1]), sums.T @ teacher).astype(np.float32)
    found = turned + least_squares(bags, teacher - bags @ turned)
    near = (unit(bags @ found) * teacher).sum(1).mean()
    say(f"mean cosine with the model {near:.3f}")
    _, _, axes = np.linalg.svd(bags @ found, full_matrices=False)
    return (found @ axes[:DIMENSIONS].T).astype(np.float32)


def least_squares(bags: Any, wanted: np.ndarray) -> np.ndarray:
    """Return the ridge solution by conjugate gradients, all dimensions at once."""
    turned = bags.T.tocsr()
    rest = turned @ wanted
    found, way, size = np.zeros_like(rest), rest.copy(), (rest * rest).sum(0)
    for _ in range(STEPS):
        effect = turned @ (bags @ way) + RIDGE * way
        step = size / ((way * effect).sum(0) + 1e-12)
        found += step * way
        rest -= step * effect
        before, size = size, (rest * rest).sum(0)
        way = rest + size / (before + 1e-12) * way
    return found


def coded(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each vector as whole numbers from -7 to 7 and their scale, at the clipping of least loss."""
    best = np.full(len(vectors), np.inf)
    codes, scales = np.zeros(vectors.shape, np.int8), np.zeros(len(vectors), np.float32)
    for clip in CLIPS:
        scale = np.abs(vectors).max(1) * clip / 7 + 1e-12
        tried = np.clip(np.round(vectors / scale[:, None]), -7, 7)
        loss = ((tried * scale[:, None] - vectors) ** 2).sum(1)
        better = loss < best
        codes[better], scales[better], best[better] = tried[better], scale[better], loss[better]
    return codes, scales


def centred(rows: np.ndarray) -> np.ndarray:
    """Return rows around their mean, of length 1."""
    return unit(rows - rows.mean(0))


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows of length 1."""
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9)


def say(line: str) -> None:
    """Tell how far it is."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
