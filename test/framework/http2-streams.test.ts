// Ends of streams: clients that leave in every phase, slow readers, slow bodies, failing handlers, and a closing server. The
// end of one stream does not affect others.
import { once } from "node:events";
import type { ClientHttp2Stream } from "node:http2";
import {
  allow,
  createServer,
  defineVirtualWorkspace,
  type RawRequest,
  type ServerOptions,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { RequestRecord } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { END_HEADERS, Frames, TYPE } from "../_support/frames.ts";
import { answerOf, Http2Client } from "../_support/http2.ts";
import { Note } from "../_support/note.ts";

const servers = Authority.root("servers");
const keys = servers.issue({ name: "server", usages: [SERVER_AUTH] });
const headers = { authorization: "Bearer token" };
const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const BIG = "x".repeat(8 * 2 ** 20);

async function start(options: Partial<ServerOptions> = {}) {
  const notes = Note.collection();
  notes.in("root").set("a", {});
  const gate = Promise.withResolvers<void>();
  const entered: RawRequest<unknown>[] = [];
  let uploaded: Promise<string> | undefined;
  let wake: () => void = () => undefined;
  const raw = defineVirtualWorkspace({
    name: "raw",
    path: "/",
    authorize: () => allow(),
    handle: async (req, res, request) => {
      entered.push(request);
      wake();
      if (request.tail === "/upload") {
        uploaded = req.toArray().then(
          (pieces) => `whole: ${Buffer.concat(pieces).length}`,
          (error: NodeJS.ErrnoException) => `${error.code}`,
        );
        wake();
        return;
      }
      if (request.tail === "/big") return void res.end(BIG);
      if (request.tail === "/begun") res.writeHead(200).write("begun");
      if (request.tail === "/throws") throw new Error("no luck");
      if (request.tail === "/begun-throws") {
        res.writeHead(200).write("begun");
        throw new Error("no luck");
      }
      await gate.promise;
      res.end("done");
    },
  });
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [Note.serve(notes)],
  });
  const ended: RequestRecord[] = [];
  const server = createServer({
    virtualWorkspaces: [raw, view],
    authentication: [staticTokens({ token: { name: "alice" } })],
    tls: keys,
    log: testLog().log,
    onRequest: (record) => {
      if (record.stage === "ResponseComplete") ended.push(record);
      wake();
    },
    ...options,
  });
  const { port } = await server.listen({ port: 0 });
  const until = async (is: () => boolean): Promise<void> => {
    while (!is()) await new Promise<void>((resolve) => (wake = resolve));
  };
  return {
    server,
    port,
    gate,
    entered,
    ended,
    until,
    notes: notes.in("root"),
    uploaded: async () => {
      await until(() => uploaded !== undefined);
      return uploaded;
    },
    open: () => Http2Client.open(port, { ca: servers.cert }),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const CANCEL = 8;

describe("HTTP/2 streams", () => {
  const phases: Record<string, (client: Http2Client) => Promise<ClientHttp2Stream>> = {
    "before its answer": async (client) => client.begin({ path: "/services/raw/wait", headers }),
    "while its answer is written": async (client) => {
      const stream = client.begin({ path: "/services/raw/begun", headers });
      await once(stream, "data");
      return stream;
    },
    "while its answer waits to be read": async (client) => {
      const stream = client.begin({ path: "/services/raw/big", headers });
      await once(stream, "response");
      return stream;
    },
    "while its body is sent": async (client) => {
      const stream = client.begin({
        method: "POST",
        path: NOTES,
        headers: { ...headers, "content-type": "application/json" },
      });
      stream.write('{"kind":');
      return stream;
    },
    "while it watches": async (client) => {
      const stream = client.begin({ path: `${NOTES}?watch=true`, headers });
      await once(stream, "data");
      return stream;
    },
  };
  for (const [phase, begin] of Object.entries(phases)) {
    it(`can be reset ${phase}, and the session goes on`, async () => {
      await using server = await start();
      using client = await server.open();
      const stream = await begin(client);
      await client.get("/livez"); // the server has read all that came before
      stream.close(CANCEL);
      await server.until(() => server.ended.some(({ path }) => path !== "/livez"));
      for (const { signal } of server.entered) expect(signal.aborted).to.equal(true);
      expect((await client.get("/livez")).text).to.equal("ok");
    });

    it(`can be cut ${phase} with their connection, and others go on`, async () => {
      await using server = await start();
      using client = await server.open();
      using other = await server.open();
      await begin(client);
      await client.get("/livez");
      client.session.destroy();
      await server.until(() => server.ended.some(({ path }) => path !== "/livez"));
      expect((await other.get("/livez")).text).to.equal("ok");
    });
  }

  it("are answered after the client's GOAWAY, and then the connection ends", async () => {
    await using server = await start();
    using client = await server.open();
    const answer = answerOf(client.begin({ path: "/services/raw/wait", headers }));
    await server.until(() => server.entered.length > 0);
    client.session.goaway();
    client.session.close();
    server.gate.resolve();
    expect((await answer).text).to.equal("done");
    await client.closed;
  });

  it("get a Status when a handler fails, or are reset when the response has begun", async () => {
    await using server = await start();
    using client = await server.open();
    expect((await client.get("/services/raw/throws", headers)).body).to.include({ code: 500 });
    expectFault(/request failed.*no luck/);
    const cut = await client.get("/services/raw/begun-throws", headers).catch((error: Error) => error);
    expect(cut).to.be.an("error").with.property("message").that.includes("INTERNAL_ERROR");
    expectFault(/request failed.*no luck/);
    expect((await client.get("/livez")).text).to.equal("ok");
  });

  it("report a cut body: no handler takes half of one for the whole", async () => {
    await using server = await start();
    using frames = await Frames.open(server.port, { ca: servers.cert });
    const lines = {
      ":method": "POST",
      ":scheme": "https",
      ":authority": "x",
      ":path": "/services/raw/upload",
      ...headers,
    };
    frames.headers(1, Object.entries(lines), END_HEADERS);
    frames.send({ type: TYPE.data, stream: 1, payload: Buffer.from("half") });
    await server.until(() => server.entered.length > 0);
    frames.send({ type: TYPE.reset, stream: 1, payload: Buffer.of(0, 0, 0, CANCEL) });
    expect(await server.uploaded()).to.be.oneOf(["ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"]);
  });

  it("with slow bodies end with an error at the deadline", async () => {
    await using server = await start({ requestTimeout: 200 });
    using client = await server.open();
    const stream = client.begin({
      method: "POST",
      path: NOTES,
      headers: { ...headers, "content-type": "application/json" },
    });
    const trickle = setInterval(() => stream.writable && stream.write(" "), 20);
    const answer = await answerOf(stream).finally(() => clearInterval(trickle));
    expect(answer.body).to.include({ code: 504, reason: "Timeout" });
    if (!stream.closed) await once(stream, "close");
    expect(stream.rstCode).to.equal(0);
    expect((await client.get("/livez")).text).to.equal("ok");
  });

  it("with slow readers neither block others nor fill memory", async () => {
    await using server = await start();
    using client = await server.open();
    const slow = Array.from({ length: 20 }, () => client.begin({ path: "/services/raw/big", headers }));
    await Promise.all(slow.map((stream) => once(stream, "response")));
    for (let turn = 0; turn < 20; turn++) expect((await client.get(`${NOTES}/a`, headers)).status).to.equal(200);
    const answers = await Promise.all(
      slow.map(async (stream) => (await stream.setEncoding("utf8").toArray()).join("")),
    );
    for (const text of answers) expect(text.length).to.equal(BIG.length);
  });

  it("of unread watches pause: other watches see every event, and so do these when they read again", async () => {
    await using server = await start();
    using client = await server.open();
    const path = `${NOTES}?watch=true&resourceVersion=0`;
    const asleep = client.begin({ path, headers }).setEncoding("utf8");
    await once(asleep, "response");
    const awake = client.begin({ path, headers }).setEncoding("utf8");
    let seen = "";
    awake.on("data", (piece: string) => (seen += piece));
    const text = "x".repeat(10_000);
    for (let turn = 0; turn < 300; turn++) {
      server.notes.set(`n${turn}`, { text });
      if (turn % 20 === 0) await client.get("/livez");
    }
    while (!seen.includes('"name":"n299"')) await once(awake, "data");
    let late = "";
    for await (const piece of asleep) {
      late += piece;
      if (late.includes('"name":"n299"')) break;
    }
    expect(late.split("\n").filter((line) => line.includes('"ADDED"'))).to.have.length.above(299);
  });
});

describe("closing a server with HTTP/2 clients", () => {
  it("notifies all, ends idle sessions at once, and lets streams under way finish", async () => {
    const server = await start();
    using idle = await server.open();
    using busy = await server.open();
    const answer = answerOf(busy.begin({ path: "/services/raw/wait", headers }));
    const watch = busy.begin({ path: `${NOTES}?watch=true`, headers }).setEncoding("utf8");
    await Promise.all([server.until(() => server.entered.length > 0), once(watch, "response")]);
    const closing = server.server.close();
    await idle.closed;
    expect(idle.goaways).to.deep.equal([0]);
    // Ended cleanly, so that its client resumes elsewhere.
    expect((await watch.toArray()).join("")).to.match(/\n$/);
    expect(watch.rstCode).to.equal(0);
    server.gate.resolve();
    expect((await answer).text).to.equal("done");
    expect(busy.goaways).to.deep.equal([0]);
    await Promise.all([closing, busy.closed]);
  });

  it("sends written but unread data to the end", async () => {
    const server = await start();
    using client = await server.open();
    const stream = client.begin({ path: "/services/raw/big", headers });
    await once(stream, "response");
    const closing = server.server.close();
    expect((await stream.setEncoding("utf8").toArray()).join("").length).to.equal(BIG.length);
    await closing;
  });

  it("cuts stuck streams after closeTimeout, and notifies the handler", async () => {
    const server = await start({ closeTimeout: 200 });
    using client = await server.open();
    const stream = client.begin({ path: "/services/raw/begun", headers });
    await once(stream, "data");
    const began = performance.now();
    await server.server.close();
    expect(performance.now() - began).to.be.within(190, 1500);
    expect(server.entered[0]?.signal.aborted).to.equal(true);
    await client.closed;
  });
});
