"""gpuopt tokenize, against Hugging Face's tokenizers."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

import gpuopt
from gpuopt import text_pieces
from gpuopt.driver import find_driver

TEXTS = ["The quick brown fox.\r\nIt jumps; over the lazy dog.\n", "A second document: naïve, 数字 123.", "Third."]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.train_from_iterator(TEXTS * 3, trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return made, path


def run(*arguments, cwd=None):
    """The command, with this interpreter as python3."""
    package = Path(gpuopt.__file__).parents[1]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(package)}
    return subprocess.run([find_driver(), "tokenize", *map(str, arguments)], env=environment, cwd=cwd, capture_output=True, text=True, check=False)


def read(path):
    """The header's three numbers, and the tokens."""
    header = np.fromfile(path, "<i4", 256)
    return header[:3].tolist(), np.fromfile(path, "<u2" if header[0] == 20240520 else "<u4", offset=1024).tolist()


def test_files_of_text(tokenizer, tmp_path):
    made, path = tokenizer
    (tmp_path / "a.txt").write_bytes(TEXTS[0].encode())
    (tmp_path / "b.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS[1:]) + "\n")
    done = run(tmp_path / "a.txt", tmp_path / "b.jsonl", "--tokenizer", path, "-o", tmp_path / "t.bin", "--end-of-text=<|endoftext|>")
    assert done.returncode == 0, done.stderr
    expected = [token for text in TEXTS for token in [*made.encode(text).ids, made.token_to_id("<|endoftext|>")]]
    assert read(tmp_path / "t.bin") == ([20240520, 1, len(expected)], expected)
    assert done.stdout == f"wrote {tmp_path / 't.bin'}: {len(expected)} tokens\n"
    assert not list(tmp_path.glob("*.part"))


def test_a_byte_order_mark_is_no_text(tokenizer, tmp_path):
    made, path = tokenizer
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf" + TEXTS[2].encode())
    (tmp_path / "b.jsonl").write_bytes(b"\xef\xbb\xbf" + json.dumps({"text": TEXTS[2]}).encode())
    assert gpuopt.tokenize([tmp_path / "a.txt", tmp_path / "b.jsonl"], path, tmp_path / "t.bin") == 2 * len(made.encode(TEXTS[2]).ids)


def test_modules_of_the_folder_are_not_loaded(tokenizer, tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    (tmp_path / "a.txt").write_text(TEXTS[2])
    done = run("a.txt", "--tokenizer", tokenizer[1], "-o", "t.bin", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run("a.txt", "--tokenizer", tokenizer[1], "-o", "none/t.bin", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr == "gpuopt: error: cannot write 'none/t.bin': there is no folder 'none'\n"


def test_help():
    assert run("--help-all").stdout == run("--help").stdout
    assert "--tokenizer" in run("--help").stdout
    # A wrong use ends as that of the other commands does.
    for flags, message in (
        (["a.txt"], "the following arguments are required: --tokenizer, -o/--output"),
        (["a.txt", "--tokenizer=t", "-o", "t.bin", "--nope"], "unrecognized arguments: --nope"),
    ):
        done = run(*flags)
        assert (done.returncode, done.stderr) == (1, f"gpuopt: error: {message}; see gpuopt tokenize --help\n")


def test_from_python(tokenizer, tmp_path):
    """Tokens that 16 bits do not hold, and more documents than are handed over at once."""
    made = Tokenizer.from_file(str(tokenizer[1]))
    vocabulary = {f"word{number}": number for number in range(2**16 + 5)}
    wide = Tokenizer(models.WordLevel(vocabulary, unk_token="word0"))
    wide.pre_tokenizer = pre_tokenizers.Whitespace()
    (tmp_path / "w.jsonl").write_text("".join(json.dumps({"body": f"word{number} word65540"}) + "\n" for number in range(600)))
    assert gpuopt.tokenize(tmp_path / "w.jsonl", wide, tmp_path / "w.bin", field="body") == 1200
    assert read(tmp_path / "w.bin") == ([20240801, 7, 1200], [token for number in range(600) for token in (number, 65540)])
    (tmp_path / "a.txt").write_bytes(TEXTS[0].encode())
    assert gpuopt.tokenize(tmp_path / "a.txt", made, tmp_path / "a.bin") == len(made.encode(TEXTS[0]).ids)


def test_whole_documents(tokenizer, tmp_path):
    """What the tokenizer's file says of a model's batches does not count."""
    made = Tokenizer.from_file(str(tokenizer[1]))
    (tmp_path / "d.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    expected = [token for text in TEXTS for token in made.encode(text).ids]
    made.enable_truncation(4)
    made.enable_padding(length=100)
    made.save(str(tmp_path / "batches.json"))
    for given in (made, tmp_path / "batches.json"):
        gpuopt.tokenize(tmp_path / "d.jsonl", given, tmp_path / "d.bin")
        assert read(tmp_path / "d.bin")[1] == expected
    assert made.truncation["max_length"] == 4 and made.padding["length"] == 100


# Letters that a normalization makes others of, white space of all kinds, and what the expressions take together.
ALPHABET = [
    "a", "b", "the", "S", "_", "'s", "'", "\u00e9", "e\u0301", "\u0301", "\u0958", "\u0130", "\u017f", "\u01c5", "\u00aa", "\uff2b",
    "\ufdfa", "\ufe70", "\u338f", "\u2474", "\u1100", "\u1161", "\u11a8", "\u4e2d", "\u6587", "\u3002", ".", "!!", "/", "\u00b7", "\u00a8", "1", "23",
    " ", " ", " ", "  ", "\n", "\n", "\n", "\n\n", "\r\n", "\r", "\t", "\u00a0", "\u3000", "\u180e", "\u200b", "\x85", "\u2028", "\x1c", "\x00",
    "<|endoftext|>", "<m>"]
BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
PRE_TOKENIZERS = {
    "gpt-2": pre_tokenizers.ByteLevel(add_prefix_space=False),
    "falcon": pre_tokenizers.Sequence([
        pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False), pre_tokenizers.Digits()]),
    "starcoder": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]),
    "bert": pre_tokenizers.BertPreTokenizer(),
    "whitespace": pre_tokenizers.Whitespace(),
    **{f"split-{number}": pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expression), "isolated"), BYTES])
       for number, expression in enumerate(sorted(text_pieces._EXPRESSIONS))},
    "removed": pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(min(text_pieces._EXPRESSIONS)), "removed", invert=True), BYTES]),
}
NORMALIZERS = {
    "none": None, "nfc": normalizers.NFC(), "nfkd": normalizers.NFKD(), "bert": normalizers.BertNormalizer(),
    "sequence": normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])}


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_pieces_have_the_tokens_of_the_whole(name):
    rng = random.Random(name)

    def text(length):
        return "".join(rng.choice(ALPHABET) for _ in range(length))

    cut = 0
    for normalizer_name, normalizer in NORMALIZERS.items():
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = PRE_TOKENIZERS[name]
        if normalizer is not None:
            made.normalizer = normalizer
        made.train_from_iterator([text(300) for _ in range(10)], trainers.BpeTrainer(
            vocab_size=800, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
        made.add_tokens([
            AddedToken("  ", normalized=False), AddedToken(".\n", normalized=False), AddedToken("<m>", lstrip=True, rstrip=True),
            AddedToken("the", single_word=True)])
        # BERT's makes spaces of line ends, which an expression may take with what follows.
        is_cut = normalizer_name != "bert" or name in ("bert", "whitespace")
        assert text_pieces.can_be_cut(made) == is_cut
        for _ in range(60 if is_cut else 0):
            whole, step = text(rng.randrange(1, 60)), rng.choice([1, 2, 3, 7])
            pieces = list(text_pieces.pieces_of((whole[at:at + step] for at in range(0, len(whole), step)), rng.choice([1, 2, 9])))
            assert "".join(pieces) == whole
            cut += len(pieces) - 1
            tokens = [token for piece in pieces for token in made.encode(piece, add_special_tokens=False).ids]
            assert tokens == made.encode(whole, add_special_tokens=False).ids, (normalizer_name, pieces)
    assert cut > 100


def test_what_is_not_cut(tokenizer):
    def changed(**parts):
        made = Tokenizer.from_str(tokenizer[0].to_str())
        for part, value in parts.items():
            setattr(made, part, value)
        return made

    assert text_pieces.can_be_cut(changed())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    for parts in (
        dict(pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True)),
        dict(pre_tokenizer=BYTES),
        dict(pre_tokenizer=pre_tokenizers.Metaspace()),
        dict(pre_tokenizer=pre_tokenizers.Sequence([byte_level, pre_tokenizers.Metaspace(prepend_scheme="first")])),
        dict(pre_tokenizer=pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), byte_level])),
        dict(pre_tokenizer=pre_tokenizers.Split(Regex(r"\p{L}+\s|."), "isolated")),
        dict(pre_tokenizer=pre_tokenizers.Split(Regex(min(text_pieces._EXPRESSIONS)), "merged_with_next")),
        dict(normalizer=normalizers.Prepend("_")),
        dict(normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " ")])),
        dict(normalizer=normalizers.BertNormalizer()),
    ):
        assert not text_pieces.can_be_cut(changed(**parts)), parts
    assert not text_pieces.can_be_cut(Tokenizer(models.BPE()))  # a text is one split
    assert not text_pieces.can_be_cut(changed(pre_tokenizer=pre_tokenizers.PreTokenizer.custom(object())))
    for token in (AddedToken("two words"), AddedToken("a\nb"), AddedToken("end", rstrip=True), AddedToken("begin", lstrip=True)):
        made = changed()
        made.add_tokens([token])
        assert not text_pieces.can_be_cut(made), token


def test_long_texts(tokenizer, tmp_path, monkeypatch):
    """They are encoded piece by piece, as one document; characters and line
    ends may lie between two reads."""
    made, path = tokenizer
    text = "".join(f"{number} naïve 数字 fox.\r\n" for number in range(9000))
    end = made.token_to_id("<|endoftext|>")
    expected = [*made.encode(text).ids, end]
    (tmp_path / "long.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (tmp_path / "long.jsonl").write_text(json.dumps({"text": text}) + "\n" + json.dumps({"text": ""}) + "\n")
    lengths = []
    encode = gpuopt.tokenizing._encode
    monkeypatch.setattr(gpuopt.tokenizing, "_encode", lambda known, texts, path: lengths.extend(map(len, texts)) or encode(known, texts, path))
    gpuopt.tokenize([tmp_path / "long.txt", tmp_path / "long.jsonl"], path, tmp_path / "t.bin", end_of_text="<|endoftext|>")
    assert read(tmp_path / "t.bin")[1] == expected + expected + [end]
    assert sum(lengths) == 2 * len(text) and max(lengths) < 2 * 2**16 < len(text)
    # A tokenizer that may look further takes the whole.
    made = Tokenizer.from_str(made.to_str())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    lengths.clear()
    gpuopt.tokenize(tmp_path / "long.txt", made, tmp_path / "t.bin")
    assert read(tmp_path / "t.bin")[1] == made.encode(text).ids and lengths == [len(text)]


def test_a_document_may_spell_a_special_token(tokenizer, tmp_path):
    """As in transformers."""
    (tmp_path / "a.txt").write_text("fox<|endoftext|>dog")
    gpuopt.tokenize(tmp_path / "a.txt", tokenizer[1], tmp_path / "t.bin")
    tokens = read(tmp_path / "t.bin")[1]
    assert tokens == tokenizer[0].encode("fox<|endoftext|>dog").ids and tokenizer[0].token_to_id("<|endoftext|>") in tokens


@pytest.mark.parametrize("name", ["a.JSONL", "a.ndjson", "a.json"])
def test_names_of_files_with_documents_in_lines(tokenizer, tmp_path, name):
    (tmp_path / name).write_bytes(b'{"text":\r"fox"}\r\n\r\n{"text": "dog"}')
    gpuopt.tokenize(tmp_path / name, tokenizer[1], tmp_path / "t.bin")
    assert read(tmp_path / "t.bin")[1] == [token for text in ("fox", "dog") for token in tokenizer[0].encode(text).ids]


def test_files_that_stay(tokenizer, tmp_path):
    (tmp_path / "a.txt").write_text("a text")
    (tmp_path / "a.txt.part").write_text("of another")
    (tmp_path / "t.json").write_bytes(tokenizer[1].read_bytes())
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("a.txt")
    for name in ("a.txt", "t.json", "link"):
        done = run(tmp_path / "a.txt", "--tokenizer", tmp_path / "t.json", "-o", tmp_path / name)
        assert (done.returncode, done.stderr) == (
            1, f"gpuopt: error: '{tmp_path / name}' is read, and must not be overwritten; choose another file\n")
    assert (tmp_path / "a.txt").read_text() == "a text"
    with pytest.raises(IsADirectoryError, match="cannot write '.*folder': it is a folder"):
        gpuopt.tokenize(tmp_path / "a.txt", tokenizer[0], tmp_path / "folder")
    with pytest.raises(ValueError, match="cannot write '/dev/null': it is no regular file"):
        gpuopt.tokenize(tmp_path / "a.txt", tokenizer[0], "/dev/null")
    gpuopt.tokenize(tmp_path / "a.txt", tokenizer[0], tmp_path / "a.txt.bin")
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "a.txt.part", "t.json", "folder", "link", "a.txt.bin"}
    assert (tmp_path / "a.txt.part").read_text() == "of another"


def test_what_is_refused(tokenizer, tmp_path, monkeypatch):
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n{"body": "b"}\n')
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "good.txt").write_text("good")
    (tmp_path / "number.jsonl").write_text('{"text": 5}\n')
    (tmp_path / "half.jsonl").write_text('{"text": "\\ud800"}\n')
    (tmp_path / "gpuopt").mkdir()
    (tmp_path / "gpuopt" / "__init__.py").write_text("")

    def refusal(file, *flags, path=tokenizer[1]):
        (tmp_path / "out.bin").write_text("earlier")
        done = run(tmp_path / file, "--tokenizer", path, "-o", tmp_path / "out.bin", *flags)
        assert done.returncode == 1
        assert (tmp_path / "out.bin").read_text() == "earlier"
        return done.stderr

    assert f"gpuopt: error: '{tmp_path / 'latin.txt'}' is no text in UTF-8: unexpected end of data at byte 3\n" == refusal("latin.txt")
    assert f"line 2 of '{tmp_path / 'bad.jsonl'}' is no JSON object with a field 'text'" in refusal("bad.jsonl")
    assert f"the field 'text' in line 1 of '{tmp_path / 'number.jsonl'}' must be a text, but is a int" in refusal("number.jsonl")
    assert f"the field 'text' in line 1 of '{tmp_path / 'half.jsonl'}' is no text in Unicode: surrogates not allowed" in refusal("half.jsonl")
    assert "the files hold no text" in refusal("empty.txt")
    # Where a file is no text: the byte counts from its beginning.
    (tmp_path / "far.txt").write_bytes(b"\xef\xbb\xbf" + b"a" * 200000 + b"\xff")
    assert "far.txt' is no text in UTF-8: invalid start byte at byte 200003\n" in refusal("far.txt")
    (tmp_path / "cut.txt").write_bytes(b"a" * 2**16 + b"\xe4\xb8")
    assert "cut.txt' is no text in UTF-8: unexpected end of data at byte 65536\n" in refusal("cut.txt")
    for mark in (b"", b"\xef\xbb\xbf"):
        (tmp_path / "far.jsonl").write_bytes(mark + b'{"text": "aaaaaaaaaaaa"}\n' * 2000 + b'{"text": "\xff"}\n')
        assert f"far.jsonl' is no text in UTF-8: invalid start byte at byte {len(mark) + 50010}, in line 2001\n" in refusal("far.jsonl")
    (tmp_path / "deep.jsonl").write_text('{"text": "a"}\n{"text": ' + "[" * 200000 + "\n")
    assert f"line 2 of '{tmp_path / 'deep.jsonl'}' is no JSON that can be read: it is nested too deeply\n" in refusal("deep.jsonl")
    (tmp_path / "list.json").write_text('[{"text": "a"}]')
    assert f"line 1 of '{tmp_path / 'list.json'}' is no JSON object with a field 'text'; each line of the file must be one\n" in refusal("list.json")
    known = Tokenizer(models.WordLevel({"a": 0}))
    known.save(str(tmp_path / "words.json"))
    assert f"the tokenizer cannot encode '{tmp_path / 'good.txt'}': WordLevel error: Missing [UNK] token" in refusal("good.txt", path=tmp_path / "words.json")
    with pytest.raises(ValueError) as raised:
        gpuopt.tokenize(tmp_path / "good.txt", object(), tmp_path / "out.bin")
    assert str(raised.value) == "the tokenizer must be the path of a tokenizer.json, a tokenizers.Tokenizer or a fast tokenizer of transformers, but is a object"
    known.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(object())
    known.enable_truncation(4)
    with pytest.raises(ValueError, match="the tokenizer truncates or pads, and cannot be copied without that: Custom PreTokenizer cannot be serialized"):
        gpuopt.tokenize(tmp_path / "good.txt", known, tmp_path / "out.bin")
    assert "the tokenizer has no token '<eos>'" in refusal("good.txt", "--end-of-text=<eos>")
    assert "No such file" in refusal("missing.txt")
    assert "there is no tokenizer 'missing.json'" in refusal("good.txt", path="missing.json")
    assert "is no tokenizer.json of Hugging Face's tokenizers" in refusal("good.txt", path=tmp_path / "bad.jsonl")
    with pytest.raises(ValueError, match="there are no files to tokenize"):
        gpuopt.tokenize([], tokenizer[0], tmp_path / "out.bin")
    monkeypatch.setattr(gpuopt.tokenizing, "_MOST_TOKENS", 1)
    with pytest.raises(ValueError, match="a file holds at most 1 tokens, but there are .*; tokenize fewer files into one"):
        gpuopt.tokenize(tmp_path / "good.txt", tokenizer[0], tmp_path / "out.bin")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match="tokenizing needs Hugging Face's tokenizers: pip install tokenizers"):
        gpuopt.tokenize(tmp_path / "good.txt", tokenizer[1], tmp_path / "out.bin")
    other = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([find_driver(), "tokenize", "a.txt"], env=other, capture_output=True, text=True, check=False)
    assert done.stderr == "gpuopt: error: tokenize needs gpuopt's Python package: No module named 'gpuopt.tokenizing'; install it by 'pip install ./python' in gpuopt's sources\n"
    done = subprocess.run([find_driver(), "tokenize", "a.txt"], env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False)
    assert done.stderr == "gpuopt: error: tokenize needs python3, which is not on the PATH\n"
