// Mapped paths: the target of a request, the identity that it receives, and several equal backends.
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { REMOTE_HEADERS } from "@virtual-workspaces/client/http";
import { expect } from "chai";
import { outcome } from "../_support/plain.ts";
import { until } from "../_support/until.ts";
import { type Front, startFront } from "./support.ts";

interface Backend extends AsyncDisposable {
  readonly url: string;
  readonly asked: string[];
  isReady: boolean;
}

/** Starts a server that returns its name, the request and the caller's identity. */
async function startBackend(name: string): Promise<Backend> {
  const asked: string[] = [];
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    if (req.url === "/readyz") {
      res.writeHead(backend.isReady ? 200 : 503).end();
      return;
    }
    asked.push(req.url ?? "");
    const told = req.rawHeaders.flatMap((text, at) =>
      at % 2 === 0 && /^(x-|auth|imp)/i.test(text) && !/^x-kcp/i.test(text)
        ? [`${text}: ${req.rawHeaders[at + 1]}`]
        : [],
    );
    res.setHeader("content-type", "application/json").end(JSON.stringify({ name, url: req.url, told }));
  };
  const server = createServer(answer);
  server.on("upgrade", (req, socket) => {
    socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n${name} ${req.headers["x-remote-user"]}`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const backend: Backend = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    isReady: true,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return backend;
}

describe("a mapping of paths", function () {
  this.timeout(30_000);
  let stack: AsyncDisposableStack;

  beforeEach(() => {
    stack = new AsyncDisposableStack();
  });
  afterEach(() => stack.disposeAsync());

  const backend = async (name: string): Promise<Backend> => stack.use(await startBackend(name));
  const front = async (...args: Parameters<typeof startFront>): Promise<Front> => stack.use(await startFront(...args));

  it("forwards to the most specific path, with path and query unchanged", async () => {
    const names = ["/", "/services/", "/services/a/b", "/services/{any}/b", "/e2e/clusters/{cluster}"];
    const servers = await Promise.all(names.map(backend));
    const mapping = names.map((path, at) => ({ path, backends: [`${servers[at]?.url}/base`] }));
    const { get } = await front(undefined, { mapping });
    const to: Record<string, string> = {
      "/services/a/b": "/services/a/b",
      "/services/a/b/c%2Fd//e?x=%2F&y": "/services/a/b",
      "/services/x/b": "/services/{any}/b",
      "/services/a/bc": "/services/",
      "/services/a": "/services/",
      "/e2e/clusters/root:a/api": "/e2e/clusters/{cluster}",
      "/e2e/clusters": "/",
      "/servicesx/a/b": "/",
      "/api": "/",
    };
    for (const [path, name] of Object.entries(to)) {
      const { body } = await get(path, { user: "admin" });
      expect([body.name, body.url], path).to.deep.equal([name, `/base${path}`]);
    }
  });

  it("answers 404 for an unmapped path", async () => {
    const only = await backend("only");
    const { get } = await front(undefined, { mapping: [{ path: "/services/only", backends: [only.url] }] });
    for (const path of ["/services/other", "/services/onlyx", "/", "/clusters/root/api"])
      expect((await get(path)).status, path).to.equal(404);
    expect(only.asked).to.deep.equal([]);
  });

  it("identifies the caller by the configured headers, and strips them from clients", async () => {
    const server = await backend("mine");
    const headers = { ...REMOTE_HEADERS, user: "X-My-User", group: "X-My-Group", extraPrefix: "X-My-Extra-" };
    const mapping = [
      { path: "/services/mine", backends: [server.url], headers },
      { path: "/services/usual", backends: [server.url] },
    ];
    const { get } = await front(undefined, { mapping });
    const forged = { "x-my-user": "root", "X-MY-Group": "system:masters", "x-my-extra-a": "b", "x-remote-group": "x" };
    const mine = await get("/services/mine", { user: "alice", headers: forged });
    expect(mine.body.told).to.deep.equal(["X-My-User: alice", "X-My-Group: system:authenticated"]);
    const usual = await get("/services/usual", { user: "alice", headers: forged });
    expect(usual.body.told).to.deep.equal(["X-Remote-User: alice", "X-Remote-Group: system:authenticated"]);
    const stranger = await get("/services/mine", { user: "unknown", headers: forged });
    expect(stranger.body.told).to.deep.equal(["Authorization: Bearer unknown"]);
  });

  it("can change while the proxy runs", async () => {
    const late = await backend("late");
    const { get, proxy } = await front(undefined);
    expect((await get("/services/late/x")).status).to.equal(404);
    const added = proxy.add({ path: "/services/late", backends: [late.url] });
    expect((await get("/services/late/x")).body.name).to.equal("late");
    expect(() => proxy.add({ path: "/services/late/", backends: [late.url] })).to.throw(
      "mapping of /services/late/ already exists",
    );
    expect(() => proxy.add({ path: "/clusters/", backends: [] })).to.throw("cannot add /clusters/");
    expect(() => proxy.add({ path: "/x", backends: [] })).to.throw("set at least one backend");
    expect(() => proxy.add({ path: "/x/../y", backends: [late.url] })).to.throw("must not have . or .. segments");
    await added[Symbol.asyncDispose]();
    expect((await get("/services/late/x")).status).to.equal(404);
  });

  it("keeps a caller on one of several backends, and uses another one if that is not ready", async () => {
    const servers = [await backend("one"), await backend("two")] as const;
    const mapping = [{ path: "/services/both", backends: servers.map(({ url }) => url) }];
    const told: string[] = [];
    const { get, send } = await front(undefined, { mapping, log: ({ message }) => told.push(message) });
    const asked = async (user = "alice"): Promise<string> => (await get("/services/both", { user })).body.name;
    const first = await asked();
    for (let times = 0; times < 5; times++) expect(await asked()).to.equal(first);
    const [own, other] = first === "one" ? servers : [servers[1], servers[0]];
    own.isReady = false;
    await until(async () => (await asked()) !== first);
    own.isReady = true;
    await until(async () => (await asked()) === first);
    // The backend ends at once: safe requests go to the other one now, and then all requests do.
    await own[Symbol.asyncDispose]();
    expect(await asked()).to.not.equal(first);
    expect((await send("POST /services/both/x", {})).body.name).to.not.equal(first);
    expect((await get("/metrics", { user: "admin" })).text).to.contain(
      `virtual_workspaces_backend_ready{path="/services/both",backend="${own.url}"} 0`,
    );
    await other[Symbol.asyncDispose]();
    expect(outcome(await get("/services/both")).slice(0, 2)).to.deep.equal([503, "ServiceUnavailable"]);
    expect(told.slice(0, 2)).to.deep.equal(["backend of a path is not ready", "backend of a path is ready"]);
  });

  it("forwards upgrades", async () => {
    const server = await backend("up");
    const { url } = await front(undefined, { mapping: [{ path: "/services/up", backends: [server.url] }] });
    const upgraded = Promise.withResolvers<string>();
    const headers = { connection: "Upgrade", upgrade: "x", authorization: "Bearer admin", "x-remote-user": "root" };
    const req = request(`${url}/services/up/exec`, { headers }).end();
    req.on("upgrade", (_, socket, head) => {
      let text = head.toString();
      socket.on("data", (piece) => {
        text += piece;
      });
      socket.on("end", () => {
        socket.end();
        upgraded.resolve(text);
      });
    });
    req.on("error", upgraded.reject);
    req.on("response", ({ statusCode }) => upgraded.reject(new Error(`${statusCode}`)));
    expect(await upgraded.promise).to.equal("up admin");
  });
});
