"""The peers: one module each, behind one small interface.

A module has a class `Peer`, made with a `Config` and `jit_compile`, that offers:

- `name`, and `batching`, how its documentation pads: ``"longest"``, ``"fixed"`` or ``"buckets"``;
- `train(batches)`: one step on each of a list of batches; back when all are done;
- `load(sources, targets)`, then `train_own(steps)`: the same on batches made its own way; returns
  the batches that it made;
- `warm_up()`: after `load`, trains until nothing is left to trace or compile;
- `first_step`: the time at which its first training step was done;
- `decode(encoder_token_ids, max_length, num_beams=1)`: token ids `[batch, max_length]`; a
  `NotImplementedError` says what a peer does not have;
- `logits(inputs)`, `parameters()`, `silence_end()` and `versions()`.
"""
