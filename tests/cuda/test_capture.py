"""The mock driver's captures of streams, by CUDA's rules, and the order with the legacy stream."""

import numpy as np
import pytest

import mat

from .computing import add
from .driving import N, ask, driver, got, operand

pytestmark = pytest.mark.host

LEGACY = driver.CUstream(1)
MODES = driver.CUstreamCaptureMode
EVERYWHERE = MODES.CU_STREAM_CAPTURE_MODE_GLOBAL
RELAXED = MODES.CU_STREAM_CAPTURE_MODE_RELAXED


def stream(blocking=False):
    return ask(driver.cuStreamCreate(0 if blocking else 1))


def status(result):
    return int(result[0])


def captured(at, mode=RELAXED):
    ask(driver.cuStreamBeginCapture(at, mode))
    assert int(ask(driver.cuStreamIsCapturing(at))) == 1


def filled(x, value, at):
    ask(driver.cuMemsetD32Async(x.address, value, x.size, at))


def ints(x):
    return got(x).view("i").tolist()


def test_what_is_captured_is_done_at_replays(mock, gpu):
    x, y, at = operand(gpu), operand(gpu), stream()
    filled(x, 1, gpu.stream)
    filled(y, 0, gpu.stream)
    captured(at)
    ask(driver.cuMemcpyDtoDAsync(y.address, x.address, 4 * N, at))
    filled(x, 2, at)
    graph = ask(driver.cuStreamEndCapture(at))
    assert ints(y)[0] == 0
    replay = ask(driver.cuGraphInstantiate(graph, 0))
    for wanted in (1, 2):
        ask(driver.cuGraphLaunch(replay, at))
        ask(driver.cuStreamSynchronize(at))
        assert set(ints(y)) == {wanted}
    ask(driver.cuGraphExecDestroy(replay))
    ask(driver.cuGraphDestroy(graph))


def test_streams_join_a_capture_by_events(mock, gpu):
    x, first, second = operand(gpu), stream(), stream()
    event = ask(driver.cuEventCreate(2))
    captured(first)
    ask(driver.cuEventRecord(event, first))
    ask(driver.cuStreamWaitEvent(second, event, 0))
    assert int(ask(driver.cuStreamIsCapturing(second))) == 1
    filled(x, 5, second)
    assert status(driver.cuEventSynchronize(event)) == 907
    assert status(driver.cuStreamEndCapture(second)) == 903
    graph = ask(driver.cuStreamEndCapture(first))
    replay = ask(driver.cuGraphInstantiate(graph, 0))
    ask(driver.cuGraphLaunch(replay, first))
    ask(driver.cuStreamSynchronize(first))
    assert set(ints(x)) == {5}


@pytest.mark.parametrize("call", [
    lambda at: driver.cuStreamSynchronize(at), lambda at: driver.cuStreamQuery(at),
    lambda at: driver.cuMemAlloc(8), lambda at: driver.cuMemHostAlloc(8, 0),
    lambda at: driver.cuCtxSynchronize()])
def test_what_waits_is_not_allowed(mock, gpu, call):
    at = stream()
    captured(at, EVERYWHERE)
    assert status(call(at)) == 900
    assert int(ask(driver.cuStreamIsCapturing(at))) == 2
    assert status(driver.cuMemsetD32Async(operand(gpu).address, 0, 1, at)) == 901
    assert status(driver.cuStreamEndCapture(at)) == 901
    assert int(ask(driver.cuStreamIsCapturing(at))) == 0


def test_the_legacy_stream_cannot_be_captured_nor_follow_a_capture(mock, gpu):
    x, at = operand(gpu), stream(blocking=True)
    assert status(driver.cuStreamBeginCapture(LEGACY, RELAXED)) == 900
    captured(at)
    assert status(driver.cuMemsetD32Async(x.address, 0, 1, LEGACY)) == 906
    assert status(driver.cuStreamEndCapture(at)) == 901
    captured(at)
    ask(driver.cuStreamEndCapture(at))
    filled(x, 1, LEGACY)


def test_the_legacy_stream_is_in_order_with_blocking_streams_only(mock, gpu):
    mock.delay()
    for blocking in (True, False):
        x, y, at = operand(gpu), operand(gpu), stream(blocking)
        filled(x, 1, LEGACY)
        filled(y, 0, LEGACY)
        gpu.synchronize()
        filled(x, 2, at)  # late, unless the legacy stream waits for it
        ask(driver.cuMemcpyDtoDAsync(y.address, x.address, 4 * N, LEGACY))
        event = ask(driver.cuEventCreate(2))
        ask(driver.cuEventRecord(event, LEGACY))
        ask(driver.cuEventSynchronize(event))
        assert set(ints(y)) == {2 if blocking else 1}
        ask(driver.cuStreamSynchronize(at))


@pytest.mark.parametrize("first", [True, False])
def test_mats_stream_is_in_order_with_the_legacy_one(mock, gpu, first):
    x, y = operand(gpu), operand(gpu)
    filled(x, 1, gpu.stream)
    gpu.synchronize()
    mock.delay()
    at, other = (LEGACY, gpu.stream) if first else (gpu.stream, LEGACY)
    filled(x, 2, at)  # late, unless the other stream waits for it
    ask(driver.cuMemcpyDtoDAsync(y.address, x.address, 4 * N, other))
    assert set(ints(y)) == {2}


@pytest.mark.unchecked("the check waits for the device at the end of each access")
def test_mats_stream_can_be_captured(mock):
    with mat.use_device("cuda", required=True) as dev:
        x = mat.from_numpy(np.ones(50))
        y = add(x) * 1
        mat.multiply(x, 1, out=y)
        with dev.gpu.current():
            captured(dev.gpu.stream)
            mat.multiply(x, 1, out=y)
            y += 1
            graph = ask(driver.cuStreamEndCapture(dev.gpu.stream))
            replay = ask(driver.cuGraphInstantiate(graph, 0))
        assert float(y.sum()) == 100  # nothing was done yet
        with dev.gpu.current():
            ask(driver.cuGraphLaunch(replay, dev.gpu.stream))
        assert float(y.sum()) == 150


def test_mat_computes_while_another_library_captures(mock):
    with mat.use_device("cuda", required=True) as dev:
        x = mat.from_numpy(np.ones(50))
        add(x)
        with dev.gpu.current():
            at = stream(blocking=True)
            captured(at)
        assert float(add(x).sum()) == 150
        with dev.gpu.current():
            ask(driver.cuStreamEndCapture(at))
