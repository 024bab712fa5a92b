"""Long runs whose logs the chapters draw: see README.md."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow starts without its log lines
