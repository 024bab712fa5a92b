"""The equations of the seven versions, as MathML, and what each of them brings."""


def _sub(letter, index):
    return f"<msub><mi>{letter}</mi><mi>{index}</mi></msub>"


def _transposed(inner):
    return f"<msup>{inner}<mi>⊤</mi></msup>"


def _product(index, head=""):
    kernel = (
        f"<msubsup><mi>W</mi><mi>{index}</mi><mi>{head}</mi></msubsup>"
        if head
        else _sub("W", index)
    )
    return f"<mrow><mo>(</mo><mi>X</mi>{kernel}<mo>)</mo></mrow>"


def _over_root(inner, width):
    return f"<mfrac>{inner}<msqrt>{width}</msqrt></mfrac>"


def _new(inner):
    return f'<mrow class="new">{inner}</mrow>'


def _attention(scores, values):
    return f"<mi>softmax</mi><mrow><mo>(</mo>{scores}<mo>)</mo></mrow>{values}"


def _equation(right, *more):
    """Y = right; and a second equation."""
    second = "<mo>,</mo><mspace width='1em'></mspace>" + "<mo>=</mo>".join(more) if more else ""
    return f'<math displaystyle="true"><mi>Y</mi><mo>=</mo>{right}{second}</math>'


_X, _Q, _D = "<mi>X</mi>", "<mi>Q</mi>", "<mi>d</mi>"
_DK = _sub("d", "k")
_DOT = f"<mrow><mi>q</mi>{_transposed(_X)}</mrow>"
_ADDITIVE = (
    f"<mrow><mi>tanh</mi><mo>(</mo><mi>q</mi>{_sub('W', 'q')}<mo>+</mo><mi>X</mi>{_sub('W', 'x')}"
    "<mo>)</mo><mi>w</mi></mrow>"
)
_QUERIES, _KEYS, _VALUES = (_product(letter) for letter in "QKV")
_OF_HEAD = _attention(
    _over_root(f"<mrow>{_product('Q', 'i')}{_transposed(_product('K', 'i'))}</mrow>", _DK),
    _product("V", "i"),
)
_JOINED = _new(f"<mo>[</mo>{_sub('Y', 1)}<mo>;</mo>{_sub('Y', 2)}<mo>]</mo>{_sub('W', 'O')}")

VERSIONS = (  # name, equation, what is new, the panels that are new
    (
        "V0 additive",
        _equation(_attention(_ADDITIVE, _X)),
        "A small network compares the query with every word. One hidden unit sees who is alive, "
        "the other what is a place, and the query switches one of them off. The answer is a mean "
        "of the inputs.",
        (),
    ),
    (
        "V1 dot product",
        _equation(_attention(_new(_DOT), _X)),
        "New: the scores are dot products. Nothing is left to learn here, and query and inputs "
        "must be of one width.",
        ("scores",),
    ),
    (
        "V2 scaled",
        _equation(_attention(_over_root(_DOT, _D).replace("<mfrac>", '<mfrac class="new">'), _X)),
        "New: the scores are divided by √d, here √8. The softmax is softer: compare the entropy "
        "with that of V1.",
        ("scores",),
    ),
    (
        "V3 many queries",
        _equation(_attention(_over_root(f"<mrow>{_new(_Q)}{_transposed(_X)}</mrow>", _D), _X)),
        "New: a matrix of queries, one in each row. All are answered by one product, and no row "
        "notices the others.",
        ("query",),
    ),
    (
        "V4 cross-attention",
        _equation(
            _attention(
                _over_root(f"<mrow>{_Q}{_transposed(_new(_KEYS))}</mrow>", _DK), _new(_VALUES)
            )
        ),
        "New: keys and values are two views of the inputs. Words are found by what they are, and "
        "hand over something else: their gender.",
        ("key", "value"),
    ),
    (
        "V5 self-attention",
        _equation(
            _attention(
                _over_root(f"<mrow>{_new(_QUERIES)}{_transposed(_KEYS)}</mrow>", _DK), _VALUES
            )
        ),
        "New: the queries come from the sentence itself, so each word asks every word. Here a "
        "pronoun looks for an adjective and takes over what it says.",
        ("query",),
    ),
    (
        "V6 multi-head",
        _equation(_JOINED, _sub("Y", "i"), _OF_HEAD),
        "New: several heads, each with its own question. One asks for an adjective, the other for "
        "things and their gender, and W_O puts both answers into one vector. With one head and "
        "W_O = I it is V5.",
        ("output",),
    ),
)
