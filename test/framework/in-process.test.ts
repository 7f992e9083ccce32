// Requests that reach a server of the same process as objects: the same answers as over a connection, and the same ends.
import { once } from "node:events";
import type { Duplex } from "node:stream";
import {
  allow,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { Encoded } from "@virtual-workspaces/framework/storage";
import { isUpgraded, lines, type Outgoing, Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { until } from "../_support/until.ts";

const Note = defineResource({ group: "test.dev", version: "v1", kind: "Note", scope: "Cluster" });
const NOTES = "/services/notes/apis/test.dev/v1/notes";
const noteOf = (name: string) => ({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name } });
const CREDENTIAL = Object.freeze({ headers: Object.freeze(["Authorization", "Bearer token"]) });
const JSON_BODY = ["Content-Type", "application/json"];

/** Connections, which differ by nature. */
const OF_CONNECTIONS = ["connection", "keep-alive", "date", "transfer-encoding", "audit-id"];

class Own implements AsyncDisposable {
  readonly server: Server;
  readonly ready = Promise.withResolvers<void>();
  readonly signals: AbortSignal[] = [];
  readonly authorizations: string[] = [];
  mayImpersonate = true;
  readonly within: Upstream;
  readonly connected: Upstream;
  readonly #notes = Note.collection();

  constructor() {
    const notes = defineVirtualWorkspace({
      ...{ name: "notes", path: "/", authorize: () => allow(), resources: [Note.serve(this.#notes)] },
    });
    const raw = defineVirtualWorkspace({
      ...{ name: "raw", path: "/", authorize: () => allow() },
      handle: async (req, res, { tail, signal, user: { name, groups } }) => {
        this.signals.push(signal);
        const { "user-agent": _, ...headers } = req.headers;
        if (tail === "/who") res.end(JSON.stringify({ name, groups, headers }));
        if (tail === "/echo") {
          const pieces: Buffer[] = [];
          for await (const piece of req) pieces.push(piece);
          res.writeHead(201, ["X-One", "1", "X-Two", "a", "X-Two", "b"]).end(Buffer.concat(pieces));
        } else if (tail === "/stuck") await once(signal, "abort");
        else if (tail === "/cut") {
          res.write("begun");
          res.destroy();
        } else if (tail === "/many") await writeMany(res);
        else if (tail === "/reused") {
          written++;
          REUSED.write(String(written));
          res.end(REUSED);
        } else if (tail === "/early") res.end("enough");
      },
      upgrade: (_, socket: Duplex) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n");
        socket.pipe(socket);
      },
    });
    this.server = createServer({
      ...{ virtualWorkspaces: [notes, raw], log: testLog().log, closeTimeout: 1000 },
      authentication: [staticTokens({ token: { name: "alice" } })],
      impersonation: ({ resource, name }) => {
        this.authorizations.push(`${resource} ${name}`);
        return this.mayImpersonate ? allow() : deny("not now");
      },
    });
    const options = {
      url: "http://own",
      credentials: { get: () => CREDENTIAL },
      dial: async () => this.server.connect(),
    };
    this.within = new Upstream({ ...options, inProcess: this.server.inProcess(this.ready.promise) });
    this.connected = new Upstream(options);
  }

  static async start(): Promise<Own> {
    const own = new Own();
    await own.server.start();
    own.ready.resolve();
    return own;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.within[Symbol.asyncDispose](), this.connected[Symbol.asyncDispose]()]);
    await this.server.close();
  }
}

const MANY = 200;
const PIECE = Buffer.alloc(32 * 1024, "x");
let written = 0;
/** Memory that each response overwrites. */
const REUSED = Buffer.alloc(1);

async function writeMany(res: NodeJS.WritableStream): Promise<void> {
  written = 0;
  for (let at = 0; at < MANY; at++) {
    written++;
    if (!res.write(PIECE)) await once(res, "drain");
  }
  res.end();
}

describe("a request within the process", () => {
  it("has the same answer as over a connection", async () => {
    await using own = await Own.start();
    const requests: Outgoing[] = [
      { path: NOTES },
      { path: `${NOTES}/a`, headers: ["Accept", "application/yaml"] },
      { path: `${NOTES}/none` },
      { path: `${NOTES}?limit=x` },
      { path: `${NOTES}?watch=true&timeoutSeconds=1` },
      { path: "/services/none" },
      { path: "/services/%zz" },
      { path: "/readyz?verbose" },
      { path: "/apis", headers: ["Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"] },
      { path: "/services/notes/openapi/v3" },
      { path: NOTES, headers: ["Accept-Encoding", "gzip"] },
      { method: "HEAD", path: `${NOTES}/a` },
      { method: "POST", path: NOTES, headers: JSON_BODY, body: "{" },
      { method: "POST", path: NOTES, headers: JSON_BODY, body: JSON.stringify(noteOf("a")) },
      { method: "DELETE", path: `${NOTES}/none`, headers: JSON_BODY, body: Buffer.from("{}") },
      { method: "PUT", path: "/services/raw/echo", body: Buffer.alloc(300_000, "é") },
      { method: "POST", path: NOTES, headers: JSON_BODY, body: streamed(3) },
      { method: "PUT", path: "/services/raw/echo", body: streamed(3) },
      { method: "PUT", path: "/services/raw/echo", body: streamed(2), length: 2 * PIECE.length },
      { method: "PUT", path: "/services/raw/early", body: Buffer.alloc(300_000) },
    ];
    expect(
      (await own.within.send({ method: "POST", path: NOTES, headers: JSON_BODY, body: JSON.stringify(noteOf("a")) }))
        .status,
    ).to.equal(201);
    for (const request of requests) {
      const answers = [];
      for (const upstream of [own.within, own.connected]) {
        const body =
          typeof request.body === "object" && !Buffer.isBuffer(request.body)
            ? streamed(request.length === undefined ? 3 : 2)
            : request.body;
        const {
          status,
          headers,
          body: text,
        } = await upstream.send({ ...request, ...(body !== undefined && { body }) });
        const kept = Object.entries(headers).filter(([name]) => !OF_CONNECTIONS.includes(name));
        answers.push({ status, headers: Object.fromEntries(kept), text: text.toString() });
      }
      expect(answers[0], `${request.method} ${request.path}`).to.deep.equal(answers[1]);
    }
  });

  it("waits until the server is ready, and is authenticated like any other", async () => {
    const own = new Own();
    const answer = own.within.send({ path: NOTES });
    await own.server.start();
    expect(own.within.stats.pending).to.equal(1);
    own.ready.resolve();
    expect((await answer).status).to.equal(200);
    await using anonymous = new Upstream({ url: "http://own", inProcess: own.server.inProcess(Promise.resolve()) });
    expect((await anonymous.send({ path: NOTES })).status).to.equal(401);
    await own[Symbol.asyncDispose]();
  });

  it("is authorized each time for the user that its repeated headers name, and loses no header to the request before", async () => {
    await using own = await Own.start();
    const headers = Object.freeze([
      "Impersonate-User",
      "bob",
      "Impersonate-Group",
      "writers",
      "X-Forwarded-For",
      "1.2.3.4",
    ]);
    const seen = [];
    for (own.mayImpersonate of [true, true, false, true]) {
      const { status, body } = await own.within.send({ path: "/services/raw/who", headers });
      seen.push(status === 200 ? JSON.parse(body.toString()) : status);
    }
    const bob = {
      name: "bob",
      groups: ["writers", "system:authenticated"],
      headers: { host: "own", "x-forwarded-for": "1.2.3.4" },
    };
    expect(seen).to.deep.equal([bob, bob, 403, bob]);
    expect(own.authorizations).to.deep.equal([
      "users bob",
      "groups writers",
      "users bob",
      "groups writers",
      "users bob",
      "users bob",
      "groups writers",
    ]);
    const other = await own.within.send({ path: "/services/raw/who", headers: ["Impersonate-User", "carol"] });
    expect(JSON.parse(other.body.toString()).name).to.equal("carol");
  });

  it("has the object that its whole response encodes, and copies of other bodies", async () => {
    await using own = await Own.start();
    const labels = { of: "a" };
    const body = JSON.stringify({ ...noteOf("a"), metadata: { name: "a", labels } });
    await own.within.send({ method: "POST", path: NOTES, headers: JSON_BODY, body });
    const found = await own.within.send({ path: `${NOTES}/a` });
    const object = found.object as Encoded;
    expect(object.bytes).to.equal(found.body);
    expect(object).to.deep.include({ labels, key: { cluster: "", namespace: "", name: "a" } });
    const other = ["application/yaml", "application/json;as=Table;g=meta.k8s.io;v=v1", "application/cbor"];
    for (const accept of other)
      expect((await own.within.send({ path: `${NOTES}/a`, headers: ["Accept", accept] })).object).to.equal(undefined);
    expect((await own.within.send({ path: NOTES })).object).to.equal(undefined);
    expect((await own.connected.send({ path: `${NOTES}/a` })).object).to.equal(undefined);

    written = 0;
    const answers = await Promise.all([1, 2].map(() => own.within.send({ path: "/services/raw/reused" })));
    expect(answers.map((answer) => answer.body.toString())).to.deep.equal(["1", "2"]);
    const long = await own.within.send({ path: `${NOTES}/a`, limit: 10 }).catch((error: unknown) => error);
    expect(long).to.include({ code: "tooLarge" });
  });

  it("is a watch whose events arrive one by one, and which ends on both sides", async () => {
    await using own = await Own.start();
    const { body } = await own.within.stream({ path: `${NOTES}?watch=true`, long: true });
    await own.within.send({ method: "POST", path: NOTES, headers: JSON_BODY, body: JSON.stringify(noteOf("b")) });
    const events = lines(body, { limit: 1_000_000 });
    expect(JSON.parse(String((await events.next()).value)).object.metadata.name).to.equal("b");
    expect(own.server.stats.longRunning).to.equal(1);
    await events.return();
    await until(() => own.server.stats.longRunning === 0);

    const another = await own.within.stream({ path: `${NOTES}?watch=true&allowWatchBookmarks=true`, long: true });
    const closed = own.server.close();
    for await (const _ of another.body);
    await closed;
  });

  it("is read at the pace of its reader", async () => {
    await using own = await Own.start();
    const { body } = await own.within.stream({ path: "/services/raw/many" });
    await until(() => written > 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).to.be.below(20);
    let length = 0;
    for await (const piece of body) {
      length += piece.length;
      expect(piece.every((byte) => byte === 120)).to.equal(true);
    }
    expect([written, length]).to.deep.equal([MANY, MANY * PIECE.length]);
  });

  it("ends for the server when its sender leaves or no longer waits, and for its sender when the server cuts it", async () => {
    await using own = await Own.start();
    const leaving = new AbortController();
    const left = own.within.send({ path: "/services/raw/stuck", signal: leaving.signal }).catch((error) => error);
    await until(() => own.signals.length === 1);
    leaving.abort(new Error("left"));
    expect((await left).message).to.equal("left");
    await until(() => own.signals[0]?.aborted === true);

    const late = await own.within
      .send({ path: "/services/raw/stuck", deadlines: { head: 20 } })
      .catch((error: unknown) => error);
    expect(late).to.include({ code: "timeout" });
    await until(() => own.signals[1]?.aborted === true);

    const cut = await own.within.send({ path: "/services/raw/cut" }).catch((error: unknown) => error);
    expect(cut).to.include({ code: "reset", delivered: true });

    const closing = own.within.send({ path: "/services/raw/stuck" }).catch((error: unknown) => error);
    await until(() => own.signals.length === 4);
    await own.within[Symbol.asyncDispose]();
    expect(await closing).to.include({ code: "closed" });
    await until(() => own.signals[3]?.aborted === true);
  });

  it("upgrades over a connection", async () => {
    await using own = await Own.start();
    const answer = await own.within.upgrade({ path: "/services/raw/any", protocol: "test" });
    if (!isUpgraded(answer)) throw new Error(`status ${answer.status}`);
    answer.socket.write("ping");
    expect(String((await once(answer.socket, "data"))[0])).to.equal("ping");
    answer.socket.destroy();
  });
});

async function* streamed(pieces: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < pieces; at++) yield PIECE;
}
