"""Where a text may be cut so that its pieces have the tokens of the whole.

A tokenizer of Hugging Face's works in stages: it finds added tokens, normalizes
what lies between them, splits that (the pre-tokenizer) and encodes each split by
itself. Pieces therefore have the whole's tokens if no added token, no
normalization and no split reaches over a cut, and if none of them depends on
what is beyond it. Two places are such for the stages that are listed here:

- between a letter and a space, tab or line end. No split goes on from a letter
  to white space, and the expressions look ahead of white space alone.
- between a line end and a letter, if the line ends with a letter, a number,
  punctuation or a symbol. No split goes on from a line end to a letter. Behind
  other white space, the line end would be a split of its own in the whole, but
  not at the end of a piece.

Characters that a normalization makes marks or spaces of are no letters here.
The regular expressions count as they are written: another one may do anything.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any, Iterable, Iterator

_PIECE = 1 << 16  # the least characters of one

_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_MARKS = r"\p{Lm}\p{Lo}\p{M}"
_UPPER, _LOWER = rf"[\p{{Lu}}\p{{Lt}}{_MARKS}]", rf"[\p{{Ll}}{_MARKS}]"
_ENDS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
# Those of GPT-2, GPT-4 and Llama 3, Qwen 2, Qwen 3.5, GPT-4o, and Mistral.
_EXPRESSIONS = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_ENDS}",
    rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_ENDS}",
    rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_ENDS}",
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTIONS}?"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_ENDS}",
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*"
    rf"|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_ENDS}",
}
# Each maps characters by themselves, or composes those of which none is white
# space. BERT's makes spaces of line ends.
_NORMALIZERS = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"}
_BERT = "BertNormalizer"
# These end splits at all white space, and leave it out.
_AT_SPACES = {"Whitespace", "WhitespaceSplit", "BertPreTokenizer"}
# These end splits at characters of a kind, but not at letters or white space.
_AT_OTHERS = {"Digits", "Punctuation"}
# These work on each split of an earlier stage by itself.
_BY_SPLIT = _AT_SPACES | _AT_OTHERS | {"ByteLevel", "Split"}


def _stages(part: dict | None, key: str) -> list[dict]:
    if part is None:
        return []
    return [stage for each in part[key] for stage in _stages(each, key)] if part["type"] == "Sequence" else [part]


def _splits_at_cuts(stage: dict) -> bool:
    if stage["type"] == "ByteLevel":
        # A space that is put before a text would be put before a piece as well.
        return stage["use_regex"] and not stage["add_prefix_space"]
    if stage["type"] == "Split":
        removes = stage["behavior"] == "Removed" and stage["invert"]  # all that is no match
        isolates = stage["behavior"] == "Isolated"
        return stage["pattern"].get("Regex") in _EXPRESSIONS and (removes or isolates)
    return stage["type"] in _AT_SPACES


def _ends_splits(stages: list[dict], normalizers: set[str]) -> bool:
    """Whether one of the stages ends splits at the cuts, before any other has
    seen what is beyond them."""
    for number, stage in enumerate(stages):
        if _splits_at_cuts(stage):
            return (
                all(later["type"] in _BY_SPLIT for later in stages[number + 1:])
                and (_BERT not in normalizers or stage["type"] in _AT_SPACES))
        if stage["type"] not in _AT_OTHERS:
            return False
    return False


def _reaches_over(token: dict, normalizer: Any, normalizers: set[str]) -> bool:
    """Whether an added token may be found around a cut, or takes white space
    beyond one. BERT's normalization puts spaces around letters of Chinese."""
    contents = [token["content"]]
    if token["normalized"] and normalizer is not None:
        contents.append(normalizer.normalize_str(token["content"]))
    around = r"\s" if token["normalized"] and _BERT in normalizers else r"\w\s|\s\w"
    return any(
        re.search(around, content) is not None
        or (token["rstrip"] and content[-1:].isalnum())
        or (token["lstrip"] and content[:1].isalnum())
        for content in contents)


def can_be_cut(tokenizer: Any) -> bool:
    """Whether pieces of a text have the tokens of the whole."""
    try:
        known = json.loads(tokenizer.to_str())
    except Exception:  # what is written in Python has no text
        return False
    try:
        normalizers = {stage["type"] for stage in _stages(known["normalizer"], "normalizers")}
        return (
            normalizers <= _NORMALIZERS | {_BERT}
            and _ends_splits(_stages(known["pre_tokenizer"], "pretokenizers"), normalizers)
            and not any(_reaches_over(token, tokenizer.normalizer, normalizers) for token in known["added_tokens"]))
    except KeyError:  # another version's tokenizer
        return False


def _is_of(character: str, kinds: str) -> bool:
    """Whether it belongs to one of Unicode's general categories, as all characters
    do that a normalization makes of it. What has belonged to one since
    Unicode 3.2 does for every library."""
    return all(
        unicodedata.category(each)[0] in kinds and unicodedata.ucd_3_2_0.category(each)[0] in kinds
        for each in character + unicodedata.normalize("NFKD", character))


def _is_cut(text: str, at: int) -> bool:
    """Whether the text may be cut before a character, which has two before it."""
    if text[at] in " \t\r\n":
        return _is_of(text[at - 1], "L")
    return text[at - 1] == "\n" and _is_of(text[at], "L") and _is_of(text[at - 2], "LNPS")


def pieces_of(chunks: Iterable[str], size: int | None = None) -> Iterator[str]:
    """Pieces of a text that comes in chunks. A piece is cut at the last place
    of the chunk with which it has ``size`` characters or, where that chunk has
    no such place, of the next one that has."""
    size = _PIECE if size is None else size
    held: list[str] = []
    count, before = 0, ""
    for chunk in chunks:
        count += len(chunk)
        text, first = before + chunk, len(before)
        before = text[-2:]
        held.append(chunk)
        if count < size:
            continue
        at = next((at for at in range(len(text) - 1, 1, -1) if at >= first and _is_cut(text, at)), None)
        if at is None:
            continue
        held[-1] = chunk[:at - first]
        yield "".join(held)
        held = [chunk[at - first:]]
        count = len(held[0])
    if held:
        yield "".join(held)
