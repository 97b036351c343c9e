"""Owns one agent's child process for life: output to a file, input through a socket, each input id written once.

A program of its own, run as `python -I -S holder.py FOLDER`. It uses the standard library and its own parts in
`holding/` alone, because fifty of them may be running. What it promises is in docs/reference/holder.md.
"""
# Pathlib would cost memory that every holder pays.

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
import sys

if __name__ == "__main__":  # behind the standard library, so that nothing beside farhand can stand in for it
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from farhand.sandbox.holding.child import Child, ChildNotStarted, Order
from farhand.sandbox.holding.files import Errors, Json, Output, write_whole
from farhand.sandbox.holding.loop import CLIENTS, Holder


def clear() -> None:
    """Removes what a start left that never got as far as a child."""
    for name in ("sock", "out", "err", "ledger"):
        try:
            os.unlink(name)
        except FileNotFoundError:
            continue


def take_folder() -> None:
    """One life a folder, and one holder: the lock is held until this process is gone."""
    lock = os.open("lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ChildNotStarted("held", errno.EBUSY, "another holder has this folder") from None
    if os.path.exists("life"):
        raise ChildNotStarted("used", errno.EEXIST, "this folder has had its child")


def read_order() -> Order:
    """The order is gone once it is read: the child's environment may carry a key."""
    try:
        with open("order.json", "rb") as file:
            order = Order(json.loads(file.read()))
    except (OSError, ValueError) as error:
        raise ChildNotStarted("order", errno.EINVAL, f"order.json: {error}") from None
    os.unlink("order.json")
    return order


def open_socket() -> socket.socket:
    """The socket is bound by its bare name, since a path may have 108 bytes only."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("sock")
    os.chmod("sock", 0o600)
    listener.listen(CLIENTS)
    listener.setblocking(False)
    return listener


def install_signal_handlers() -> int:
    """SIGTERM and SIGCHLD wake the event loop through a pipe."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    return reader


def begin(umask: int) -> tuple[Holder, Json]:
    take_folder()
    order = read_order()
    clear()
    try:
        listener, output, errors = open_socket(), Output(), Errors(order.err_limit)
        child = Child(order, umask)
    except ChildNotStarted:
        clear()
        raise
    life = child.life()
    holder = Holder(child, listener, output, errors, install_signal_handlers())
    if order.owned:
        # A number of its own, since ours is about to be closed; the child has none of it.
        holder.end_with(os.dup(0))
    write_whole("life", life)
    return holder, life


def detach() -> None:
    """Closes the inherited standard streams; errors of the holder itself go to a log file."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    log = os.open("holder.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream, descriptor in enumerate((nowhere, nowhere, log)):
        os.dup2(descriptor, stream)
    os.close(nowhere)
    os.close(log)


def report(said: Json) -> None:
    try:
        os.write(1, json.dumps(said).encode() + b"\n")
    except OSError:
        return  # whoever started the holder is gone; a later one will find the folder


def main() -> None:
    """Starts in the folder given, lets go of its parent, and holds until the child is gone."""
    os.chdir(sys.argv[1])
    if os.fork():
        os._exit(0)
    os.setsid()
    umask = os.umask(0o077)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        holder, life = begin(umask)
    except ChildNotStarted as error:
        report(error.report)
        return
    report({"ready": True, **life})
    detach()
    holder.run()
    if os.path.exists("sock"):
        os.unlink("sock")


if __name__ == "__main__":
    main()
