"""Text as tokens for ``--tokens``, by Hugging Face's tokenizers.

The file has llm.c's header, which says how wide its tokens are: 16 bits, or 32
where the vocabulary needs them.
"""

from __future__ import annotations

import argparse
import codecs
import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any, Iterable, Iterator, NoReturn

import numpy as np

from .text_pieces import can_be_cut, pieces_of

# What the header begins with, and the version, by the tokens' type.
_HEADERS = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
_HEADER_NUMBERS = 256
_COUNT_AT = 2
# What is handed to the tokenizer at once, which works on texts side by side: so
# many, or fewer of so many characters.
_AT_ONCE, _CHARACTERS_AT_ONCE = 256, 1 << 20
_CHUNK = 1 << 16  # bytes that are read at once
_MOST_TOKENS = 2**31 - 1  # that the header can say
_LINES = (".jsonl", ".ndjson", ".json")  # files with a document in each line


def _no_text(path: Path, error: UnicodeDecodeError, position: int, where: str = "") -> ValueError:
    return ValueError(f"'{path}' is no text in UTF-8: {error.reason} at byte {position + error.start}{where}")


def _chunks(path: Path) -> Iterator[str]:
    """The text of a file, with its line ends as they are. A byte order mark at
    the beginning is no text."""
    with open(path, "rb") as file:
        position, rest = 0, b""
        while True:
            data = file.read(_CHUNK)
            rest += data
            if position == 0 and rest.startswith(codecs.BOM_UTF8):
                position, rest = len(codecs.BOM_UTF8), rest[len(codecs.BOM_UTF8):]
            try:
                text, taken = codecs.utf_8_decode(rest, "strict", not data)
            except UnicodeDecodeError as error:
                raise _no_text(path, error, position) from error
            if text:
                yield text
            if not data:
                return
            position, rest = position + taken, rest[taken:]


def _document(line: str, where: str, field: str) -> str:
    """The document that a line of JSON has."""
    try:
        text = json.loads(line)[field]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{where} is no JSON object with a field '{field}'; each line of the file must be one") from error
    except RecursionError as error:
        raise ValueError(f"{where} is no JSON that can be read: it is nested too deeply") from error
    if not isinstance(text, str):
        raise ValueError(f"the field '{field}' in {where} must be a text, but is a {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:  # JSON can write half of a surrogate pair
        raise ValueError(f"the field '{field}' in {where} is no text in Unicode: {error.reason}") from error
    return text


def _documents(path: Path, field: str) -> Iterator[Iterable[str]]:
    """The documents of a file, each as chunks of its text: one in each line of
    a file of ``_LINES``; any other file is one."""
    if path.suffix.lower() not in _LINES:
        yield _chunks(path)
        return
    position = 0
    with open(path, "rb") as file:
        for number, data in enumerate(file, 1):
            start = len(codecs.BOM_UTF8) if number == 1 and data.startswith(codecs.BOM_UTF8) else 0
            try:
                line = data[start:].decode()
            except UnicodeDecodeError as error:
                raise _no_text(path, error, position + start, f", in line {number}") from error
            position += len(data)
            if line.strip():
                text = _document(line, f"line {number} of '{path}'", field)
                yield (text[at:at + _CHUNK] for at in range(0, len(text), _CHUNK))


def _texts(path: Path, field: str, is_cut: bool) -> Iterator[tuple[str, bool]]:
    """What is encoded by itself, and whether a document ends behind it: the
    pieces of each document, or all of it if it cannot be cut."""
    for document in _documents(path, field):
        before: str | None = None
        for piece in pieces_of(document) if is_cut else ["".join(document)]:
            if before is not None:
                yield before, False
            before = piece
        yield before or "", True


def _groups(texts: Iterable[tuple[str, bool]]) -> Iterator[list[tuple[str, bool]]]:
    group: list[tuple[str, bool]] = []
    characters = 0
    for text in texts:
        group.append(text)
        characters += len(text[0])
        if len(group) == _AT_ONCE or characters >= _CHARACTERS_AT_ONCE:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _load(tokenizer: Any) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError("tokenizing needs Hugging Face's tokenizers: pip install tokenizers") from error
    if not isinstance(tokenizer, (str, os.PathLike)):
        # transformers' fast tokenizers wrap one, and so do those of tokenizers.implementations.
        known = getattr(tokenizer, "backend_tokenizer", getattr(tokenizer, "_tokenizer", tokenizer))
        if not isinstance(known, Tokenizer):
            raise ValueError(
                "the tokenizer must be the path of a tokenizer.json, a tokenizers.Tokenizer or a fast tokenizer of transformers, "
                f"but is a {type(tokenizer).__name__}")
        return known
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
    try:
        copy = type(known).from_str(known.to_str())  # the caller's stays as it is
    except Exception as error:  # a part is written in Python
        raise ValueError(f"the tokenizer truncates or pads, and cannot be copied without that: {error}") from error
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
      files: a path or several. A ``.jsonl``, ``.ndjson`` or ``.json`` file has
        a document in each line, in its ``field``; any other file is one.
      tokenizer: the path of a ``tokenizer.json``, a ``tokenizers.Tokenizer`` or
        a fast tokenizer of transformers. It adds no special tokens around a
        document, and neither truncates nor pads.
      end_of_text: the token, as ``<|endoftext|>``, that is written after each
        document.

    Raises:
      ValueError: a file is no text in UTF-8, or not what its name says; the
        tokenizer is none, lacks the token or cannot encode a text; or
        ``output`` is one of the files that are read.
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


def _encode(known: Any, texts: list[str], path: Path) -> Iterator[list[int]]:
    # The one that is fast has no offsets, which take most of the memory.
    encode = getattr(known, "encode_batch_fast", known.encode_batch)
    try:
        encoded = encode(texts, add_special_tokens=False)
    except Exception as error:  # the library has no class of its own
        raise ValueError(f"the tokenizer cannot encode '{path}': {error}") from error
    return (each.ids for each in encoded)


def _write(file: Any, paths: list[Path], known: Any, end: list[int], kind: str, field: str) -> int:
    header = np.zeros(_HEADER_NUMBERS, "<i4")
    header[:_COUNT_AT] = _HEADERS[kind]
    file.write(header.tobytes())
    count, is_cut = 0, can_be_cut(known)
    for path in paths:
        for group in _groups(_texts(path, field, is_cut)):
            for (_, ends), ids in zip(group, _encode(known, [text for text, _ in group], path)):
                tokens = np.array(ids + end if ends else ids, np.dtype(kind).newbyteorder("<"))
                file.write(tokens.tobytes())
                count += tokens.size
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
    parser.add_argument("files", nargs="+", help="text in UTF-8; a .jsonl, .ndjson or .json file has a document in each line")
    parser.add_argument("--tokenizer", required=True, help="tokenizer.json of Hugging Face's tokenizers")
    parser.add_argument("-o", "--output", required=True, help="the file of tokens")
    parser.add_argument("--end-of-text", help="the token after each document, as '<|endoftext|>'")
    parser.add_argument("--field", default="text", help="the field of documents in JSON (text)")
    given = parser.parse_args(arguments)
    try:
        count = tokenize(given.files, given.tokenizer, given.output, end_of_text=given.end_of_text, field=given.field)
    except (ImportError, OSError, ValueError) as error:
        print(f"gpuopt: error: {error}", file=sys.stderr)
        return 1
    print(f"wrote {given.output}: {count} tokens")
    return 0
