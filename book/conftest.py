"""What nbval leaves out of its comparison: drawings, which differ by library, and log lines."""


def pytest_collectstart(collector):
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("image/svg+xml", "stderr")
