// Why: the reads of all connections share one piece of memory. No response may contain the bytes of another one.
import { type BodySink, type SinkControl, Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { type RawRequest, startRaw, thrown } from "../_support/raw.ts";
import { until } from "../_support/until.ts";

const SIZE = 700_000;
const AT_ONCE = 8;
const authority = Authority.root("shared");
const shown = authority.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] });

/** Content of a response, which differs from all others at each place. */
function contentOf(name: string): Buffer {
  const bytes = Buffer.alloc(SIZE);
  for (let at = 0; at < SIZE; at += 16) bytes.write(`${name}${at}`.padEnd(16, "."), at, 16, "latin1");
  return bytes;
}

/** Sends the content named by the path, in pieces of many sizes, one per turn, so that responses alternate. */
function sendPieces({ text, socket }: RawRequest): void {
  const content = contentOf(/^GET \/(\w+)/.exec(text)?.[1] ?? "");
  socket.write("HTTP/1.1 200 OK\r\nX-Name: fi");
  let at = 0;
  let size = 1;
  const next = (): void => {
    if (at >= SIZE) {
      socket.write("0\r\n\r\n");
      return;
    }
    const piece = content.subarray(at, at + size);
    at += size;
    size = (size * 7 + 11) % 50_000;
    socket.write(`${piece.length.toString(16)}\r\n`);
    socket.write(piece);
    if (socket.write("\r\n")) setImmediate(next);
    else socket.once("drain", next);
  };
  setImmediate(() => {
    socket.write(`rst\r\nX-Path: ${text.split(" ")[1]}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    setImmediate(next);
  });
}

/** Collects a body; stops after some chunks, and goes on later. */
class SlowSink implements BodySink {
  readonly ended = Promise.withResolvers<void>();
  control: SinkControl | undefined;
  isPaused = false;
  calls = 0;
  readonly #pieces: Buffer[] = [];

  write(piece: Buffer): boolean {
    expect(this.isPaused, "a chunk during a pause").to.equal(false);
    this.#pieces.push(Buffer.from(piece));
    this.calls += 1;
    if (this.calls % 3 !== 0) return true;
    this.isPaused = true;
    setImmediate(() => {
      this.isPaused = false;
      this.control?.resume();
    });
    return false;
  }

  end(): void {
    this.ended.resolve();
  }

  fail(error: unknown): void {
    this.ended.reject(error);
  }

  get content(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

for (const [over, tls] of [
  ["TCP", undefined],
  ["TLS", shown],
] as const)
  describe(`responses at the same time over ${over}`, () => {
    const start = async () => {
      const server = await startRaw(sendPieces, tls);
      const upstream = new Upstream({ url: server.url, ...(tls && { tls: { ca: authority.cert } }) });
      const stack = new AsyncDisposableStack();
      stack.use(server);
      stack.use(upstream);
      return { server, upstream, [Symbol.asyncDispose]: () => stack.disposeAsync() };
    };
    const names = Array.from({ length: AT_ONCE }, (_, nth) => `response${nth}`);

    it("keep their own heads and bodies when they are read by chunks", async () => {
      await using both = await start();
      const read = async (name: string): Promise<void> => {
        const { headers, body } = await both.upstream.stream({ path: `/${name}` });
        expect([headers["x-name"], headers["x-path"]]).to.deep.equal(["first", `/${name}`]);
        const pieces: Buffer[] = [];
        for await (const piece of body) pieces.push(piece);
        expect(Buffer.concat(pieces).equals(contentOf(name)), name).to.equal(true);
      };
      await Promise.all(names.map(read));
      await Promise.all(names.map(read)); // on the same connections
      expect(both.server.opened).to.equal(AT_ONCE);
    });

    it("keep them when they are read whole", async () => {
      await using both = await start();
      const read = async (name: string): Promise<void> => {
        const { headers, body } = await both.upstream.send({ path: `/${name}` });
        expect(headers["x-path"]).to.equal(`/${name}`);
        expect(body.equals(contentOf(name)), name).to.equal(true);
      };
      await Promise.all(names.map(read));
    });

    it("keep them in sinks that pause", async () => {
      await using both = await start();
      const read = async (name: string): Promise<void> => {
        const sink = new SlowSink();
        const answer = await both.upstream.stream({ path: `/${name}` });
        sink.control = answer.into?.(sink);
        await sink.ended.promise;
        expect(sink.content.equals(contentOf(name)), name).to.equal(true);
      };
      await Promise.all(names.map(read));
      await Promise.all(names.map(read));
      expect(both.server.opened).to.equal(AT_ONCE);
      expect(both.upstream.stats.active).to.equal(0);
    });

    it("close their connection when a sink stops, and do not call it again", async () => {
      await using both = await start();
      const sink = new SlowSink();
      const { into } = await both.upstream.stream({ path: "/stopped" });
      const control = into?.(sink);
      sink.control = control;
      await until(() => sink.calls > 0);
      const { calls } = sink;
      control?.stop();
      await both.server.until(() => both.server.sockets.size === 0);
      control?.resume();
      expect(sink.calls).to.equal(calls);
      expect(both.upstream.stats.active).to.equal(0);
    });

    it("tell a sink when they are cut", async () => {
      await using both = await start();
      const sink = new SlowSink();
      const { into } = await both.upstream.stream({ path: "/cut" });
      sink.control = into?.(sink);
      const error = thrown(sink.ended.promise);
      for (const socket of both.server.sockets) socket.destroy();
      expect((await error).code).to.equal("reset");
    });

    it("leave an upgrade a connection of its own, which reads like any other", async () => {
      const echo = ({ text, socket }: RawRequest): void => {
        if (!/^upgrade: echo/im.test(text)) sendPieces({ text, socket, nth: 0 });
        else socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello");
      };
      await using server = await startRaw(echo, tls);
      await using upstream = new Upstream({ url: server.url, ...(tls && { tls: { ca: authority.cert } }) });
      await upstream.send({ path: "/before" });
      const answer = await upstream.upgrade({ path: "/", protocol: "echo" });
      if (!("socket" in answer)) throw new Error(`not upgraded: ${answer.status}`);
      const { value } = await answer.socket[Symbol.asyncIterator]().next();
      expect(String(value)).to.equal("hello");
      expect(server.opened).to.equal(2);
      answer.socket.destroy();
    });
  });
