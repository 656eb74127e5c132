"""What a fit has computed so far, in files: whole or absent, and of one problem only."""

import errno
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank import _checkpoint
from sklearn_rank._checkpoint import Checkpoint, fingerprint
from sklearn_rank.exceptions import CheckpointWarning

PARTS = [
    None,
    True,
    1,
    1.0,
    2,
    "1",
    b"1",
    [],
    [1, 2],
    [[1], 2],
    {},
    {"a": 1},
    {"a": 1, "b": 2},
    np.arange(6),
    np.arange(6.0),
    np.arange(6).reshape(2, 3),
    np.arange(6).reshape(3, 2),
    np.arange(6).reshape(2, 3)[:, ::-1],
    np.array(["a", "b"]),
    np.array(["ab"]),
    np.array(["2020-01-01"], dtype="M8[D]"),
    np.empty(0),
    np.empty((0, 3)),
    sp.csr_array(np.eye(2)),
    sp.csr_array(np.eye(3)),
    np.eye(2),
]


def opened(path, *parts):
    return Checkpoint(path, fingerprint("Fit", *parts))


def files(path):
    return sorted(str(file.relative_to(path)) for file in Path(path).rglob("*.*"))


def test_other_parts_have_other_fingerprints():
    assert len({fingerprint("Fit", part) for part in PARTS}) == len(PARTS)
    assert fingerprint("Fit", "a", "b") != fingerprint("Fit", "ab")
    assert fingerprint("Fit", 1) != fingerprint("Other", 1)


def test_equal_parts_have_equal_fingerprints():
    for part in PARTS:
        assert fingerprint("Fit", part) == fingerprint("Fit", pickle.loads(pickle.dumps(part)))
    X = np.arange(12.0).reshape(3, 4)
    assert fingerprint("Fit", X) == fingerprint("Fit", np.asfortranarray(X))
    assert fingerprint("Fit", X[:, ::2]) == fingerprint("Fit", X[:, ::2].copy())
    assert fingerprint("Fit", sp.csr_array(X)) == fingerprint("Fit", sp.csc_matrix(X))
    assert fingerprint("Fit", {"a": 1, "b": 2}) == fingerprint("Fit", {"b": 2, "a": 1})
    assert fingerprint("Fit", np.float64(0.5)) == fingerprint("Fit", 0.5)


def test_arrays_are_read_in_parts(monkeypatch):
    X = np.asfortranarray(np.arange(60.0).reshape(20, 3))
    whole = fingerprint("Fit", X)
    monkeypatch.setattr(_checkpoint, "COPIED_BYTES", 50)
    assert fingerprint("Fit", X) == whole


def test_another_version_has_another_fingerprint(monkeypatch):
    before = fingerprint("Fit", 1)
    monkeypatch.setattr(_checkpoint, "__version__", "99.0")
    assert fingerprint("Fit", 1) != before


@pytest.mark.parametrize("part", [object(), np.array([None]), {1, 2}], ids=["any", "array", "set"])
def test_what_cannot_be_told_apart_is_refused(part):
    with pytest.raises(TypeError, match="cannot identify a problem by a value of"):
        fingerprint("Fit", part)


def test_what_was_saved_is_loaded_to_the_bit(tmp_path):
    arrays = {
        "coef": np.array([0.1, -0.0, np.inf]),
        "kept": np.arange(6).reshape(2, 3).T,
        "names": np.array(["a", "bc"]),
        "n_iter": 3,
    }
    opened(tmp_path / "new" / "folder", 1).save("state", **arrays)
    found = opened(tmp_path / "new" / "folder", 1).load("state")
    assert list(found) == list(arrays)
    for name, value in arrays.items():
        assert np.asarray(value).tobytes() == found[name].tobytes()
        assert np.asarray(value).dtype == found[name].dtype
        assert np.shape(value) == found[name].shape


def test_the_last_save_counts_and_names_are_apart(tmp_path):
    checkpoint = opened(tmp_path, 1)
    assert checkpoint.load("state") is None
    checkpoint.save("state", a=1)
    checkpoint.save("block-1", a=2)
    checkpoint.save("state", b=3)
    assert checkpoint.load("state") == {"b": 3}
    assert checkpoint.load("block-1") == {"a": 2}
    with pytest.raises(ValueError, match="must contain only"):
        checkpoint.load("../state")


def test_problems_share_a_folder_and_not_a_file(tmp_path):
    one, two = opened(tmp_path, 1), opened(tmp_path, 2)
    one.save("state", a=1)
    assert two.load("state") is None
    two.save("state", a=2)
    one.clear()
    assert (one.load("state"), two.load("state")) == (None, {"a": 2})
    two.clear()
    assert list(tmp_path.iterdir()) == []


def test_what_others_put_into_the_folder_stays(tmp_path):
    checkpoint = opened(tmp_path, 1)
    (checkpoint.folder / "notes.txt").write_text("mine")
    (checkpoint.folder / "left.part").write_text("of a killed process")
    checkpoint.save("state", a=1)
    checkpoint.clear()
    assert [Path(file).name for file in files(tmp_path)] == ["notes.txt"]
    checkpoint.clear()


def test_a_file_of_another_problem_is_refused(tmp_path):
    one, two = opened(tmp_path, 1), opened(tmp_path, 2)
    one.save("state", a=1)
    (one.folder / "state.npz").rename(two.folder / "state.npz")
    with pytest.raises(ValueError, match=r"another problem, 'Fit-.*: delete the folder"):
        two.load("state")


def test_damage_of_any_kind_is_noticed(tmp_path):
    checkpoint = opened(tmp_path, 1)
    checkpoint.save("state", a=np.arange(20.0))
    file = checkpoint.folder / "state.npz"
    whole = file.read_bytes()
    damaged = [whole[:n] for n in range(0, len(whole), 37)]
    damaged.append(whole.replace(np.arange(20.0).tobytes(), np.ones(20).tobytes()))
    damaged.append(b"no archive")
    for content in damaged:
        file.write_bytes(content)
        with pytest.warns(CheckpointWarning, match="is damaged: its content is computed again"):
            assert checkpoint.load("state") is None
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.npy", b"no array")
    with pytest.warns(CheckpointWarning):
        assert checkpoint.load("state") is None


def test_no_code_is_run_by_loading(tmp_path):
    checkpoint = opened(tmp_path, 1)
    np.savez(checkpoint.folder / "state.npz", a=np.array([{}]), problem=checkpoint.folder.name)
    with pytest.warns(CheckpointWarning):
        assert checkpoint.load("state") is None


def test_a_full_disk_loses_nothing_that_was_saved(tmp_path, monkeypatch):
    checkpoint = opened(tmp_path, 1)
    checkpoint.save("state", a=1)
    before = files(tmp_path)

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        OSError, match=r"cannot be written \(No space .*What was saved is kept"
    ) as error:
        checkpoint.save("state", a=2)
    assert error.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert checkpoint.load("state") == {"a": 1}
    assert files(tmp_path) == before


def test_an_interrupt_leaves_the_old_file(tmp_path, monkeypatch):
    checkpoint = opened(tmp_path, 1)
    checkpoint.save("state", a=1)
    before = files(tmp_path)

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.save("state", a=2)
    assert checkpoint.load("state") == {"a": 1}
    assert files(tmp_path) == before


def test_a_folder_that_cannot_be_written_to_is_refused_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot be written .* or pass another folder"):
        opened(tmp_path / "file", 1)


def test_a_folder_that_was_cleared_meanwhile_is_made_again(tmp_path, monkeypatch):
    one, two = opened(tmp_path, 1), opened(tmp_path, 1)
    one.clear()
    two.save("state", a=1)
    assert one.load("state") == {"a": 1}
    cleared = []

    def clear_once(descriptor):
        if not cleared:
            cleared.append(one.clear())

    monkeypatch.setattr(os, "fsync", clear_once)
    two.save("state", a=2)
    assert one.load("state") == {"a": 2}
