// Responses of servers, valid and invalid, whole and streamed.
import { header, headerValues, Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { faults, startFaulty } from "../_support/faulty.ts";
import { plainAnswer, type RawRequest, type RawServer, startRaw, thrown } from "../_support/raw.ts";
import { until } from "../_support/until.ts";

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

async function text(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString("latin1");
}

/** Returns the error codes of a response, read whole and streamed. */
async function outcomes(answer: (request: RawRequest) => void): Promise<(string | undefined)[]> {
  await using server = await startRaw(answer);
  await using upstream = new Upstream({ url: server.url, deadlines: { head: 2000, idle: 2000 } });
  const post = { path: "/", method: "POST", body: "{}" } as const;
  const whole = await thrown(upstream.send(post));
  const streamed = await thrown(upstream.stream(post).then(({ body }) => text(body)));
  expect([whole.delivered, streamed.delivered]).to.deep.equal([true, true]);
  await until(() => upstream.stats.connections <= 0);
  return [whole.code, streamed.code];
}

describe("responses", () => {
  const sent = (bytes: string, end = false) => {
    return ({ socket }: RawRequest): void => void (end ? socket.end(bytes, "latin1") : socket.write(bytes, "latin1"));
  };

  for (const [what, answer, code] of [
    ["a body that is shorter than announced", sent("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", true), "reset"],
    [
      "the same with Connection: close",
      sent("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\nab", true),
      "reset",
    ],
    ["a truncated chunk", sent(`${CHUNKED}9\r\nab`, true), "reset"],
    ["a body without its last chunk", sent(`${CHUNKED}2\r\nab\r\n`, true), "reset"],
    [
      "the same with Connection: close",
      sent("HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", true),
      "reset",
    ],
    ["a truncated head", sent("HTTP/1.1 200 OK\r\nContent-Le", true), "reset"],
    ["no bytes", sent("", true), "reset"],
    ["a malformed chunk", sent(`${CHUNKED}zz\r\nab\r\n0\r\n\r\n`), "malformed"],
    ["a malformed head", sent("HTTP/1.1 200 OK\r\nBad Header\r\n\r\n"), "malformed"],
    ["two lengths", sent("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), "malformed"],
    ["another protocol", sent("SSH-2.0-OpenSSH\r\n"), "malformed"],
    [
      "an unexpected protocol upgrade",
      sent("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nab"),
      "malformed",
    ],
    ["a head that is too large", sent(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(1 << 20)}\r\n\r\n`), "tooLarge"],
    ["a head that never ends", endlessHead, "tooLarge"],
  ] as const)
    it(`with ${what} give ${code}`, async () => expect(await outcomes(answer)).to.deep.equal([code, code]));

  it("do not take surplus bytes for another response", async () => {
    await using server = await startRaw(({ socket, nth }) =>
      socket.write(nth === 0 ? `${plainAnswer("ok")}${plainAnswer("smuggled")}` : plainAnswer("right")),
    );
    await using upstream = new Upstream({ url: server.url });
    expect((await upstream.send({ path: "/" })).body.toString()).to.equal("ok");
    expect((await upstream.send({ path: "/" })).body.toString()).to.equal("right");
    expect(server.opened).to.equal(2);
  });

  it("have bodies up to the limit and none beyond it, announced or not, even endless ones", async () => {
    await using server = await startRaw(({ text: head, socket }) =>
      socket.write(head.includes("/plain") ? plainAnswer("12345") : `${CHUNKED}5\r\n12345\r\n0\r\n\r\n`),
    );
    await using upstream = new Upstream({ url: server.url });
    for (const path of ["/plain", "/chunked"]) {
      expect((await upstream.send({ path, limit: 5 })).body.toString()).to.equal("12345");
      expect((await thrown(upstream.send({ path, limit: 4 }))).code).to.equal("tooLarge");
    }
    await using faulty = await startFaulty(server.url);
    faulty.fail(faults.endless());
    await using other = new Upstream({ url: faulty.url });
    expect((await thrown(other.send({ path: "/", limit: 1 << 20 }))).code).to.equal("tooLarge");
    await faulty.until(({ connections }) => connections === 0);
    expect(faulty.bytes.sent).to.be.below(64 << 20);
  });

  it("apply backpressure for a slow reader, and free the connection after an early end", async () => {
    await using real = await startRaw();
    await using faulty = await startFaulty(real.url);
    faulty.fail(faults.endless());
    await using upstream = new Upstream({ url: faulty.url });
    const answer = await upstream.stream({ path: "/" });
    const body = answer.body[Symbol.asyncIterator]();
    let length = (await body.next()).value?.length ?? 0;
    // The server has filled all buffers once no more bytes arrive.
    let before = -1;
    while (before !== faulty.bytes.sent) {
      before = faulty.bytes.sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(before).to.be.below(24 << 20);
    while (length < 64 << 20) length += (await body.next()).value?.length ?? 0;
    expect(faulty.bytes.sent).to.be.above(60 << 20);
    await answer[Symbol.asyncDispose]();
    await answer[Symbol.asyncDispose]();
    expect((await body.next()).done).to.equal(true);
    expect(await text(answer.body)).to.equal("");
    await faulty.until(({ connections }) => connections === 0);
    expect(upstream.stats.active).to.equal(0);
  });

  it("can be disposed of while they are read, and reject a second reader", async () => {
    await using server = await startRaw(sent(`${CHUNKED}2\r\nab\r\n`));
    await using upstream = new Upstream({ url: server.url });
    const answer = await upstream.stream({ path: "/" });
    const body = answer.body[Symbol.asyncIterator]();
    await body.next();
    const waiting = body.next();
    expect((await thrown(body.next())).message).to.contain("concurrent reads of a body");
    await answer[Symbol.asyncDispose]();
    expect((await waiting).done).to.equal(true);
    await server.until(() => server.sockets.size === 0);
  });

  it("accept 2,000 values of a header, any characters, and names of Object.prototype", async () => {
    const groups = Array.from({ length: 2000 }, (_, at) => `X-Group: group-${at}`);
    await using server = await startRaw(({ socket }) =>
      socket.write(plainAnswer("", ...groups, "X-Name: J\u00f6rg", "constructor: x", "__proto__: y")),
    );
    await using upstream = new Upstream({ url: server.url });
    const { headers } = await upstream.send({ path: "/" });
    expect(headerValues(headers, "x-group")).to.have.length(2000);
    expect(headerValues(headers, "x-group")[1999]).to.equal("group-1999");
    expect(header(headers, "x-name")).to.equal("Jörg");
    expect(header(headers, "constructor")).to.equal("x");
    expect(header(headers, "__proto__")).to.equal("y");
    expect(header(headers, "tostring")).to.equal(undefined);
    expect(header(headers, "hasOwnProperty")).to.equal(undefined);
  });

  it("ignore early hints, finish with trailers, and have no body for HEAD and 204", async () => {
    await using server = await startRaw(({ text: head, socket }) => {
      if (head.startsWith("HEAD")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n");
      else if (head.includes("/204")) socket.write("HTTP/1.1 204 No Content\r\n\r\n");
      else
        socket.write(
          "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nab\r\n0\r\nX-Sum: 1\r\n\r\n",
        );
    });
    await using upstream = new Upstream({ url: server.url });
    const answer = await upstream.send({ path: "/" });
    expect([answer.status, answer.body.toString(), header(answer.headers, "link")]).to.deep.equal([
      200,
      "ab",
      undefined,
    ]);
    expect(header((await upstream.send({ path: "/", method: "HEAD" })).headers, "content-length")).to.equal("500");
    expect((await upstream.send({ path: "/204" })).status).to.equal(204);
    const streamed = await upstream.stream({ path: "/204" });
    expect(await text(streamed.body)).to.equal("");
    expect(upstream.stats.active).to.equal(0);
  });

  it("before the body was sent are final, and their connection is not used again", async () => {
    await using server: RawServer = await startRaw(({ socket, text: head }) => {
      if (!head.startsWith("POST")) {
        socket.write(plainAnswer("ok"));
        return;
      }
      socket.pause();
      socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
    });
    await using upstream = new Upstream({ url: server.url });
    const answer = await upstream.send({ path: "/", method: "POST", body: Buffer.alloc(32 << 20) });
    expect([answer.status, answer.body.toString()]).to.deep.equal([413, "no"]);
    expect((await upstream.send({ path: "/" })).body.toString()).to.equal("ok");
    expect(server.opened).to.equal(2);
  });
});

function endlessHead({ socket }: RawRequest): void {
  socket.write("HTTP/1.1 200 OK\r\n");
  const line = `X-More: ${"x".repeat(8000)}\r\n`;
  const more = (): void => {
    while (!socket.destroyed && socket.write(line));
    if (!socket.destroyed) socket.once("drain", more);
  };
  more();
}
