"""The peers: one module each, behind one small interface.

A module has a class `Peer`, made with a `Config` and `jit_compile`, that offers:

- `batches(sources, targets)`: endless batches, made as its documentation makes them;
- `train(batches, own=False)`: one step on each of a list of batches, which are its `own` or equal
  for all; back when all are done;
- `warm_up()`: trains what own batches need until nothing is left to trace or compile;
- `decode(encoder_token_ids, max_length, num_beams=1)`: token ids `[batch, max_length]`, with more
  than one beam only where `has_beam_search`;
- `logits(inputs)`, `parameters()` and `silence_end()`.
"""
