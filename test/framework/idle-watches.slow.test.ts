// Thousands of idle watches: two thousand over TLS, each on its own connection or a hundred on one, and then an event for all
// of them: none is missed or duplicated.
import type { ClientRequest } from "node:http";
import { Agent, request } from "node:https";
import { allow, createServer, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { Http2Client } from "../_support/http2.ts";
import { Note } from "../_support/note.ts";

const servers = Authority.root("servers");
const keys = servers.issue({ name: "server", usages: [SERVER_AUTH] });
const TLS = { ca: servers.cert };
const PATH = "/services/notes/apis/test.dev/v1/notes?watch=true";
const headers = { authorization: "Bearer token" };
const WATCHES = 2000;
/** Number of watches that begin together. */
const TOGETHER = 100;

async function start() {
  const notes = Note.collection();
  notes.in("").set("first", {});
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/",
    authorize: () => allow(),
    resources: [Note.serve(notes)],
  });
  const server = createServer({
    virtualWorkspaces: [view],
    authentication: [staticTokens({ token: { name: "alice" } })],
    tls: keys,
    log: testLog().log,
  });
  const { port } = await server.listen({ port: 0 });
  return { port, notes: notes.in(""), [Symbol.asyncDispose]: () => server.close() };
}

/** Counts events of watches, by name. */
class Told {
  readonly #counts = new Map<string, number>();
  #wake: () => void = () => undefined;
  #failure: Error | undefined;

  /** Reads one watch, whose events arrive in pieces of any length. */
  listener(): (piece: string) => void {
    let rest = "";
    return (piece) => {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      for (const [, name = ""] of lines.join("\n").matchAll(/"metadata":\{"name":"(\w+)"/g))
        this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
      this.#wake();
    };
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  async all(name: string, count: number): Promise<void> {
    while (this.#failure === undefined && (this.#counts.get(name) ?? 0) < count)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failure !== undefined) throw this.#failure;
    expect(this.#counts.get(name)).to.equal(count);
  }
}

describe("two thousand idle watches", function () {
  this.timeout(120_000);

  it("share twenty connections over HTTP/2, and each gets the event", async () => {
    await using server = await start();
    const told = new Told();
    const clients: Http2Client[] = [];
    try {
      while (clients.length * TOGETHER < WATCHES) {
        const client = await Http2Client.open(server.port, TLS);
        clients.push(client);
        for (let at = 0; at < TOGETHER; at++)
          client.begin({ path: PATH, headers }).setEncoding("utf8").on("data", told.listener());
        // One after the other: of two thousand at once, some would get 429.
        await told.all("first", clients.length * TOGETHER);
      }
      server.notes.set("second", {});
      await told.all("second", WATCHES);
    } finally {
      for (const client of clients) client[Symbol.dispose]();
    }
  });

  it("each have a connection over HTTP/1.1, and each gets the event", async () => {
    await using server = await start();
    const told = new Told();
    const agent = new Agent({ ...TLS, keepAlive: false, maxCachedSessions: 0 });
    const watches: ClientRequest[] = [];
    const open = (): void => {
      const req = request({ port: server.port, host: "127.0.0.1", path: PATH, headers, agent });
      const listener = told.listener();
      req.on("error", (error) => told.fail(error));
      req.on("response", (res) => {
        if (res.statusCode !== 200) told.fail(new Error(`watch ${watches.length} got ${res.statusCode}`));
        res
          .setEncoding("utf8")
          .on("data", listener)
          .on("error", (error) => told.fail(error));
      });
      watches.push(req.end());
    };
    try {
      while (watches.length < WATCHES) {
        for (let at = 0; at < TOGETHER; at++) open();
        await told.all("first", watches.length);
      }
      server.notes.set("second", {});
      await told.all("second", WATCHES);
    } finally {
      for (const watch of watches) watch.destroy();
      agent.destroy();
    }
  });
});
