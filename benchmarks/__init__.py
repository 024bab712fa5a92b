"""Training and decoding of `nlp104` against its peers, at equal work: see README.md."""
