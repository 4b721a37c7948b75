"""Records of files of every kind, whole and broken."""

import gzip
import io
import json
import lzma
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from taskshield.audit.logs import records as module
from taskshield.audit.logs.input_files import find
from taskshield.audit.logs.records import Broken, Record, records
from taskshield.core.errors import MissingExtraError
from tests.audit.log_files import lines, sample, zstandard_zip

Pack = Callable[[bytes], bytes]


def unpacked(data: bytes) -> bytes:
    return data


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


PACKINGS: dict[str, Pack] = {
    "": unpacked,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zst,
}


def read(path: Path, data: bytes | None = None) -> list[Record | Broken]:
    if data is not None:
        path.write_bytes(data)
    (source,) = find([str(path)], besides=path / "results")
    found = list(records(source))
    assert all(0 <= each.read <= source.size for each in found)
    return found


def payloads(found: list[Record | Broken]) -> list[object]:
    return [each.payload if isinstance(each, Record) else each.reason for each in found]


def numbers(found: list[Record | Broken]) -> list[int]:
    return [each.number for each in found]


@pytest.mark.parametrize("packing", PACKINGS)
def test_lines_in_every_packing(packing: str, tmp_path: Path) -> None:
    found = read(tmp_path / f"x.jsonl{packing}", PACKINGS[packing](lines({"a": 1}, [2])))
    assert payloads(found) == [{"a": 1}, [2]]
    assert numbers(found) == [1, 2]


def test_a_packed_file_may_hold_several_pieces(tmp_path: Path) -> None:
    for packing, pack in PACKINGS.items():
        found = read(tmp_path / f"x.jsonl{packing}", pack(lines(1)) + pack(lines(2)))
        assert payloads(found) == [1, 2]


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_document_over_many_lines(packing: str, tmp_path: Path) -> None:
    text = json.dumps([{"role": "user"}], indent=2).encode()
    assert payloads(read(tmp_path / f"x.json{packing}", PACKINGS[packing](text))) == [
        [{"role": "user"}]
    ]


def test_lines_in_a_file_that_is_called_json(tmp_path: Path) -> None:
    assert numbers(read(tmp_path / "x.json", lines({}, {}))) == [1, 2]
    assert numbers(read(tmp_path / "x.log", lines({}, {}))) == [1, 2]


def test_broken_lines_are_reported_and_affect_no_other(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"a": 1}\n\n{"a": \n\xff\xfe\n' + b"[" * 200_000 + b"\n{}\n"
    found = read(tmp_path / "x.jsonl", data)
    assert payloads(found) == [
        {"a": 1},
        "not JSON (line 2, column 1: Expecting value)",
        "not UTF-8 (byte 0)",
        "nested more than 100 levels deep",
        {},
    ]
    assert numbers(found) == [1, 3, 4, 5, 6]


def test_a_last_line_without_an_end_is_read(tmp_path: Path) -> None:
    assert payloads(read(tmp_path / "x.jsonl", b"{}\n[]")) == [{}, []]


def test_a_broken_document_is_one_failure(tmp_path: Path) -> None:
    (broken,) = read(tmp_path / "x.json", b'{\n  "a": 1,\n')
    assert isinstance(broken, Broken) and broken.reason.startswith("not JSON (line 3")


def test_a_record_that_is_too_long_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 100)
    monkeypatch.setattr(module, "_CHUNK", 7)
    long = json.dumps("x" * 200).encode()
    found = read(tmp_path / "x.jsonl", b"1\n" + long + b"\n2\n")
    assert payloads(found) == [1, "longer than 0 MiB", 2]
    exact = json.dumps("x" * 97).encode()
    assert len(exact) == 99
    assert payloads(read(tmp_path / "y.jsonl", exact + b"\n2\n")) == ["x" * 97, 2]
    assert payloads(read(tmp_path / "x.json", b'{\n"a": ' + long + b"}")) == ["longer than 0 MiB"]


def test_an_endless_number_is_reported(tmp_path: Path) -> None:
    found = read(tmp_path / "x.jsonl", b"1" * 5_000 + b"\n{}\n")
    assert payloads(found) == ["not JSON that can be read", {}]


@pytest.mark.parametrize("value", [b"{}", b"[]", b'""', b"0"])
def test_a_record_of_too_many_values_is_never_built(value: bytes, tmp_path: Path) -> None:
    bomb = b'{"messages":[' + b",".join([value] * 3_000_000) + b"]}"
    tracemalloc.start()
    found = read(tmp_path / "x.jsonl.gz", gzip.compress(bomb + b"\n{}\n", compresslevel=1))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert payloads(found) == ["more than 1000000 values", {}]
    assert most < 32 * len(bomb)


def test_a_file_that_wants_too_much_memory_to_be_decompressed(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1024**3}]
    (broken,) = read(tmp_path / "x.jsonl.xz", lzma.compress(lines({}), filters=filters))
    assert isinstance(broken, Broken) and broken.reason.startswith("the file cannot be read")


def test_zeros_between_and_behind_pieces(tmp_path: Path) -> None:
    zeros = b"\0" * 200_000
    data = lzma.compress(lines(1)) + zeros + lzma.compress(lines(2)) + zeros
    assert payloads(read(tmp_path / "x.jsonl.xz", data)) == [1, 2]


@pytest.mark.parametrize("packing", [".gz", ".xz"])
def test_a_file_that_ends_too_early_gives_what_is_there(packing: str, tmp_path: Path) -> None:
    whole = PACKINGS[packing](lines(*({"n": n, "t": f"{n:x}" * 50} for n in range(20_000))))
    *good, last = read(tmp_path / f"x.jsonl{packing}", whole[: len(whole) // 2])
    assert good and isinstance(last, Broken)
    assert last.reason.startswith("the file cannot be read any further")


@pytest.mark.parametrize("packing", [".gz", ".xz", ".zst"])
def test_a_file_that_is_not_what_its_name_says(packing: str, tmp_path: Path) -> None:
    for ending in (".json", ".jsonl"):
        (broken,) = read(tmp_path / f"x{ending}{packing}", b"no archive, for sure")
        assert isinstance(broken, Broken) and broken.number == 1


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"{}\n")
    (source,) = find([str(path)], besides=tmp_path / "results")
    path.unlink()
    (broken,) = records(source)
    assert isinstance(broken, Broken) and broken.reason.endswith("No such file or directory")


def test_without_zstandard_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"taskshield\[audit\]"):
        read(tmp_path / "x.jsonl.zst", zst(lines({})))


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path


SAMPLES = {
    "header.json": b"{}",
    "samples/1_epoch_1.json": json.dumps(sample(1)).encode(),
    "summaries.json": b"[]",
    "samples/2_epoch_1.json": json.dumps(sample(2)).encode(),
}


def test_samples_of_an_inspect_log(tmp_path: Path) -> None:
    found = read(archive(tmp_path / "x.eval", SAMPLES))
    assert payloads(found) == [sample(1), sample(2)]


def test_samples_that_are_packed_with_zstandard(tmp_path: Path) -> None:
    found = read(zstandard_zip(tmp_path / "x.eval", SAMPLES.items()))
    assert payloads(found) == [sample(1), sample(2)]


def test_a_damaged_sample_spoils_no_other(tmp_path: Path) -> None:
    for made in (
        archive(tmp_path / "a.eval", SAMPLES),
        zstandard_zip(tmp_path / "b.eval", SAMPLES.items()),
    ):
        data = bytearray(made.read_bytes())
        at = data.index(b"samples/1_epoch_1.json") + 22
        data[at + 20 : at + 40] = b"\x00" * 20
        found = read(made, bytes(data))
        assert isinstance(found[0], Broken) and payloads(found)[1] == sample(2)


def test_a_sample_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 100)
    assert payloads(read(archive(tmp_path / "x.eval", SAMPLES))) == ["longer than 0 MiB"] * 2


def test_a_log_that_is_no_archive(tmp_path: Path) -> None:
    (broken,) = read(tmp_path / "x.eval", b"PK and nothing else")
    assert isinstance(broken, Broken)


def test_a_log_of_a_later_kind_of_archive(tmp_path: Path) -> None:
    data = bytearray(archive(tmp_path / "x.eval", SAMPLES).read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 6] = 189  # the version that is needed to unpack it
    (broken,) = read(tmp_path / "x.eval", bytes(data))
    assert isinstance(broken, Broken) and broken.reason.endswith("it is damaged")


def parquet(rows: list[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def test_rows_of_parquet_are_records(tmp_path: Path) -> None:
    moment = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
    rows = [{"id": "r1", "start_time": moment, "day": date(2026, 3, 1), "tags": ["a"], "raw": b"x"}]
    assert payloads(read(tmp_path / "x.parquet", parquet(rows))) == [
        {
            "id": "r1",
            "start_time": "2026-03-01 10:00:00+00:00",
            "day": "2026-03-01",
            "tags": ["a"],
            "raw": "b'x'",
        }
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_a_row_that_is_short_in_the_file_and_long_in_memory(tmp_path: Path) -> None:
    file = io.BytesIO()
    cells = pyarrow.table({"messages": ["[]", "x" * 1_200_000_000]})
    pyarrow.parquet.write_table(cells, file, compression="zstd", row_group_size=1)
    assert len(file.getvalue()) < 100_000
    del cells
    first, broken = read(tmp_path / "x.parquet", file.getvalue())
    assert isinstance(first, Record) and first.payload == {"messages": "[]"}
    assert isinstance(broken, Broken) and broken.reason.endswith("too long for the memory")


def test_a_damaged_table(tmp_path: Path) -> None:
    data = parquet([{"id": f"r{number}"} for number in range(1000)])
    for broken in (data[:-4], b"PAR1" + b"\x00" * 200 + data[200:]):
        *_, last = read(tmp_path / "x.parquet", broken)
        assert isinstance(last, Broken) and last.reason.endswith("it is damaged")


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"taskshield\[audit\]"):
        read(tmp_path / "x.parquet", b"")
