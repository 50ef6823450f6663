"""Acts begin when they are due, and requests of many share a few connections; against servers of a test's own."""

import asyncio
import time
from contextlib import asynccontextmanager

from murmuration_testkit.knee.open_loop import Answer, Connections, play
from murmuration_testkit.ports import free_port

REQUEST = b"GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"


class Server:
    """Answers each request by what its number is answered with; counts connections."""

    def __init__(self, answer):
        self.answer, self.opened = answer, 0

    async def serve(self, reader, writer):
        self.opened += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                for data in await self.answer(int(head.split(b" ")[1][1:])):
                    writer.write(data)
                    await writer.drain()
                    await asyncio.sleep(0.001)  # so that it is read before the next
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def connected(answer, most=4):
    """Give connections to a server that answers so."""
    served = Server(answer)
    async with await asyncio.start_server(served.serve, "127.0.0.1", 0) as server:
        gate = Connections("127.0.0.1", server.sockets[0].getsockname()[1], most)
        yield gate, served
        gate.close()


def in_time(seconds=30.0):
    return asyncio.get_running_loop().time() + seconds


def said(body):
    return OK % (len(body), body)


def test_what_could_not_begin_in_time_has_waited():
    """One connection, and the first answer comes after all are due: each took at least as long as the first."""

    async def run():
        took = {}
        last_is_due = asyncio.Event()

        async def answer(number):
            if number == 0:
                await last_is_due.wait()
                await asyncio.sleep(0.2)
            return [said(b"")]

        async with connected(answer, most=1) as (gate, _):

            def act(number):
                async def ask(due):
                    if number == 3:
                        last_is_due.set()
                    await gate.ask(REQUEST % number, in_time())
                    took[number] = asyncio.get_running_loop().time() - due

                return ask

            late = await play([(0.01 * number, act(number)) for number in range(4)])
        return took, late

    took, late = asyncio.run(run())
    assert len(late) == 4
    assert [number for number, seconds in took.items() if seconds < 0.2] == []


def test_an_act_that_begins_late_is_told_when_it_was_due():
    """The loop was held up when it should have begun."""

    async def run():
        told = []

        async def holds_up(due):
            told.append(due)
            time.sleep(0.05)  # noqa: ASYNC251 - as a machine does that is too slow

        return await play([(0.0, holds_up), (0.001, holds_up), (0.002, holds_up)]), told

    late, told = asyncio.run(run())
    assert [round(due - told[0], 6) for due in told] == [0.0, 0.001, 0.002]
    assert late[-1] > 0.04


def test_an_answer_in_pieces_is_whole_and_its_connection_is_used_again():
    """Also one without a body; answers do not mix."""

    async def answer(number):
        if number == 0:
            return [b"HTTP/1.1 204 No Content\r\n\r\n"]
        whole = said(b"body of %d" % number)
        return [whole[:7], whole[7:-3], whole[-3:]]

    async def run():
        async with connected(answer, most=2) as (gate, server):
            answers = [await gate.ask(REQUEST % number, in_time()) for number in range(5)]
            many = await asyncio.gather(*(gate.ask(REQUEST % number, in_time()) for number in range(1, 50)))
        return answers, many, server.opened

    answers, many, opened = asyncio.run(run())
    assert answers == [Answer(204), *(Answer(200, b"body of %d" % number) for number in range(1, 5))]
    assert many == [Answer(200, b"body of %d" % number) for number in range(1, 50)]
    assert opened == 2


def test_a_connection_that_the_server_ends_is_opened_again():
    """When it says so with an answer, and when it just goes away."""

    async def answer(number):
        if number == 1:
            raise ConnectionError
        return [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n%d" % number]

    async def run():
        async with connected(answer, most=1) as (gate, server):
            return [await gate.ask(REQUEST % number, in_time()) for number in range(4)], server.opened

    answers, opened = asyncio.run(run())
    assert answers == [Answer(200, b"0"), Answer(0), Answer(200, b"2"), Answer(200, b"3")]
    assert opened == 4


def test_who_is_not_answered_in_time_gets_no_answer_and_nobody_else_gets_theirs():
    """The late one comes on a connection that nobody uses any more."""

    async def run():
        asked, go = asyncio.Event(), asyncio.Event()

        async def answer(number):
            if number == 0:
                asked.set()
                await go.wait()
            return [said(b"%d" % number)]

        async with connected(answer, most=1) as (gate, _):
            first = await gate.ask(REQUEST % 0, in_time(0.3))
            go.set()
            return first, await gate.ask(REQUEST % 1, in_time())

    assert asyncio.run(run()) == (Answer(0), Answer(200, b"1"))


def test_where_nobody_listens_nobody_answers():
    async def run():
        return await Connections("127.0.0.1", free_port()).ask(REQUEST % 0, in_time())

    assert asyncio.run(run()) == Answer(0)
