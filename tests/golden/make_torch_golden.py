"""Makes torch.npz: what PyTorch computes, for layers of ours with the same weights.

    pip install torch==2.13.0 numpy
    python tests/golden/make_torch_golden.py

Every case has its inputs, PyTorch's results, and the weights in the order of our layer, end to end
in one vector. Computed in float64, stored in float32. The tests compare with the stored file, and,
where PyTorch is installed, with what `make_cases` gives there and then.
"""

import pathlib
import warnings

import numpy as np
import torch

PATH = pathlib.Path(__file__).with_name("torch.npz")
HIDDEN, HEADS, INTERMEDIATE, LAYERS = 12, 3, 20, 2


def make_cases():
    """All cases: `{"case/field": array}`."""
    torch.manual_seed(104)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="enable_nested_tensor")
            cases = {
                "self": _attention(),
                "causal": _attention(causal=True),
                "cross": _attention(key_width=7, value_width=5, bias=False),
                "encoder_post": _encoder_layer(normalize_first=False),
                "encoder_pre": _encoder_layer(normalize_first=True),
                "decoder_post": _decoder_layer(normalize_first=False),
                "decoder_pre": _decoder_layer(normalize_first=True),
                "stacks_pre": _stacks(),
            }
    finally:
        torch.set_default_dtype(torch.float32)
    return {
        f"{case}/{field}": _as_numpy(array)
        for case, fields in cases.items()
        for field, array in fields.items()
    }


def _as_numpy(tensor):
    array = tensor.detach().numpy()
    return array.astype("float32") if array.dtype == "float64" else array


def _attention(key_width=HIDDEN, value_width=HIDDEN, bias=True, causal=False):
    """`torch.nn.MultiheadAttention` with padding in the second row."""
    layer = _randomised(
        torch.nn.MultiheadAttention(
            HIDDEN, HEADS, bias=bias, kdim=key_width, vdim=value_width, batch_first=True
        )
    )
    query, key, value = (torch.randn(2, 6, width) for width in (HIDDEN, key_width, value_width))
    if key_width == value_width == HIDDEN:
        query = key = value
    mask = _padding(6, real=4)
    outputs, scores = layer(
        query,
        key,
        value,
        key_padding_mask=~mask,
        attn_mask=_future(6) if causal else None,
        average_attn_weights=False,
    )
    arrays = {"query": query, "key": key, "value": value, "mask": mask}
    return {
        **arrays,
        "outputs": outputs,
        "scores": scores,
        "weights": _vector(_attention_weights(layer)),
    }


def _encoder_layer(normalize_first):
    layer = _randomised(
        torch.nn.TransformerEncoderLayer(HIDDEN, HEADS, **_arguments(normalize_first))
    )
    inputs, mask = torch.randn(2, 6, HIDDEN), _padding(6, real=4)
    outputs = layer(inputs, src_key_padding_mask=~mask)
    weights = _vector(_encoder_weights(layer))
    return {"inputs": inputs, "mask": mask, "outputs": outputs, "weights": weights}


def _decoder_layer(normalize_first):
    layer = _randomised(
        torch.nn.TransformerDecoderLayer(HIDDEN, HEADS, **_arguments(normalize_first))
    )
    inputs, mask = torch.randn(2, 5, HIDDEN), _padding(5, real=3)
    encoder_output, encoder_mask = torch.randn(2, 6, HIDDEN), _padding(6, real=4)
    outputs = layer(
        inputs,
        encoder_output,
        tgt_mask=_future(5),
        tgt_key_padding_mask=~mask,
        memory_key_padding_mask=~encoder_mask,
    )
    arrays = {"inputs": inputs, "mask": mask}
    arrays |= {"encoder_output": encoder_output, "encoder_mask": encoder_mask}
    return {**arrays, "outputs": outputs, "weights": _vector(_decoder_weights(layer))}


def _stacks():
    """`torch.nn.Transformer`: both stacks, pre-norm, each with the normalisation at its end."""
    model = _randomised(
        torch.nn.Transformer(HIDDEN, HEADS, LAYERS, LAYERS, **_arguments(normalize_first=True))
    )
    source, source_mask = torch.randn(2, 6, HIDDEN), _padding(6, real=4)
    target, target_mask = torch.randn(2, 5, HIDDEN), _padding(5, real=3)
    outputs = model(
        source,
        target,
        tgt_mask=_future(5),
        src_key_padding_mask=~source_mask,
        tgt_key_padding_mask=~target_mask,
        memory_key_padding_mask=~source_mask,
    )
    encoder = [w for layer in model.encoder.layers for w in _encoder_weights(layer)]
    decoder = [w for layer in model.decoder.layers for w in _decoder_weights(layer)]
    arrays = {"source": source, "source_mask": source_mask}
    arrays |= {"target": target, "target_mask": target_mask}
    return {
        **arrays,
        "outputs": outputs,
        "encoder_weights": _vector(encoder + _norm_weights(model.encoder.norm)),
        "decoder_weights": _vector(decoder + _norm_weights(model.decoder.norm)),
    }


def _arguments(normalize_first):
    return {
        "dim_feedforward": INTERMEDIATE,
        "dropout": 0.0,
        "layer_norm_eps": 1e-6,
        "norm_first": normalize_first,
        "batch_first": True,
    }


def _randomised(layer):
    """Random values for the biases and gains, too, which start as zeros and ones."""
    for parameter in layer.parameters():
        parameter.copy_(torch.randn_like(parameter) * 0.4)
    return layer.eval()


def _padding(length, real):
    """Two rows, the second with padding: `True` = real token."""
    return torch.arange(length) < torch.tensor([[length], [real]])


def _future(length):
    """PyTorch's masks say what to hide: `True` = hidden."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def _attention_weights(layer):
    """From `[outputs, inputs]` to `[inputs, heads, head_dim]` and `[heads, head_dim, outputs]`."""
    if layer.in_proj_weight is None:
        matrices = [layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight]
    else:
        matrices = layer.in_proj_weight.chunk(3)
    kernels = [matrix.T.reshape(-1, HEADS, HIDDEN // HEADS) for matrix in matrices]
    kernels.append(layer.out_proj.weight.T.reshape(HEADS, HIDDEN // HEADS, HIDDEN))
    if layer.in_proj_bias is None:
        return kernels
    biases = [bias.reshape(HEADS, -1) for bias in layer.in_proj_bias.chunk(3)]
    biases.append(layer.out_proj.bias)
    return [weight for pair in zip(kernels, biases, strict=True) for weight in pair]


def _norm_weights(layer):
    return [layer.weight, layer.bias]


def _feed_forward_weights(layer):
    return [layer.linear1.weight.T, layer.linear1.bias, layer.linear2.weight.T, layer.linear2.bias]


def _encoder_weights(layer):
    return [
        *_attention_weights(layer.self_attn),
        *_norm_weights(layer.norm1),
        *_feed_forward_weights(layer),
        *_norm_weights(layer.norm2),
    ]


def _decoder_weights(layer):
    return [
        *_attention_weights(layer.self_attn),
        *_norm_weights(layer.norm1),
        *_attention_weights(layer.multihead_attn),
        *_norm_weights(layer.norm2),
        *_feed_forward_weights(layer),
        *_norm_weights(layer.norm3),
    ]


def _vector(weights):
    return torch.cat([weight.flatten() for weight in weights])


if __name__ == "__main__":
    cases = make_cases()
    np.savez_compressed(PATH, **cases)
    print(f"{PATH.name}: {len(cases)} arrays, PyTorch {torch.__version__}")
