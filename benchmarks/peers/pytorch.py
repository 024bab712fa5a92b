"""`torch.nn.Transformer` in a plain PyTorch training loop and its tutorials' greedy loop."""

import math

import numpy as np
import torch
from torch import nn

from benchmarks.data import stream
from nlp104.data.tokenizer import END_ID, PAD_ID, START_ID


class Transformer(nn.Module):
    """Embeddings with the paper's positions around `nn.Transformer`.

    Two things that the other peers lack are taken out: the normalisation behind each stack and the
    dropout inside the feed-forward network.
    """

    def __init__(self, config):
        super().__init__()
        width = config.hidden_dim
        self.scale = math.sqrt(width)
        self.source = nn.Embedding(config.vocabulary_size, width)
        self.target = nn.Embedding(config.vocabulary_size, width)
        places = torch.arange(config.max_sequence_length)[:, None]
        angles = places / 10000 ** (torch.arange(0, width, 2) / width)
        table = torch.stack([angles.sin(), angles.cos()], -1).reshape(-1, width)
        self.register_buffer("positions", table)
        self.dropout = nn.Dropout(config.dropout)
        self.transformer = nn.Transformer(
            width,
            config.num_heads,
            config.num_layers,
            config.num_layers,
            config.intermediate_dim,
            config.dropout,
            layer_norm_eps=config.epsilon,
            batch_first=True,
        )
        self.transformer.encoder.norm = self.transformer.decoder.norm = None
        for layer in (*self.transformer.encoder.layers, *self.transformer.decoder.layers):
            layer.dropout = nn.Identity()
        self.logits = nn.Linear(width, config.vocabulary_size)

    def embed(self, table, ids):
        return self.dropout(table(ids) * self.scale + self.positions[: ids.shape[1]])

    def encode(self, source):
        x = self.embed(self.source, source)
        return self.transformer.encoder(x, src_key_padding_mask=source == PAD_ID)

    def decode(self, target, memory, source):
        length = target.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=target.device).triu(1)
        return self.transformer.decoder(
            self.embed(self.target, target),
            memory,
            tgt_mask=causal,
            tgt_is_causal=True,
            tgt_key_padding_mask=target == PAD_ID,
            memory_key_padding_mask=source == PAD_ID,
        )

    def forward(self, source, target):
        return self.logits(self.decode(target, self.encode(source), source))


class Peer:
    has_beam_search = False

    def __init__(self, config, jit_compile=False):
        torch.manual_seed(config.seed)
        self.config = config
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = Transformer(config).to(self.device)
        # Compiled it trains; a decoding loop would ask for a program of every length.
        self.train_model = torch.compile(self.model) if jit_compile else self.model
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), config.learning_rate, betas=(0.9, 0.98), eps=1e-9
        )
        self.loss = nn.CrossEntropyLoss(ignore_index=PAD_ID)
        half = {"mixed_bfloat16": torch.bfloat16, "mixed_float16": torch.float16}
        self.half = half.get(config.dtype)
        self.scaler = torch.amp.GradScaler(
            self.device.type, enabled=config.dtype == "mixed_float16"
        )

    def _autocast(self):
        return torch.autocast(self.device.type, self.half, enabled=self.half is not None)

    def _tensor(self, ids):
        return torch.from_numpy(np.asarray(ids, "int64")).to(self.device)

    def train(self, batches, own=False):
        self.model.train()
        for inputs, labels in batches:
            source, target = (
                self._tensor(inputs[f"{side}_token_ids"]) for side in ("encoder", "decoder")
            )
            self.optimizer.zero_grad()
            with self._autocast():
                logits = self.train_model(source, target)
                loss = self.loss(logits.flatten(0, 1), self._tensor(labels).flatten())
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        loss.item()  # waits for the device

    def batches(self, sources, targets):
        return stream(sources, targets, self.config.batch_size)

    def warm_up(self):
        """Nothing: what is compiled is compiled by the first steps."""

    @torch.no_grad()
    def logits(self, inputs):
        self.model.eval()
        source, target = (
            self._tensor(inputs[f"{side}_token_ids"]) for side in ("encoder", "decoder")
        )
        return self.model(source, target).float().cpu().numpy()

    def parameters(self):
        return sum(p.numel() for p in self.model.parameters())

    @torch.no_grad()
    def silence_end(self):
        self.model.logits.bias[[PAD_ID, END_ID]] = -1e9

    @torch.no_grad()
    def decode(self, encoder_token_ids, max_length, num_beams=1):
        """The encoder once, the decoder on the whole prefix for every token: there is no cache."""
        self.model.eval()
        source = self._tensor(encoder_token_ids)
        with self._autocast():
            memory = self.model.encode(source)
            tokens = torch.full((len(source), 1), START_ID, device=self.device)
            for _ in range(max_length):
                x = self.model.decode(tokens, memory, source)
                best = self.model.logits(x[:, -1]).argmax(-1, keepdim=True)
                tokens = torch.cat([tokens, best], dim=1)
        return tokens[:, 1:].cpu().numpy()
