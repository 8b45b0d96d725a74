"""Rebuilds the files of further kinds in examples/data: `python prepare_documents.py DEBIAN SOURCES OUT`.

`DEBIAN` is the root of an installed Debian 12 with bzip2-doc, libpython3.11-testsuite, sqlite3-doc and xkb-data.
`SOURCES` is a folder with the source packages agate-excel, nbconvert, piexif, pre-commit-hooks, puremagic and
python-pptx unpacked, and the archive and the wheel of pre-commit-hooks beside them. LibreOffice converts three pages.
"""

import gzip
import shutil
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image

PYTHON = "usr/lib/python3.11/test"
SQLITE = "usr/share/doc/sqlite3"
SLIDES = "python_pptx-1.0.2/features/steps/test_files"
OF_DEBIAN = {
    f"{PYTHON}/test_email/data/msg_07.txt": "dingus_fish.eml",
    f"{PYTHON}/audiodata/pluck-pcm16.wav": "pluck.wav",
    f"{SQLITE}/about.html": "sqlite_about.html",
    f"{SQLITE}/images/sschart20221116.jpg": "sqlite_cycles.jpg",
    "usr/share/X11/xkb/rules/evdev.xml": "keyboards.xml",
}
OF_SOURCES = {
    f"{SLIDES}/ph-populated-placeholders.pptx": "placeholders.pptx",
    f"{SLIDES}/just-two-mice.mp4": "two_mice.mp4",
    "agate_excel-0.4.2/examples/ne_1033_data.xlsx": "ne_1033.xlsx",
    "nbconvert-7.17.2/.pre-commit-config.yaml": "nbconvert_checks.yaml",
    "nbconvert-7.17.2/tests/files/notebook2.ipynb": "numpy_matplotlib.ipynb",
    "piexif-1.1.3/tests/images/L01.jpg": "casio.jpg",
    "pre_commit_hooks-6.0.0-py2.py3-none-any.whl": "pre_commit_hooks-6.0.0-py2.py3-none-any.whl",
    "pre_commit_hooks-6.0.0.tar.gz": "pre_commit_hooks-6.0.0.tar.gz",
    "pre_commit_hooks-6.0.0/README.md": "pre_commit_hooks.md",
    "puremagic-1.30/test/resources/archive/test.7z": "puremagic.7z",
}
CONVERTED = {"limits": "sqlite_limits.docx", "whentouse": "sqlite_uses.odt", "fileformat2": "sqlite_file_format.epub"}


def main() -> None:
    """Write every file into the folder given as the third argument."""
    debian, sources, out = (Path(argument) for argument in sys.argv[1:4])
    for root, names in ((debian, OF_DEBIAN), (sources, OF_SOURCES)):
        for source, name in names.items():
            shutil.copyfile(root / source, out / name)
    manual = gzip.decompress((debian / "usr/share/doc/bzip2/manual.pdf.gz").read_bytes())
    (out / "bzip2_manual.pdf").write_bytes(manual)
    with Image.open(out / "sqlite_cycles.jpg") as image:
        image.save(out / "sqlite_cycles.pdf", creationDate=time.gmtime(0), modDate=time.gmtime(0))
    for page, name in CONVERTED.items():
        kind = Path(name).suffix[1:]
        line = ["soffice", "--headless", "--infilter=HTML (StarWriter)", "--convert-to", kind, "--outdir", str(out)]
        subprocess.run([*line, str(debian / SQLITE / f"{page}.html")], check=True)
        (out / f"{page}.{kind}").replace(out / name)


if __name__ == "__main__":
    main()
