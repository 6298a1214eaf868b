"""Files and standard input to arrays: what is written reads back, and what is wrong is refused by name and place."""

import csv
import io
import json
import os
import struct
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.extra import numpy as npst

from gradcli.errors import GradcliError, InputError, TooLargeError
from gradcli.files import Files, binary, decoding
from gradcli.report import numbers
from gradcli.report.render import plain
from gradcli.results import Evaluation
from tests.examples import examples
from tests.work import counted

FLOATS = st.floats(allow_nan=True, allow_infinity=True)
SHAPES = npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
ARRAYS = npst.arrays(np.float64, SHAPES, elements=FLOATS)
MATRICES = npst.arrays(np.float64, npst.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=5), elements=FLOATS)

here = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(path: Path | str, part: str | None = None) -> np.ndarray[Any, Any]:
    return Files().array(str(path) if part is None else f"{path}:{part}", "--at x")


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes | str) -> None:
    data = content.encode() if isinstance(content, str) else content
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def npy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array))
    return stream.getvalue()


def npz(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def header(shape: str, descr: str = "'<f8'", version: int = 1) -> bytes:
    words = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    size = struct.pack("<H" if version == 1 else "<I", len(words))
    return b"\x93NUMPY" + bytes([version, 0]) + size + words


def doubled(first: str, second: str) -> bytes:
    """An archive of two arrays with these names."""
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w") as archive:
        warnings.simplefilter("ignore")  # of the name
        for name in (first, second):
            archive.writestr(zipfile.ZipInfo(name), npy([1.0, 2.0]))
    return stream.getvalue()


def zipped(content: bytes, method: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr(zipfile.ZipInfo("x.npy"), content, method)
    return stream.getvalue()


def same(found: np.ndarray[Any, Any], expected: object) -> None:
    """Equal in shape and in every bit that counts: NaN is NaN, and -0.0 is not 0.0."""
    wanted = np.asarray(expected, dtype=np.float64)
    assert found.dtype == np.float64
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(wanted[~np.isnan(wanted)]))


# What is written reads back.


@here
@given(
    npst.arrays(
        st.one_of(
            npst.boolean_dtypes(),
            npst.integer_dtypes(endianness="?"),
            npst.unsigned_integer_dtypes(endianness="?"),
            npst.floating_dtypes(endianness="?"),
        ),
        SHAPES,
    )
)
def test_npy_of_every_real_type_reads_back(tmp_path: Path, array: np.ndarray[Any, Any]) -> None:
    """As NumPy's own cast to float64, in either order of the elements."""
    same(read(written(tmp_path, "x.npy", npy(array))), array.astype(np.float64))
    same(read(written(tmp_path, "x.npy", npy(array.copy(order="F")))), array.astype(np.float64))


@here
@given(ARRAYS, ARRAYS, st.booleans())
def test_npz_reads_back(tmp_path: Path, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], compressed: bool) -> None:
    """By name."""
    path = tmp_path / "x.npz"
    (np.savez_compressed if compressed else np.savez)(path, a=a, b=b)
    same(read(path, "a"), a)
    same(read(path, "b"), b)


@here
@given(ARRAYS, st.booleans())
def test_json_reads_back(tmp_path: Path, array: np.ndarray[Any, Any], strict: bool) -> None:
    """As gradcli writes it, and as Python writes NaN."""
    value = numbers.in_lists(array) if strict else array.tolist()
    found = read(written(tmp_path, "x.json", json.dumps({"vjp": {"a.b": value}})), "vjp.a.b")
    if array.size:
        same(found, array)
    else:
        assert found.size == 0  # the sizes behind a 0 are not in the lists


@here
@given(
    MATRICES,
    st.sampled_from([(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".txt", ","), (".dat", " "), (".txt", ";")]),
)
def test_tables_read_back(tmp_path: Path, array: np.ndarray[Any, Any], dialect: tuple[str, str]) -> None:
    """With a row of names, without one, and column by column."""
    suffix, separator = dialect
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator).writerows(array.tolist())
    same(read(written(tmp_path, f"x{suffix}", stream.getvalue())), array)
    names = [f"column {index}" for index in range(array.shape[1])]
    head = separator.join(f'"{name}"' for name in names) + "\r\n"
    path = written(tmp_path, f"x{suffix}", "\ufeff" + head + stream.getvalue())
    same(read(path), array)
    for index, name in enumerate(names):
        same(read(path, name), array[:, index])
        same(read(path, str(index)), array[:, index])


@here
@given(MATRICES)
def test_what_format_plain_writes_reads_back(tmp_path: Path, array: np.ndarray[Any, Any]) -> None:
    """Digit for digit."""
    whole: dict[str, Any] = {"inputs": {}, "wrt": (), "output": "y", "value": array, "check": None}
    answer = Evaluation(command="eval", expression="x", dtype="float64", **whole)
    same(read(written(tmp_path, "x.txt", "".join(plain.pieces(answer)))), array)


# Hand-written truths.

TABLES = [
    (".csv", "7", None, 7.0),
    (".csv", "1\n2\n3\n", None, [1, 2, 3]),
    (".csv", "a,b\n1,2\n3,4", None, [[1, 2], [3, 4]]),
    (".csv", "a,b\r\n1,2\r\n3,4\r\n\r\n", "b", [2, 4]),
    (".csv", "1,2\n3,4\n,\n,\n", "0", [1, 3]),
    (".csv", '"a, b", c \n"1",2\n', "a, b", [1]),
    (".csv", "day,price\nmonday,1.5\ntuesday,2.5\n", "price", [1.5, 2.5]),
    (".csv", "year,2019,2020\n0,1,2\n", "2019", [1]),
    (".csv", "a:b,c\n1,2\n", "a:b", [1]),
    (".csv", "a;b\n1;2\n3;4\n", "b", [2, 4]),
    (".csv", "nan,inf,-Infinity,NaN\n", None, [np.nan, np.inf, -np.inf, np.nan]),
    (".csv", "1,0\n5,6\n7,8\n", "1", [0, 6, 8]),
    (".tsv", "a b\tc\n1\t2\n", "a b", [1]),
    (".txt", "# from a probe, 2024\n\n 1   2\n3 4 \n# end\n", None, [[1, 2], [3, 4]]),
    (".txt", "1 # 2\n".replace("# ", ""), None, [1, 2]),
    (".dat", "-1e-3\n.5\n+2.\n", None, [-0.001, 0.5, 2]),
    (".txt", "1, 2\n3,\t4\n", None, [[1, 2], [3, 4]]),
    (".txt", "t\tv\n1\t2\n", "v", [2]),
]


@pytest.mark.parametrize(("suffix", "content", "part", "expected"), TABLES)
def test_a_table_is_read(suffix: str, content: str, part: str | None, expected: object, tmp_path: Path) -> None:
    """By the rules of its suffix."""
    same(read(written(tmp_path, f"x{suffix}", content), part), expected)


NESTED = [
    ("3", None, 3.0),
    ("[1, 2.5, -0.0]", None, [1, 2.5, -0.0]),
    ("[[1,2,3],[4,5,6]]", None, [[1, 2, 3], [4, 5, 6]]),
    ("[[], []]", None, np.zeros((2, 0))),
    ("[NaN, Infinity, -Infinity]", None, [np.nan, np.inf, -np.inf]),
    ('"-Infinity"', None, -np.inf),
    ('\ufeff{"a": {"b": [1]}}', "a.b", [1]),
    ('{"a.b": 1, "a": {"b": 2}}', "a.b", 1.0),
    ('{"": 5}', "", 5.0),
]


@pytest.mark.parametrize(("content", "part", "expected"), NESTED)
def test_json_is_read(content: str, part: str | None, expected: object, tmp_path: Path) -> None:
    """Numbers as numbers, and what JSON lacks as strings."""
    same(read(written(tmp_path, "x.json", content), part), expected)


@pytest.mark.parametrize(
    ("content", "part", "expected"),
    [
        ("3\n", "", 3.0),
        ("1 2\n3 4\n", "", [[1, 2], [3, 4]]),
        ("a,b\n1,2\n3,4\n", ":b", [2, 4]),
        (" [[1,2],[3,4]]", "", [[1, 2], [3, 4]]),
        ('{"vjp": {"x": [1, 2]}}', ":vjp.x", [1, 2]),
        (npy([[1, 2]]), "", [[1, 2]]),
        (npy(np.arange(20_000)), "", np.arange(20_000)),
    ],
)
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_is_guessed(
    name: str, content: bytes | str, part: str, expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The magic bytes of .npy, a bracket of JSON, or a table."""
    piped(monkeypatch, content)
    same(Files().array(f"{name}{part}", "--at x"), expected)


def test_a_path_that_exists_is_the_path(tmp_path: Path) -> None:
    """Colons and all, and the longest of several."""
    written(tmp_path, "a.csv", "b.csv\n1\n")
    same(read(tmp_path / "a.csv:b.csv"), [1])
    written(tmp_path, "a.csv:b.csv", "c,d\n2,3\n")
    same(read(tmp_path / "a.csv:b.csv"), [[2, 3]])
    same(read(tmp_path / "a.csv:b.csv:d"), [3])


def test_what_has_one_meaning_needs_no_name_and_no_other_bytes(tmp_path: Path) -> None:
    """The only array of an archive; and a byte that is not zero is true."""
    same(read(written(tmp_path, "x.npz", npz(a=[1, 2]))), [1, 2])
    same(read(written(tmp_path, "x.npy", header("(3,)", "'|b1'") + b"\0\1\2")), [0, 1, 1])


def test_an_expression_is_the_text_without_its_last_newlines(tmp_path: Path) -> None:
    """A colon in the name is part of the name."""
    path = written(tmp_path, "f:g", "\ufeffy = x**2\r\nsum(y)\r\n\r\n")
    assert Files().text(str(path), "EXPR") == "y = x**2\nsum(y)"


# What is wrong.

REFUSED: list[tuple[str, bytes | str, str | None, str]] = [
    # tables
    ("x.csv", "", None, "holds no numbers"),
    ("x.csv", "a,b\n", None, "no row of numbers"),
    ("x.csv", "1,2\n3,four\n", None, "row 2 (line 2) of '{}', column 1, counted from 0: 'four' is not a number"),
    ("x.csv", "a,b\n1,2\n3,\n", None, "row 2 (line 3) of '{}', column 'b': the cell is empty"),
    ("x.csv", "name,b\nx,2\n", None, "choose a column of numbers, such as @FILE:b"),
    ("x.csv", "1,2\nx,2\n", None, "choose a column of numbers, such as @FILE:1, counted from 0"),
    ("x.csv", "a,a,b\nx,2,y\n", None, "choose a column of numbers, such as @FILE:1, counted from 0"),
    ("x.csv", "a,b\nx,y\n", None, "a number is such as 1, -2.5e3, nan or inf"),
    ("x.csv", "a,a\n1,2\n", "a", "choose one by its number from 0, @FILE:0 or @FILE:1"),
    ("x.csv", "a,b\n1,2\n3,N/A\n", "b", "write nan where a number is missing"),
    ("x.csv", "NA,1\n3,4\n", None, "row 1 (line 1) of '{}', column 0"),
    ("x.csv", "1,2\n3\n", None, "row 2 (line 2) of '{}' has 1 cell, and there are 2 columns"),
    ("x.csv", "a\n\n1\n2\n", None, "row 1 (line 2) of '{}' is empty, and rows follow"),
    ("x.csv", "a,b\n1,2\n", "c", "the columns are 'a', 'b'"),
    ("x.csv", "price,b\n1,2\n", "prize", "did you mean 'price'? the columns are 'price', 'b'"),
    ("x.csv", "monday,1.5\ntuesday,2\n", "1", "may be names or numbers"),
    ("x.csv", "a\tb\n1\t2\n", None, "the cells are separated by commas"),
    ("x.txt", "1,5;2\n3;4\n", None, "write decimals with a point"),
    ("x.csv", "a\n1_000\n", None, "'1_000' is not a number"),
    ("x.csv", "a\n1e400\n", None, "'1e400' is beyond the range of float64"),
    ("x.csv", 'a\n"1\n2\n', None, "is not a row of cells"),
    ("x.csv", "a\n" + "9" * 200_000, None, "is not a row of cells"),
    ("x.csv", "a\n" + "x" * 100_000, None, "'" + "x" * 40 + "...' is not a number"),
    ("x.csv", "a\n\x1b[31mred\n", None, "'?[31mred' is not a number"),
    ("x.csv", b"a\n\xff\n", None, "not text in UTF-8, from byte 2 on"),
    # json
    ("x.json", "", None, "is not JSON"),
    ("x.json", "[1, 2", None, "is not JSON: expecting ',' delimiter, in line 1, column "),
    ("x.json", "[[1,2],[3]]", None, "lists of different lengths: a list of 2 at [0]"),
    ("x.json", "[1,[2]]", None, "lists of different lengths: a list of 1 at [1]"),
    ("x.json", "[[1,true]]", None, "has true at [0][1], and not a number"),
    ("x.json", '["1"]', None, "the text '1' at [0], and not a number"),
    ("x.json", "1" * 1_000_000, None, "beyond the range of float64"),
    ("x.json", '{"value": 1}', None, "the keys are 'value'"),
    ("x.json", '{"vjp": {"x": 1}}', "vjp", "write @FILE.json:vjp.KEY"),
    ("x.json", "[" * 100_000, None, "is nested too deep"),
    ("x.json", '{"a":' * 100_000, None, "is nested too deep"),
    ("x.json", "[" * 17 + "1" + "]" * 17, None, "17 dimensions; at most 16"),
    # npy
    ("x.npy", "1,2\n", None, "it is cut short, or is no such file"),
    ("x.npy", npy([1.0, 2.0])[:-1], None, "has fewer numbers than its header claims"),
    ("x.npy", npy([1.0, 2.0]) + npy([3.0]), None, "goes on after its array"),
    ("x.npy", npy([1j]), None, "complex numbers are not read"),
    ("x.npy", npy(["a"]), None, "holds text"),
    ("x.npy", npy(np.zeros(2, dtype=[("a", float), ("b", int)])), None, "holds records or raw bytes"),
    ("x.npy", header("(2,)", "'<f7'") + bytes(14), None, "not a valid dtype descriptor"),
    ("x.npy", header("(2,)", "__import__('os')"), None, "malformed node"),
    ("x.npy", header("(1000000000000,)"), None, "has fewer numbers than its header claims"),
    ("x.npy", header("(0, 1000000000000)"), None, "elements; at most 67,108,864"),
    ("x.npy", header("(" + "1, " * 17 + ")") + bytes(8), None, "17 dimensions; at most 16"),
    ("x.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b"{" * 100, None, "it is cut short"),
    # npz
    ("x.npz", "", None, "is not an .npz file"),
    ("x.npz", b"PK\x05\x06" + bytes(18), None, "has no arrays"),
    ("x.npz", npz(alpha=1, beta=2), None, "write @FILE.npz:NAME; the arrays are 'alpha', 'beta'"),
    ("x.npz", npz(alpha=1, beta=2), "alhpa", "did you mean 'alpha'?"),
    ("x.npz", npz(a=np.array([{}], dtype=object)), None, "never loaded"),
    ("x.npz", doubled("x.npy", "x"), "x", "has two arrays 'x'"),
    ("x.npz", zipped(b"no array"), None, "x.npz:x' cannot be read as an .npy file"),
    ("x.npz", zipped(npy(np.zeros(1000)), zipfile.ZIP_LZMA), None, "compressed in another way"),
    ("x.npz", zipped(npy(np.zeros(2**20)) + bytes(2**22), zipfile.ZIP_DEFLATED), None, "goes on after its array"),
    ("x.npz", b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 9, 9, 2**31, 0, 0), None, "is not an .npz file"),
    # the rest
    ("x.bin", "1", None, "name it .npy, .npz, .csv"),
    ("x", "1", None, "does not say what format the file is in"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=lambda n: f"{n} {REFUSED[n][0]} {REFUSED[n][3]}"[:70])
def test_what_is_wrong_is_said(number: int, tmp_path: Path) -> None:
    """With the file, the place and the fix, in bounded, printable words, at once."""
    name, content, part, words = REFUSED[number]
    path = written(tmp_path, name, content)
    with counted() as work, pytest.raises(GradcliError) as caught:
        read(path, part)
    assert work.calls < 100_000
    message = caught.value.render()
    assert words.replace("{}", str(path)) in message
    assert name in message
    assert "hint: " in message
    assert "(in --at x)" in message
    assert len(message) < 1_500
    assert "\x1b" not in message
    assert caught.value.exit_code == 2


def test_a_flipped_byte_of_an_archive_is_noticed(tmp_path: Path) -> None:
    """By the checksum that zip keeps, whichever byte of the numbers it is."""
    data = bytearray(zipped(npy(np.ones(8))))
    data[data.index(b"x.npy") + 5 + 128 + 40] ^= 1
    with pytest.raises(InputError, match="is damaged"):
        read(written(tmp_path, "x.npz", bytes(data)))


def test_numbers_of_more_digits_are_refused(tmp_path: Path) -> None:
    """As they would be lost without a word."""
    if np.longdouble(1).itemsize == 8:
        pytest.skip("longdouble is float64 here")
    with pytest.raises(InputError, match="more digits than float64 has"):
        read(written(tmp_path, "x.npy", npy(np.ones(2, dtype=np.longdouble))))


@pytest.mark.parametrize("name", ["x.csv", "x.json"])
def test_too_much_text_is_refused_unread(name: str, tmp_path: Path) -> None:
    """A sparse file of a terabyte."""
    path = written(tmp_path, name, "")
    os.truncate(path, 2**40)
    with pytest.raises(TooLargeError, match="more than 32 MiB of text"):
        read(path)


def test_the_bound_on_text_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last byte that fits is read, the next is refused."""
    monkeypatch.setattr(decoding, "TEXT_BYTES", 4)
    same(read(written(tmp_path, "x.txt", "1 23")), [1, 23])
    with pytest.raises(TooLargeError):
        read(written(tmp_path, "x.txt", "1 234"))


def test_what_is_copied_from_a_pipe_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """An array without an end would fill the disk."""
    monkeypatch.setattr(binary, "VALUE_BYTES", 200)
    piped(monkeypatch, npy(np.zeros(9)))
    assert Files().array("-", "--at x").shape == (9,)
    piped(monkeypatch, npy(np.zeros(10)))
    with pytest.raises(TooLargeError, match="more than 200 bytes"):
        Files().array("-", "--at x")


def test_a_missing_file_is_named_with_its_closest_sibling(tmp_path: Path) -> None:
    """In its own directory."""
    written(tmp_path, "prices.csv", "a\n1")
    for name in ("price.csv", "price.csv:a"):
        with pytest.raises(InputError, match=r"there is no file '.*price\.csv'") as caught:
            read(tmp_path / name)
        assert caught.value.hint == "did you mean 'prices.csv'?"
    for name in ("price.csv:b", "noise.csv", "noise.csv:a"):  # no such column, and a suffix that is the same
        with pytest.raises(InputError, match="there is no file") as caught:
            read(tmp_path / name)
        assert "from the current directory" in str(caught.value.hint)
    with pytest.raises(InputError, match="there is no file") as caught:
        read(tmp_path / "prices.csv" / "x.csv")
    assert "from the current directory" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("", "there is no path after @"),
        (".", "is a directory"),
        ("/dev/zero", "is a device or a socket"),
        ("/dev/zero:a", "is a device or a socket"),
        ("a\0b", "is not a path"),
        ("\ud800.csv", "'?.csv' is not a path"),
        ("a" * 300, "file name too long"),
        (":" * 100_000, "file name too long"),
        ("\x1b[31m\u202e.csv", "there is no file '?[31m?.csv'"),
    ],
)
def test_what_is_no_file_is_refused(reference: str, words: str) -> None:
    """As a value or as an expression."""
    files = Files()
    for read_as in (files.array, files.text):
        with pytest.raises(InputError) as caught:
            read_as(reference, "EXPR")
        assert words in caught.value.render() or (read_as == files.text and ":a" in reference)
        assert len(caught.value.render()) < 1_500
        assert caught.value.render().replace("\n", "").isprintable()


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    """Nor opened."""
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(InputError, match="is a named pipe"):
        read(tmp_path / "x.csv")


def test_what_the_system_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of reading must not pass for one of writing the answer."""

    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gradcli.files.reader.opened", lambda _: Broken())
    with pytest.raises(InputError, match=r"'x.csv' cannot be read: permission denied"):
        read("x.csv")


# Standard input.


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under any of its names; the message says who has read it."""
    piped(monkeypatch, "1 2")
    files = Files()
    files.array("-", "--at x")
    with pytest.raises(InputError, match=r'can be read once, and at\["x"\] has read it'):
        files.array("/dev/stdin", "--at y")


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        (lambda: None, "is closed"),
        (lambda: _Terminal(io.BytesIO(b"1")), "is a terminal"),
        (lambda: io.TextIOWrapper(io.BytesIO(b"PK\x03\x04....")), "is an .npz or another zip archive"),
        (lambda: io.TextIOWrapper(io.BytesIO(b"")), "standard input holds no numbers"),
    ],
)
def test_standard_input_that_cannot_be_read(
    stdin: Callable[[], Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is refused, and not waited for."""
    monkeypatch.setattr(sys, "stdin", stdin())
    with pytest.raises(InputError, match=words):
        Files().array("-", "--at x")


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_an_empty_expression_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of what is empty."""
    piped(monkeypatch, " \n")
    with pytest.raises(InputError, match="standard input is empty"):
        Files().text("-", "EXPR")


# Anything at all.

SEEDS = [npy(np.arange(6.0).reshape(2, 3)), npz(a=[1, 2], b=3), b"a,b\n1,2\n3,4\n", b'{"a": [[1, 2], [3, "NaN"]]}']


@settings(here, max_examples=examples(400))
@given(
    st.sampled_from([".npy", ".npz", ".csv", ".tsv", ".txt", ".json"]),
    st.one_of(st.binary(max_size=300), st.sampled_from(SEEDS)),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255))),
    st.one_of(st.none(), st.sampled_from(["a", "0", "a.b", ""])),
)
def test_any_bytes_are_read_or_refused(
    tmp_path: Path, suffix: str, content: bytes, changes: list[tuple[int, int]], part: str | None
) -> None:
    """With an error of ours, and nothing else."""
    data = bytearray(content)
    for position, byte in changes:
        if position < len(data):
            data[position] = byte
    path = written(tmp_path, f"x{suffix}", bytes(data))
    try:
        dtype = read(path, part).dtype
    except GradcliError as error:
        assert error.message  # noqa: PT017
    else:
        assert dtype == np.float64
