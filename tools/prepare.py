"""Make `.venv` and install the pinned requirements and the package: the first step of `make`.

Works with the standard library alone, and in syntax that Python 3.6 can read, so that an old
Python gets a sentence and not a traceback. `.venv/prepared` records what was done: a second run
has nothing to do, a run after an interruption goes on where the last one stopped.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
PREPARED = os.path.join(VENV, "prepared")
UNFINISHED = os.path.join(VENV, "unfinished")
LOG = os.path.join(VENV, "install.log")

OLDEST, NEWEST = (3, 10), (3, 13)  # TensorFlow and the other pinned versions exist for these
GIGABYTE = 10**9
ROOM = 4.5 * GIGABYTE  # .venv, with everything unpacked
TEMPORARY_ROOM = 1.2 * GIGABYTE  # the downloads, until they are unpacked


class Stop(Exception):
    """Something is missing that only the reader can provide; the message says what."""


def choose_python(version=sys.version_info[:2], path=None):
    """This Python if it will do, otherwise the newest suitable one on the path."""
    if OLDEST <= version <= NEWEST:
        return sys.executable
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        candidate = shutil.which(f"python3.{minor}", path=path)
        # A version manager's stand-in may have no Python behind it: ask.
        if candidate and not subprocess.call([candidate, "-c", ""], stderr=subprocess.DEVNULL):
            return candidate
    raise Stop(
        f"NLP 104 needs Python 3.{OLDEST[1]} to 3.{NEWEST[1]}, and {sys.executable} is Python "
        f"{version[0]}.{version[1]}. Install one of them, or name it: "
        "make book PYTHON=/path/to/python3.12"
    )


def fingerprint():
    """What the environment depends on: pins, metadata, this file, the Python, the place."""
    parts = hashlib.sha256(f"{sys.version_info[:2]} {ROOT}".encode())
    for name in ("requirements.txt", "pyproject.toml", "tools/prepare.py"):
        with open(os.path.join(ROOT, name), "rb") as file:
            parts.update(file.read())
    return parts.hexdigest()


def is_prepared():
    try:
        with open(PREPARED) as file:
            return file.read() == fingerprint()
    except OSError:
        return False


def environment_works():
    """Whether `.venv` holds a Python of this version, with pip, and is where it was made."""
    question = f"import pip, sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    try:
        with open(os.path.join(VENV, "bin", "pip")) as script:
            moved = VENV not in script.read()  # its commands hold the full path of their Python
        return not moved and not subprocess.call(
            [PYTHON, "-c", question], stderr=subprocess.DEVNULL
        )
    except OSError:
        return False


def make_environment():
    try:
        import ensurepip  # noqa: F401  Debian packs it apart, and `venv` breaks off half-way without it
        import venv  # noqa: F401
    except ImportError:
        raise Stop(
            f"{sys.executable} has no venv module. Install it and run the same command again; "
            "on Debian and Ubuntu: sudo apt install python3-venv"
        ) from None
    if os.path.exists(VENV):
        shutil.rmtree(VENV)
    made = subprocess.run(
        [sys.executable, "-m", "venv", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if made.returncode:
        raise Stop(explain(made.stdout.decode(errors="replace")))


def check_room():
    """Refuse an installation that cannot fit; what an earlier run installed counts as done."""
    installed = 0
    for folder, _, names in os.walk(VENV):
        installed += sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
    missing = max(0, 1 - installed / ROOM)
    for folder, whole, hint in (
        (ROOT, ROOM, ""),
        (tempfile.gettempdir(), TEMPORARY_ROOM, " (TMPDIR=/another/folder moves it)"),
    ):
        free = shutil.disk_usage(folder).free
        if free < missing * whole:
            raise Stop(
                f"Not enough disk space: {folder} has {free / GIGABYTE:.1f} GB free, and "
                f"{missing * whole / GIGABYTE:.1f} GB are needed there{hint}. "
                "Make room and run the same command again."
            )


def forget_half_installed():
    """Remove the records of packages whose unpacking was cut short: pip installs them again.

    pip takes a package for installed once its METADATA is there, which some wheels hold first;
    INSTALLER is what pip adds when everything is unpacked.
    """
    for folder, names, _ in os.walk(os.path.join(VENV, "lib")):
        for record in (os.path.join(folder, n) for n in names if n.endswith(".dist-info")):
            if not os.path.exists(os.path.join(record, "INSTALLER")):
                shutil.rmtree(record)


def explain(report):
    """One sentence for what stopped an installation."""
    if "No space left on device" in report:
        return (
            "No space left on the disk: .venv takes about 4 GB, the temporary folder about 1 GB. "
            "Make room and run the same command again; it goes on where it stopped."
        )
    if re.search("connection broken by|Max retries|Could not fetch URL|timed out", report):
        return (
            "The package index does not answer. Check the network (behind a proxy or a mirror: "
            "HTTPS_PROXY and `pip config list`) and run the same command again; "
            "it goes on where it stopped."
        )
    lines = [line for line in report.splitlines() if "ERROR" in line] or report.splitlines()
    reason = lines[-1].strip() if lines else "no reason given"
    return f"The installation failed: {reason} (everything it said: {os.path.relpath(LOG, ROOT)})"


def pip_install(*arguments):
    """Run pip in the environment: what it says goes to a log, how far it is to the terminal."""
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command += ["--progress-bar", "off", *arguments]
    report, packages = [], 0
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
    )
    with process, open(LOG, "a") as log:
        for line in process.stdout:
            log.write(line)
            report.append(line)
            packages += line.startswith("Collecting")
            if sys.stdout.isatty() and line.startswith(("Collecting", "Installing")):
                step = "unpacking" if line.startswith("Installing") else "downloading"
                print(f"\r  {step}: {packages} packages ", end="", flush=True)
    if sys.stdout.isatty() and packages:
        print()
    if process.returncode:
        raise Stop(explain("".join(report)))


def prepare():
    sound = environment_works()
    if sound and is_prepared():
        return
    check_room()
    if not sound:
        make_environment()
    elif os.path.exists(UNFINISHED):
        forget_half_installed()
    print("Installing requirements.txt into .venv (the first time: a gigabyte to download)")
    sys.stdout.flush()
    open(UNFINISHED, "w").close()
    # What is never imported need not be compiled: that alone would take a third of the time.
    pip_install("--no-compile", "--requirement", "requirements.txt")
    pip_install("--no-deps", "--no-build-isolation", "--editable", ".")
    os.remove(UNFINISHED)
    with open(PREPARED, "w") as file:
        file.write(fingerprint())


def main():
    try:
        python = choose_python()
        if python != sys.executable:
            return subprocess.call([python, os.path.abspath(__file__)])
        prepare()
    except Stop as reason:
        print(f"Error: {reason}", file=sys.stderr)
        return 1
    except OSError as error:  # the disk may also be full for the log, or the folder read-only
        print(f"Error: {explain(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted: the same command goes on where it stopped.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
