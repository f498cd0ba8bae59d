"""Text as tokens for ``--tokens``, by Hugging Face's tokenizers.

The file has llm.c's header, which says how wide its tokens are: 16 bits, or 32
where the vocabulary needs them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any, Iterable, Iterator, NoReturn

import numpy as np

# What the header begins with, and the version, by the tokens' type.
_HEADERS = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
_HEADER_NUMBERS = 256
_COUNT_AT = 2
# Documents that are handed to the tokenizer at once, which works on them side by side.
_AT_ONCE = 256
_MOST_TOKENS = 2**31 - 1  # that the header can say


def _documents(path: Path, field: str) -> Iterator[str]:
    """The texts of a file: a ``.jsonl`` file has one in each line, any other
    file is one. A byte order mark at the beginning is no text."""
    if path.suffix != ".jsonl":
        # Line ends stay as they are.
        with open(path, encoding="utf-8-sig", newline="") as file:
            yield file.read()
        return
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                text = json.loads(line)[field]
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"line {number} of '{path}' is no JSON object with a field '{field}'") from error
            if not isinstance(text, str):
                raise ValueError(f"the field '{field}' in line {number} of '{path}' must be a text, but is a {type(text).__name__}")
            try:
                text.encode()
            except UnicodeEncodeError as error:  # JSON can write half of a surrogate pair
                raise ValueError(f"the field '{field}' in line {number} of '{path}' is no text in Unicode: {error.reason}") from error
            yield text


def _groups(documents: Iterable[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for document in documents:
        group.append(document)
        if len(group) == _AT_ONCE:
            yield group
            group = []
    if group:
        yield group


def _load(tokenizer: Any) -> Any:
    if not isinstance(tokenizer, (str, os.PathLike)):
        return getattr(tokenizer, "backend_tokenizer", tokenizer)  # transformers' fast tokenizers wrap one
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError("tokenizing needs Hugging Face's tokenizers: pip install tokenizers") from error
    if not os.path.exists(tokenizer):
        raise FileNotFoundError(f"there is no tokenizer '{tokenizer}'")
    try:
        return Tokenizer.from_file(os.fspath(tokenizer))
    except Exception as error:  # the library has no class of its own
        raise ValueError(f"'{tokenizer}' is no tokenizer.json of Hugging Face's tokenizers: {error}") from error


def _whole(known: Any) -> Any:
    """The tokenizer, without the truncation and the padding that it has for a
    model's batches."""
    if known.truncation is None and known.padding is None:
        return known
    copy = type(known).from_str(known.to_str())  # the caller's stays as it is
    copy.no_truncation()
    copy.no_padding()
    return copy


def _check_output(output: Path, inputs: Iterable[Path]) -> None:
    if not output.parent.is_dir():
        raise FileNotFoundError(f"cannot write '{output}': there is no folder '{output.parent}'")
    if not output.exists():
        return
    if output.is_dir():
        raise IsADirectoryError(f"cannot write '{output}': it is a folder")
    if not output.is_file():
        raise ValueError(f"cannot write '{output}': it is no regular file")
    for path in inputs:
        if path.exists() and output.samefile(path):
            raise ValueError(f"'{output}' is read, and must not be overwritten; choose another file")


def tokenize(files: Any, tokenizer: Any, output: str | os.PathLike, *, end_of_text: str | None = None, field: str = "text") -> int:
    """Writes the tokens of text files to ``output``, one document after the
    other, and returns how many there are.

    Args:
      files: a path or several. A ``.jsonl`` file has a document in each line,
        in its ``field``; any other file is one.
      tokenizer: the path of a ``tokenizer.json``, a ``tokenizers.Tokenizer`` or
        a fast tokenizer of transformers. It adds no special tokens, and
        neither truncates nor pads.
      end_of_text: the token, as ``<|endoftext|>``, that is written after each
        document.

    Raises:
      ValueError: a file is no text in UTF-8, or not what its name says; the
        tokenizer lacks the token; or ``output`` is one of the files that are
        read.
    """
    paths = [Path(path) for path in ([files] if isinstance(files, (str, os.PathLike)) else files)]
    if not paths:
        raise ValueError("there are no files to tokenize")
    output = Path(output)
    _check_output(output, [*paths, Path(tokenizer)] if isinstance(tokenizer, (str, os.PathLike)) else paths)
    known = _whole(_load(tokenizer))
    end = []
    if end_of_text is not None:
        number = known.token_to_id(end_of_text)
        if number is None:
            raise ValueError(f"the tokenizer has no token '{end_of_text}'")
        end = [number]
    # Added tokens may be numbered with gaps, so that their count says too little.
    largest = max(known.get_vocab(with_added_tokens=True).values(), default=0)
    kind = "uint16" if largest < 2**16 else "uint32"
    # The file gets its name when it is whole.
    part = output.with_name(f"{output.name}.{uuid.uuid4().hex}.part")
    try:
        with open(part, "xb") as file:
            count = _write(file, paths, known, end, kind, field)
        os.replace(part, output)
    finally:
        part.unlink(missing_ok=True)
    return count


def _write(file: Any, paths: list[Path], known: Any, end: list[int], kind: str, field: str) -> int:
    header = np.zeros(_HEADER_NUMBERS, "<i4")
    header[:_COUNT_AT] = _HEADERS[kind]
    file.write(header.tobytes())
    count = 0
    for path in paths:
        try:
            for group in _groups(_documents(path, field)):
                for encoded in known.encode_batch(group, add_special_tokens=False):
                    tokens = np.array(encoded.ids + end, np.dtype(kind).newbyteorder("<"))
                    file.write(tokens.tobytes())
                    count += tokens.size
        except UnicodeDecodeError as error:
            raise ValueError(f"'{path}' is no text in UTF-8: {error.reason} at byte {error.start}") from error
    if count == 0:
        raise ValueError("the files hold no text")
    if count > _MOST_TOKENS:
        raise ValueError(f"a file holds at most {_MOST_TOKENS} tokens, but there are {count}; tokenize fewer files into one")
    header[_COUNT_AT] = count
    file.seek(0)
    file.write(header.tobytes())
    return count


class _Parser(argparse.ArgumentParser):
    """Ends like the other commands of gpuopt where it is used in a wrong way."""

    def error(self, message: str) -> NoReturn:
        self.exit(1, f"gpuopt: error: {message}; see gpuopt tokenize --help\n")


def main(arguments: list[str]) -> int:
    """``gpuopt tokenize``. Returns the exit status."""
    parser = _Parser("gpuopt tokenize", description="Writes the tokens of text files, for --tokens.", allow_abbrev=False)
    parser.add_argument("files", nargs="+", help="text in UTF-8; a .jsonl file has a document in each line")
    parser.add_argument("--tokenizer", required=True, help="tokenizer.json of Hugging Face's tokenizers")
    parser.add_argument("-o", "--output", required=True, help="the file of tokens")
    parser.add_argument("--end-of-text", help="the token after each document, as '<|endoftext|>'")
    parser.add_argument("--field", default="text", help="the field of .jsonl files (text)")
    given = parser.parse_args(arguments)
    try:
        count = tokenize(given.files, given.tokenizer, given.output, end_of_text=given.end_of_text, field=given.field)
    except (ImportError, OSError, ValueError) as error:
        print(f"gpuopt: error: {error}", file=sys.stderr)
        return 1
    print(f"wrote {given.output}: {count} tokens")
    return 0
