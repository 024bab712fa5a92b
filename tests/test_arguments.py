import json

import numpy as np
import pytest

from nlp104.utils.arguments import require_positive, require_seed


def test_integers_of_numpy_are_sizes_and_come_back_as_pythons():
    sizes = require_positive(a=8, b=np.int64(8), c=np.uint8(200))
    assert sizes == [8, 8, 200]
    assert json.dumps([*sizes, require_seed(np.int32(0))]) == "[8, 8, 200, 0]"


@pytest.mark.parametrize(
    "number", [True, np.True_, 2.0, np.float64(2), "2", None, np.array([2]), 0, np.int64(-1)]
)
def test_what_is_no_size(number):
    with pytest.raises(ValueError, match=r"^`width` must be a positive integer\. Received: .*\.$"):
        require_positive(depth=3, width=number)


@pytest.mark.parametrize("number", [False, 0.0, None, -1, np.int8(-1)])
def test_what_is_no_seed(number):
    with pytest.raises(ValueError, match=r"^`seed` must be an integer of at least 0\. Received"):
        require_seed(number)
