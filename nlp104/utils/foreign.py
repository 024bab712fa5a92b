"""Files that others may have written: reading one takes about as much memory as it is long.

All that this package writes lies unpacked in its file. So what would unfold is another's, and is
refused before it does.
"""

import json
import zipfile
from pathlib import Path

from nlp104.utils.errors import InputError

LARGEST_TEXT = 2**25  # bytes; a vocabulary of a million words takes two thirds of them


def read_text(path):
    """Returns the bytes of a file of text; raises `InputError` if there are too many.

    Example:
        >>> from pathlib import Path
        >>> from nlp104.utils.foreign import read_text
        >>> length = Path("card.json").write_text("{}")
        >>> read_text("card.json")
        b'{}'
    """
    with Path(path).open("rb") as file:
        content = file.read(LARGEST_TEXT + 1)  # whatever size it claims to have
    if len(content) > LARGEST_TEXT:
        raise InputError(f"Expected at most {LARGEST_TEXT:,} bytes in {path}. Received: more.")
    return content


def parse_json(content):
    """As `json.loads`; but all that is not to be read is a `ValueError`, deep nesting, too.

    Example:
        >>> from nlp104.utils.foreign import parse_json
        >>> parse_json('{"epochs": 3}')
        {'epochs': 3}
    """
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def require_stored(archive, path):
    """Raises `InputError` unless the members of a `zipfile.ZipFile` lie in its file as they are.

    A packed one may be a thousand times as long as it says that it is.
    """
    members = archive.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise InputError(f"Expected files as they are in {path}. Received: packed ones.")
    _require_within(sum(member.file_size for member in members), Path(path).stat().st_size, path)


def require_arrays(file, size, path):
    """Raises `InputError` unless all arrays of an HDF5 file lie in it as they are.

    Args:
        file: `h5py.File`.
        size: How many bytes the file has.
        path: What to call it.

    Returns:
        How many arrays there are, and how many numbers in them.
    """
    import h5py  # comes with Keras

    links, arrays = [], []
    file.visititems_links(lambda name, link: links.append((name, link)))  # must raise nothing
    for name, link in links:
        if not isinstance(link, h5py.HardLink):
            raise InputError(f"Expected arrays in {path}. Received: {name}, a link.")
        item = file[name]
        if isinstance(item, h5py.Dataset):
            if item.external or item.is_virtual:
                raise InputError(f"Expected arrays in {path}. Received: {name}, of another file.")
            arrays.append(item)
    _require_within(sum(array.nbytes for array in arrays), size, path)
    return len(arrays), sum(array.size or 0 for array in arrays)


def require_numbers(archive, path):
    """Raises `InputError` unless a `.npz` holds the numbers that it announces, as they are.

    Args:
        archive: The `zipfile.ZipFile` of it.
        path: What to call it.
    """
    import numpy as np  # waits, as all of the command line does

    require_stored(archive, path)
    for member in archive.infolist():
        with archive.open(member) as file:
            version = np.lib.format.read_magic(file)
            if version != (1, 0):
                raise ValueError(f"format {version}")
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        numbers = 1
        for length in shape:
            numbers *= length
        _require_within(numbers * dtype.itemsize, member.file_size, f"{member.filename} of {path}")


def _require_within(announced, size, path):
    if announced > size:
        raise InputError(
            f"Expected at most {size:,} bytes in {path}, as long as it is. "
            f"Received: {announced:,} announced."
        )
