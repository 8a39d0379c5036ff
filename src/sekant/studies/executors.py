"""Executors: where the rows of a study are computed, behind one interface.

`serial` in this process, `processes` on the cores of this machine, or a client of dask.distributed on a cluster.
Work is sent in chunks of about a second or more. A chunk is returned completely or not at all, so a worker that
dies neither loses nor duplicates rows: its chunk is sent again.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from typing import Any, Protocol, cast

import numpy as np

from sekant.errors import SekantError
from sekant.studies.task import FAILED, RowBlock, Task, run_rows

CHUNK_SECONDS = 1.5
MOST_GROWTH = 8
TRIES = 3
"""Number of times that a chunk may lose its worker before its rows fail."""
Chunk = tuple[int, np.ndarray]


class Chunks:
    """Divides the remaining rows into chunks, whose size follows the speed of the finished ones."""

    def __init__(self, values: np.ndarray, left: list[tuple[int, int]]):
        self._values, self._left, self._size = values, list(reversed(left)), 1

    def __bool__(self) -> bool:
        return bool(self._left)

    def take(self) -> Chunk:
        """The next chunk: number of its first row, and its rows."""
        first, stop = self._left.pop()
        cut = min(stop, first + self._size)
        if cut < stop:
            self._left.append((cut, stop))
        return first, self._values[first:cut]

    def learn(self, block: RowBlock) -> None:
        """Adapt the size of chunks to the duration of a block."""
        pace = len(block) / max(block.seconds, 1e-9)
        self._size = max(1, min(int(pace * CHUNK_SECONDS), MOST_GROWTH * max(self._size, len(block))))


class Executor(Protocol):
    """Runs chunks of a task and yields their blocks in order of completion."""

    def run(self, task: Task, chunks: Chunks) -> Iterator[RowBlock]: ...


class Serial:
    """Runs chunks in this process, one after another."""

    def run(self, task: Task, chunks: Chunks) -> Iterator[RowBlock]:
        while chunks:
            block = run_rows(task, *chunks.take())
            chunks.learn(block)
            yield block


def lost(task: Task, first: int, values: np.ndarray, cause: str) -> RowBlock:
    """The block of a chunk that cannot be computed."""
    n = values.shape[0]
    return RowBlock(
        first,
        np.full((n, len(task.measures)), np.nan),
        np.zeros((n, 0)),
        np.zeros((len(task.outputs), n, 0)),
        (FAILED,) * n,
        {first + i: cause for i in range(n)},
        0.0,
        0.0,
    )


_given: list[Task] = []
"""The task of a worker process: it is sent once; chunks contain only their rows."""


def _start(task: Task) -> None:
    """Start a worker with one thread for linear algebra: the workers themselves use all cores."""
    _given[:] = [task]
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _run_chunk(first: int, values: np.ndarray) -> RowBlock:
    return run_rows(_given[0], first, values)


def _end_with(parent: Any) -> None:
    """End a worker with the process that started it, even if that one was killed."""
    parent.join()
    os._exit(1)


class Processes:
    """Runs chunks on `workers` processes of this machine, by default one per core."""

    def __init__(self, workers: int | None = None):
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.workers = cores if workers is None else workers
        if self.workers < 1:
            raise SekantError(f"the number of processes must be at least 1 (got {workers})")

    def _pool(self, task: Task) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, context, initializer=_start, initargs=(task,))

    def run(self, task: Task, chunks: Chunks) -> Iterator[RowBlock]:
        pool = self._pool(task)
        running: dict[Future[RowBlock], tuple[Chunk, int]] = {}
        again: list[tuple[Chunk, int]] = []
        try:
            while running or again or chunks:
                while len(running) < 2 * self.workers and (again or chunks):
                    chunk, tried = again.pop() if again else (chunks.take(), 0)
                    running[pool.submit(_run_chunk, *chunk)] = (chunk, tried)
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                broken = False
                for future in done:
                    chunk, tried = running.pop(future)
                    try:
                        block = future.result()
                    except BrokenExecutor:
                        broken = True
                        again.append((chunk, tried))
                        continue
                    chunks.learn(block)
                    yield block
                if broken:
                    # a dead worker breaks the whole pool; its chunk is unknown, so the tries of all chunks are
                    # counted
                    again += running.values()
                    running.clear()
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = self._pool(task)
                    for chunk, _ in [entry for entry in again if entry[1] + 1 >= TRIES]:
                        cause = (
                            f"the worker process of this row died {TRIES} times; run the row alone to see why"
                        )
                        yield lost(task, *chunk, cause)
                    again = [(chunk, tried + 1) for chunk, tried in again if tried + 1 < TRIES]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


class Dask:
    """Runs chunks on the workers of a cluster, through a client of dask.distributed."""

    def __init__(self, client: Any):
        self.client = client

    def run(self, task: Task, chunks: Chunks) -> Iterator[RowBlock]:
        from distributed import as_completed

        client = self.client
        shared = client.scatter(task, broadcast=True, hash=False)
        slots = 2 * max(1, sum(client.nthreads().values()))
        sent: dict[Any, Chunk] = {}

        def submit() -> Any:
            chunk = chunks.take()
            future = client.submit(run_rows, shared, *chunk, pure=False, retries=TRIES)
            sent[future] = chunk
            return future

        stream = as_completed([submit() for _ in range(slots) if chunks])
        for future in stream:
            chunk = sent.pop(future)
            try:
                block = future.result()
            except SekantError:
                raise
            except Exception as error:  # schedulers have their own errors for workers that die
                block = lost(
                    task, *chunk, f"no worker could compute this row: {type(error).__name__}: {error}"
                )
            else:
                chunks.learn(block)
            future.release()
            if chunks:
                stream.add(submit())
            yield block


def executor_of(given: Any) -> Executor:
    """The executor for "serial", "processes", a number of processes, a client of dask.distributed, or an executor."""
    makers: dict[str, Callable[[], Executor]] = {"serial": Serial, "processes": Processes}
    if isinstance(given, str):
        if given not in makers:
            raise SekantError(
                f"unknown executor '{given}'; use 'serial', 'processes', a number of processes, or a Dask client"
            )
        return makers[given]()
    if isinstance(given, int) and not isinstance(given, bool):
        return Processes(given)
    if hasattr(given, "scatter") and hasattr(given, "submit"):
        return Dask(given)
    if callable(getattr(given, "run", None)):
        return cast(Executor, given)
    raise SekantError(
        f"cannot run a study on {given!r}; use 'serial', 'processes', a number of processes, or a Dask client"
    )
