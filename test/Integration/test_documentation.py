"""The commands that the documentation shows do what it says."""

import os
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import run_docs  # noqa: E402
from run_docs import DocumentationError, run_page  # noqa: E402


# One worker runs all pages, so that those with the same model share its trainer.
pytestmark = pytest.mark.xdist_group("documentation")


@pytest.fixture(scope="module")
def build_cache(tmp_path_factory):
    """The cache begins empty, and without rates that were measured: plans rest on those of `--device host`. Programs are
    built by what CMake chooses for most users, which is make."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CMAKE_GENERATOR", raising=False)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


# They train as others do.
FULL = ["docs/guides/lora.md", "docs/guides/small-gpu.md"]
PAGES = {str(page.relative_to(ROOT)): page for page in run_docs.all_pages()}


@pytest.mark.parametrize("page", [
    pytest.param(page, marks=pytest.mark.full if name in FULL else (), id=name) for name, page in PAGES.items()])
def test_page(page, build_cache, tmp_path):
    assert run_page(page, tmp_path, full=os.environ.get("GPUOPT_FULL_TESTS") == "1") > 0


GOOD = """
<!-- set up
echo 12 > data
-->
```sh
cat data; echo 'step 3/20  loss 2.35'   # all
```
<!-- prints -->
```
step 5/20 loss 17
```
   <!-- run with: 1000 => 3 -->
   ```python
   steps = 1000
   ```
```python
print(steps)
```
<!-- prints exactly -->
```
… and nothing else
3
```
<!-- writes made/more.txt -->
```
one
two
```
<!-- shows made/more.txt -->
```
t…o
```
<!-- exits 3 -->
```sh
exit 3
```
<!-- not run: there is no such command -->
```sh
no-such-command
```
"""


def write(folder, text):
    page = folder / "page.md"
    page.write_text(text)
    (folder / "run").mkdir()
    return page, folder / "run"


def test_what_holds(tmp_path):
    assert run_page(*write(tmp_path, GOOD)) == 10


@pytest.mark.parametrize("old, new, message", [
    ("cat data", "cat date", "page.md:5: ends with status 1\ncat: date: No such file"),
    ("step 5/20 loss 17", "step 5/20 cost 17", "page.md:9: this line is not there, or not in this order: step 5/20 cost 17"),
    ("step 5/20 loss 17", "step 5/20 loss 17\n12", "page.md:9: this line is not there, or not in this order: 12"),
    ("1000 => 3", "100 0 => 3", "page.md:13: '100 0' of 'run with' is not in the block"),
    ("print(steps)", "print(step)", "NameError: name 'step' is not defined"),
    ("nothing else\n3", "nothing else\n4", "page.md:20: this line is not there, or not in this order: 4"),
    ("t…o", "t…e", "page.md:30: this line is not there"),
    ("exits 3", "exits 2", "page.md:34: ends with status 3"),
    ("not run: there is no such command", "not run", "page.md:38: says no reason why it is not run"),
    ("prints exactly", "print exactly", "page.md:19: 'print exactly' is no mark that scripts/run_docs.py knows"),
    ("<!-- exits 3 -->", "<!-- exits 3 -->\nand text", "page.md:34: a block is expected after the mark 'exits'"),
    ("no-such-command\n```", "no-such-command\n", "page.md:38: the block has no end"),
])
def test_what_does_not_hold(old, new, message, tmp_path):
    assert GOOD.count(old) == 1
    with pytest.raises(DocumentationError) as error:
        run_page(*write(tmp_path, GOOD.replace(old, new)))
    assert message in str(error.value)


def test_numbers_are_brought_up_to_date(tmp_path):
    page, folder = write(tmp_path, GOOD.replace("nothing else\n3", "nothing else\n5").replace("step 5/20 loss 17", "step 6/20 loss 18"))
    run_page(page, folder, update=True)
    assert page.read_text() == GOOD.replace("step 5/20 loss 17", "step 6/20 loss 18")


UPDATED = """
```sh
printf '%s\\n' PRINTED
```
   <!-- prints exactly -->
   ```
   WANTED
   ```
"""


@pytest.mark.parametrize("wanted, printed, updated", [
    ("x 1;y 2;x 1", "x 5;y 2;x 1", "x 5;y 2;x 1"),  # x 1 is printed, but before y 2 another is
    ("step 20 loss 2", "step 10 loss 3;step 20 loss 2;end", "step 20 loss 2"),
    ("loss  1.5,  in 3 of 1e-3 s;  … 4 more", "loss 2.25, in -7 of 2e+5 s;  12 and 5 more", "loss  2.25,  in -7 of 2e+5 s;  … 5 more"),
    ("f32: 1", "f32: 2", "f32: 2"),
    ("x 1;f32: 1", "x 2;f16: 1", None),
    ("x 1;gpt-2 h.0.mlp 8-bit v1.2 1", "x 2;gpt-3 h.0.mlp 8-bit v1.2 1", None),
    ("x 1;gpt-2 h.0.mlp 8-bit v1.2 1", "x 2;gpt-2 h.1.mlp 8-bit v1.2 1", None),
    ("x 1;gpt-2 h.0.mlp 8-bit v1.2 1", "x 2;gpt-2 h.0.mlp 4-bit v1.2 1", None),
    ("x 1;gpt-2 h.0.mlp 8-bit v1.2 1", "x 2;gpt-2 h.0.mlp 8-bit v1.3 1", None),
    ("x 1;20ms", "x 2;21ms", None),
    ("x 1;loss 2", "x 2;cost 2", None),
])
def test_only_numbers_are_brought_up_to_date(wanted, printed, updated, tmp_path):
    """A line that differs otherwise stays, and is an error; the one before it is brought up to date all the same."""
    text = UPDATED.replace("PRINTED", " ".join(f"'{line}'" for line in printed.split(";")))
    block = lambda lines: text.replace("WANTED", "\n   ".join(lines.split(";")))
    page, folder = write(tmp_path, block(wanted))
    if updated is None:
        with pytest.raises(DocumentationError, match="this line is not there"):
            run_page(page, folder, update=True)
        assert page.read_text() == block(wanted.replace("x 1", "x 2"))
    else:
        run_page(page, folder, update=True)
        assert page.read_text() == block(updated)


def test_long_ones_are_run_in_full_alone(tmp_path):
    page, folder = write(tmp_path, "<!-- full: takes minutes -->\n```sh\nfalse\n```\n<!-- prints -->\n```\nx\n```\n")
    assert run_page(page, folder) == 2
    (tmp_path / "again").mkdir()
    with pytest.raises(DocumentationError, match="ends with status 1"):
        run_page(page, tmp_path / "again", full=True)
