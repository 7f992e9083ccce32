// Connections that switch protocols, and streamed request bodies.
import { isUpgraded, type StreamedResponse, type UpgradedResponse, Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { plainAnswer, startRaw, thrown } from "../_support/raw.ts";

const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";

async function textOf(answer: StreamedResponse): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer.body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

function upgraded(answer: StreamedResponse | UpgradedResponse): UpgradedResponse {
  if (!isUpgraded(answer)) throw new Error(`it is ${answer.status}`);
  return answer;
}

describe("an upgrade", () => {
  it("gives the connection with the bytes after the response's head, and ends with it", async () => {
    await using server = await startRaw(({ text, socket }) => {
      if (!text.startsWith("GET /echo")) return;
      socket.removeAllListeners("data");
      socket.write(`${SWITCHED}hello `);
      socket.on("data", (bytes) => socket.write(bytes));
    });
    await using upstream = new Upstream({ url: server.url });
    const { status, headers, socket } = upgraded(await upstream.upgrade({ path: "/echo", protocol: "echo" }));
    expect([status, headers["upgrade"]]).to.deep.equal([101, "echo"]);
    expect(server.requests[0]?.text).to.match(/^connection: upgrade\r\nupgrade: echo\r$/im);
    let text = "";
    socket.write("there");
    for await (const piece of socket) {
      text += piece;
      if (text === "hello there") break;
    }
    await server.until(() => server.sockets.size === 0);
    expect(upstream.stats).to.include({ active: 0, connections: 0 });
  });

  it("may be rejected with an ordinary response, and the connection is reused", async () => {
    await using server = await startRaw(({ socket }) => socket.write(plainAnswer("no")));
    await using upstream = new Upstream({ url: server.url });
    const answer = await upstream.upgrade({ path: "/", protocol: "echo" });
    expect(isUpgraded(answer)).to.equal(false);
    expect(await textOf(answer as StreamedResponse)).to.equal("no");
    expect((await upstream.send({ path: "/" })).status).to.equal(200);
  });

  it("ends when its caller closes it, and with the upstream", async () => {
    await using server = await startRaw(({ socket }) => socket.write(SWITCHED));
    await using upstream = new Upstream({ url: server.url });
    const leaving = new AbortController();
    const left = upgraded(await upstream.upgrade({ path: "/", protocol: "echo", signal: leaving.signal }));
    leaving.abort(new Error("left"));
    await server.until(() => server.sockets.size === 0);
    expect(left.socket.destroyed).to.equal(true);
    const open = upgraded(await upstream.upgrade({ path: "/", protocol: "echo" }));
    await upstream[Symbol.asyncDispose]();
    expect(open.socket.destroyed).to.equal(true);
  });

  it("without a request for it is an error", async () => {
    await using server = await startRaw(({ socket }) => socket.write(SWITCHED));
    await using upstream = new Upstream({ url: server.url });
    expect(await thrown(upstream.send({ path: "/" })))
      .to.have.property("code")
      .that.is.oneOf(["malformed", "reset"]);
    expect(() => upstream.upgrade({ path: "/", protocol: "a\r\nb" })).to.throw("protocol");
  });
});

describe("a streamed request body", () => {
  async function* pieces(...texts: readonly string[]): AsyncGenerator<Buffer> {
    for (const text of texts) yield Buffer.from(text);
  }

  it("is sent with the declared length, or in chunks", async () => {
    await using server = await startRaw(({ text, socket }) => {
      if (/(0\r\n\r\n|abcd)$/.test(text)) socket.write(plainAnswer("ok"));
    });
    await using upstream = new Upstream({ url: server.url });
    const send = (length?: number): Promise<unknown> =>
      upstream.send({ method: "POST", path: "/", body: pieces("ab", "cd"), ...(length !== undefined && { length }) });
    void send(4).catch(() => undefined);
    await server.until(() => server.requests.length > 0);
    expect(server.requests[0]?.text).to.match(/\r\ncontent-length: 4\r\n/i);
    void send().catch(() => undefined);
    await server.until(() => server.requests.length > 1);
    expect(server.requests[1]?.text).to.match(/\r\ntransfer-encoding: chunked\r\n/i);
    expect(await thrown(upstream.send({ path: "/", length: 4 })))
      .to.have.property("message")
      .that.includes("invalid length: use bytes");
  });

  it("is sent only once, and fails its request if it breaks off", async () => {
    await using server = await startRaw(({ socket }) =>
      socket.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"),
    );
    let token = 0;
    const credentials = {
      get: () => ({ headers: ["Authorization", `Bearer ${token}`] }),
      refused: () => {
        token += 1;
      },
    };
    await using upstream = new Upstream({ url: server.url, credentials });
    expect((await upstream.send({ method: "POST", path: "/", body: pieces("ab"), length: 2 })).status).to.equal(401);
    expect(server.requests).to.have.length(1);
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from("ab");
      throw new Error("it broke off");
    }
    await using silent = await startRaw();
    await using other = new Upstream({ url: silent.url });
    expect(await thrown(other.send({ method: "POST", path: "/", body: broken(), length: 4 }))).to.be.instanceOf(Error);
    await silent.until(() => silent.opened === 1 && silent.sockets.size === 0);
  });
});
