// Writes to an upstream that is down, breaks off, or does not answer like an API server. No write is sent twice.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { forward } from "@virtual-workspaces/forwarding";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { isTransportError, Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";
import { startRelay } from "../_support/relay.ts";
import { startChain, upstreamAt } from "./support.ts";

interface Misbehaving extends AsyncDisposable {
  readonly front: PlainServer;
  readonly asked: string[];
  readonly told: unknown[];
}

/** Starts a view in front of a server with the answer of `handle`. */
async function start(
  handle: (req: IncomingMessage, res: ServerResponse) => void,
  options: Partial<UpstreamOptions> = {},
): Promise<Misbehaving> {
  const asked: string[] = [];
  const told: unknown[] = [];
  const server = createServer((req, res) => {
    req.on("error", () => undefined).resume();
    asked.push(`${req.method} ${req.url}`);
    handle(req, res);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const upstream = new Upstream({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...options });
  const storage = forward({ resource: Note, upstream, onError: (error) => void told.push(error) });
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/",
    authorize: () => allow(),
    resources: [Note.serve(storage)],
  });
  const front = await startPlain([view]);
  return {
    front,
    asked,
    told,
    [Symbol.asyncDispose]: async () => {
      await front[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const PATH = "/services/notes/apis/test.dev/v1/notes";
const NOTE = { apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "a" }, spec: { text: "x" } };
const json = (
  res: ServerResponse,
  code: number,
  { headers = {}, ...body }: { readonly headers?: object; readonly kind?: string },
) => res.writeHead(code, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

describe("a forwarded write", () => {
  it("is 503 with Retry-After if the upstream is down, without its address", async () => {
    await using view = await start(() => undefined, { url: "http://127.0.0.1:9" });
    const answer = await view.front.send(`POST ${PATH}`, NOTE);
    expect([answer.status, answer.headers["retry-after"], answer.body.reason]).to.deep.equal([
      503,
      "1",
      "ServiceUnavailable",
    ]);
    expect(answer.body.message).to.equal("the server behind this view cannot be reached; try again");
    expect(view.told.map(isTransportError)).to.deep.equal([true]);
  });

  for (const [what, handle] of Object.entries({
    "breaks off before it answers": (_req: IncomingMessage, res: ServerResponse) => res.destroy(),
    "breaks off within its answer": (_req: IncomingMessage, res: ServerResponse) => {
      res.writeHead(201, { "content-type": "application/json", "content-length": 1000 }).write('{"kind":"Note"');
      setImmediate(() => res.destroy());
    },
    "does not answer in time": () => undefined,
  }))
    it(`is 504 if the upstream ${what}, and is not retried by us or by typical clients`, async () => {
      await using view = await start(handle, { deadlines: { head: 200 } });
      for (const call of [`POST ${PATH}`, `PUT ${PATH}/a`, `DELETE ${PATH}/a`] as const) {
        const { status, headers, body } = await view.front.send(call, call.startsWith("DELETE") ? undefined : NOTE);
        expect([status, body.reason, headers["retry-after"]], call).to.deep.equal([504, "Timeout", undefined]);
        expect(body.message).to.match(/may or may not have taken effect; check before you retry$/);
      }
      expect(view.asked.map((call) => call.split(" ")[0])).to.deep.equal(["POST", "PUT", "DELETE"]);
    });

  it("is applied once, even if the response was lost", async () => {
    let cut = (): void => undefined;
    const done: string[] = [];
    const create: Storage["create"] = (_scope, object) => {
      done.push(object.metadata.name ?? "");
      cut();
      return object;
    };
    await using chain = await startChain({ resource: Note, kept: { create } as never });
    await using relay = await startRelay(Number(new URL(chain.behind.url).port));
    cut = relay.cut;
    await using upstream = upstreamAt(`http://127.0.0.1:${relay.port}/services/notes`);
    const told: unknown[] = [];
    const resources = [Note.serve(forward({ resource: Note, upstream, onError: (error) => told.push(error) }))];
    const view = defineVirtualWorkspace({ name: "notes", path: "/", authorize: () => allow(), resources });
    await using front = await startPlain([view]);
    expect((await front.send(`POST ${PATH}`, NOTE)).status).to.equal(504);
    expect(done).to.deep.equal(["a"]);
    expect(told.map(isTransportError)).to.deep.equal([true]);
  });

  it("returns the upstream's error with Retry-After, wherever the upstream wrote it", async () => {
    const status = {
      ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" },
      ...{ message: "slow down", reason: "TooManyRequests", code: 429 },
      details: { name: "a", kind: "notes", causes: [{ reason: "Busy", message: "very", field: "spec" }] },
    };
    await using view = await start((_req, res) => json(res, 429, { ...status, headers: { "retry-after": "7" } }));
    const { body, headers, status: code } = await view.front.send(`POST ${PATH}`, NOTE);
    expect([code, headers["retry-after"]]).to.deep.equal([429, "7"]);
    expect(body).to.deep.equal({ ...status, details: { ...status.details, retryAfterSeconds: 7 } });
  });

  it("returns all warnings, and no invalid ones", async () => {
    const warning = [
      '299 - "one, \\"quoted\\"", 299 kube "two" "Sun, 22 Nov 2026 00:00:00 GMT"',
      '199 - "misc"',
      "garbage",
    ];
    await using view = await start((_req, res) => json(res, 201, { ...NOTE, headers: { warning } }));
    const { headers } = await view.front.send(`POST ${PATH}`, NOTE);
    expect(headers["warning"]).to.equal('299 - "one, \\"quoted\\"", 299 - "two"');
  });

  it("keeps its code: an update that created an object is 201", async () => {
    await using view = await start((_req, res) => json(res, 201, NOTE));
    expect((await view.front.send(`PUT ${PATH}/a`, NOTE)).status).to.equal(201);
  });

  for (const [what, code, handle] of [
    [
      "that does not know us is 503: it heals when the credential is renewed",
      503,
      (res: ServerResponse) => json(res, 401, {}),
    ],
    [
      "that leads elsewhere is 503, and not followed",
      503,
      (res: ServerResponse) => res.writeHead(307, { location: "http://127.0.0.1:9/" }).end(),
    ],
    [
      "that is no API server is 504: it may be done",
      504,
      (res: ServerResponse) => res.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    ],
    [
      "of which a proxy says that it is away is 503",
      503,
      (res: ServerResponse) => res.writeHead(503).end("no healthy upstream"),
    ],
    [
      "of which a proxy says that something went wrong is 504: it may be done",
      504,
      (res: ServerResponse) => res.writeHead(502).end("bad gateway"),
    ],
    [
      "that has another form of 404 is 404",
      404,
      (res: ServerResponse) => res.writeHead(404).end("404 page not found\n"),
    ],
  ] as const)
    it(what, async () => {
      await using view = await start((_req, res) => void handle(res));
      const { status, body, headers } = await view.front.send(`POST ${PATH}`, NOTE);
      expect([status, body.kind]).to.deep.equal([code, "Status"]);
      expect(headers["retry-after"]).to.equal(code === 503 ? "1" : undefined);
      expect(body.message).not.to.include("<p>").and.not.to.include("127.0.0.1");
      expect(view.told.map(String).join()).to.match(code === 404 ? /^$/ : /^Error: http:\/\/127\.0\.0\.1:\d+ \w/);
      expect(view.asked.length).to.equal(1);
    });

  it("ends when the caller disconnects", async () => {
    let arrived = (_req: IncomingMessage): void => undefined;
    const request = new Promise<IncomingMessage>((resolve) => {
      arrived = resolve;
    });
    await using view = await start((req) => arrived(req));
    const leaving = new AbortController();
    const call = fetch(`${view.front.url}${PATH}`, {
      method: "POST",
      body: JSON.stringify(NOTE),
      headers: { authorization: "Bearer alice", "content-type": "application/json" },
      signal: leaving.signal,
    }).catch((error: Error) => error.name);
    const closed = once((await request).socket, "close");
    leaving.abort();
    expect(await call).to.equal("AbortError");
    await closed;
  });

  it("uses the path and cluster, whatever they are", async () => {
    await using view = await start((_req, res) => json(res, 200, NOTE));
    await view.front.send(`DELETE ${PATH}/a%20b%3Ac%3F?gracePeriodSeconds=3`);
    expect(view.asked).to.deep.equal(["DELETE /apis/test.dev/v1/notes/a%20b:c%3F"]);
  });
});
