// Imported Spaces in their manager: Ready once their access has reached them, and the reason until then.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { RestrictedTarget } from "@virtual-workspaces/kcp/targets";
import { Space, type SpaceManagerOptions } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { createAuthority } from "../../_support/server.ts";
import { until } from "../../_support/until.ts";
import { type AnySpace, conditionOf, isReady, Management, messageOf } from "./support/management.ts";

const TOKEN = "a-token-that-is-secret";

describe("an imported Space", function () {
  this.timeout(60_000);
  let management: Management;
  let stack: AsyncDisposableStack;

  before(async () => {
    management = await Management.start();
  });
  after(() => management?.[Symbol.asyncDispose]());
  beforeEach(() => {
    stack = new AsyncDisposableStack();
  });
  afterEach(() => stack.disposeAsync());

  const start = (options: Partial<SpaceManagerOptions> = {}): AsyncDisposable => stack.use(management.manager(options));

  /** Starts an API server without objects that counts its requests. */
  async function server(
    answer: RequestListener = answerGroups,
  ): Promise<{ readonly url: string; readonly seen: string[] }> {
    const seen: string[] = [];
    const http = createServer((req, res) => {
      seen.push(`${req.url} ${req.headers.authorization}`);
      answer(req, res);
    });
    return { url: `http://127.0.0.1:${await listening(http)}`, seen };
  }

  async function listening(http: Server | ReturnType<typeof createTcpServer>): Promise<number> {
    const sockets = new Set<Socket>();
    http.on("connection", (socket: Socket) => void sockets.add(socket));
    await once(http.listen(0, "127.0.0.1"), "listening");
    stack.defer(() => {
      for (const socket of sockets) socket.destroy();
      http.close();
    });
    return (http.address() as AddressInfo).port;
  }

  /** Creates a Space with its Secret, and removes both at the end. */
  async function lend(name: string, url: string, token = TOKEN): Promise<void> {
    await write(name, url, token);
    await management.make("default", name, { Type: "imported", accessscopetype: "External" });
    stack.defer(() => management.removeSpace("default", name));
  }

  function write(name: string, url: string, token = TOKEN): Promise<void> {
    return management.keep(`external-${name}`, { kubeconfig: management.kubeconfig("root:far", token, url) });
  }

  /** Waits for a reason of Ready. */
  async function reason(name: string, wanted: string): Promise<AnySpace> {
    const space = await management.until("default", name, (one) => conditionOf(one, "Ready") === wanted);
    return space as AnySpace;
  }

  it("is Ready once its access has reached it, by one request, and stays so while it is away", async () => {
    const manager = start();
    let isAway = false;
    const { url, seen } = await server((req, res) => {
      if (isAway) res.destroy();
      else answerGroups(req, res);
    });
    await lend("far", url);
    const far = await management.until("default", "far", isReady);
    expect(conditionOf(far, "Reached")).to.equal("True");
    expect(seen).to.eql([`/clusters/root:far/apis Bearer ${TOKEN}`]);
    expect(far?.status?.spaceID).to.equal(far?.metadata.uid);
    // Security: a digest without the Secret does not tell the token.
    expect(JSON.stringify(far)).to.not.include(TOKEN);
    // Neither a change of the object nor another manager connects again.
    isAway = true;
    await manager[Symbol.asyncDispose]();
    start();
    const labels = { a: "b" };
    await management.client.resource(Space).in("default").mergePatch("far", { metadata: { labels } });
    await lend("later", (await server()).url);
    await reason("later", "True");
    expect(conditionOf(await reason("far", "True"), "Reached")).to.equal("True");
    expect(seen).to.have.length(1);
  });

  const CAUSES: Readonly<Record<string, () => Promise<Cause>>> = {
    "shows a rejected credential in its status, and is Ready once that is mended": async () => ({
      url: (await server((_, res) => void res.writeHead(401).end())).url,
      reason: "CredentialRefused",
      message: "the target rejects the credential of the Secret: renew it",
    }),
    "shows an address without a server in its status, and is Ready once that is mended": async () => ({
      url: "http://127.0.0.1:1",
      reason: "Unreachable",
      message: "cannot reach the target: check that it runs, and that this server can connect to it",
    }),
    "shows an untrusted certificate in its status, and is Ready once that is mended": async () => {
      const { cert, key } = createAuthority().server;
      const https = createTlsServer({ cert, key }, (_, res) => void res.end());
      return {
        url: `https://127.0.0.1:${await listening(https)}`,
        reason: "Untrusted",
        message:
          "cannot verify the target's certificate: set ca.crt in the Secret, or certificate-authority-data in its kubeconfig",
      };
    },
    "shows a redirect in its status, and is Ready once that is mended": async () => ({
      url: (await server((_, res) => void res.writeHead(302, { location: "http://127.0.0.1:1/" }).end())).url,
      reason: "Redirects",
      message: "the target answers with a redirect, which is not followed: set the URL that it leads to",
    }),
    "shows a server of something else in its status, and is Ready once that is mended": async () => ({
      url: (await server((_, res) => void res.writeHead(404).end("<html>"))).url,
      reason: "Failing",
      message: "the target does not answer like a Kubernetes API server: check its URL",
    }),
    "shows a server without an answer in its status, and is Ready once that is mended": async () => ({
      url: `http://127.0.0.1:${await listening(createTcpServer((socket) => socket.resume()))}`,
      reason: "Unreachable",
      message: "the target did not answer in time: check that it runs",
    }),
    "shows an address that the dialer rejects in its status, and is Ready once that is mended": async () => ({
      url: "http://10.1.2.3:6443",
      options: {
        dial:
          () =>
          async ({ host }) => {
            throw new RestrictedTarget(`${host}: its address is restricted for imported Spaces`);
          },
      },
      reason: "Restricted",
      message: "10.1.2.3: its address is restricted for imported Spaces",
    }),
    "shows an address that the rewrite rejects in its status, and is Ready once that is mended": async () => ({
      url: "http://10.1.2.3:6443",
      options: {
        rewrite: () => {
          throw new Error("not this one");
        },
      },
      reason: "Refused",
      message: "not this one",
    }),
  };

  for (const [name, cause] of Object.entries(CAUSES))
    it(name, async () => {
      const { url, options = {}, reason: wanted, message } = await cause();
      const manager = start(options);
      await lend("far", url);
      const far = await reason("far", `False ${wanted}`);
      expect([far.status?.Phase, messageOf(far, "Reached"), messageOf(far, "Ready")]).to.eql([
        "NotReady",
        message,
        message,
      ]);
      expect(far.status?.spaceID).to.equal(undefined);
      expect(JSON.stringify(far)).to.not.include(TOKEN);
      expect(management.logged.join("\n")).to.not.include(TOKEN);
      await manager[Symbol.asyncDispose]();
      start();
      await write("far", (await server()).url);
      await management.until("default", "far", isReady);
    });

  it("is Ready with a credential that may read nothing, since the server has accepted it", async () => {
    start();
    await lend("far", (await server((_, res) => void res.writeHead(403).end())).url);
    await management.until("default", "far", isReady);
  });

  it("is reached again after a change of its credential, and is not Ready if that fails", async () => {
    start();
    const { url } = await server((req, res) => {
      if (req.headers.authorization === "Bearer good") answerGroups(req, res);
      else res.writeHead(401).end();
    });
    await lend("far", url, "good");
    await reason("far", "True");
    await write("far", url, "bad");
    const far = await reason("far", "False CredentialRefused");
    expect(far.status?.Phase).to.equal("NotReady");
    await write("far", url, "good");
    await management.until("default", "far", isReady);
  });

  it("is tried with a backoff while it fails, however often it changes, and at once with another credential", async () => {
    start({ longestWait: 60_000 });
    let isFixed = false;
    const { url, seen } = await server((req, res) => {
      if (isFixed) answerGroups(req, res);
      else res.writeHead(503).end();
    });
    await lend("far", url);
    await reason("far", "False Failing");
    const spaces = management.client.resource(Space).in("default");
    for (let n = 0; n < 40; n++) await spaces.mergePatch("far", { metadata: { labels: { n: `${n}` } } });
    // The first delays are 0.25 to 0.5 s, 0.5 to 1 s and 1 to 2 s.
    expect(seen.length).to.be.lessThan(8);
    isFixed = true;
    await write("far", url, "other");
    await management.until("default", "far", isReady);
  });

  it("is reached while many others do not answer", async () => {
    start();
    const silent = `http://127.0.0.1:${await listening(createTcpServer((socket) => socket.resume()))}`;
    const names = Array.from({ length: 80 }, (_, n) => `silent-${n}`);
    await Promise.all(names.map((name) => lend(name, silent)));
    await lend("far", (await server()).url);
    await management.until("default", "far", isReady);
    await reason("silent-79", "False Unreachable");
  });

  it("is left alone by a manager that stops", async () => {
    const begun: Socket[] = [];
    const port = await listening(createTcpServer((socket) => void begun.push(socket.resume())));
    const manager = start({ longestWait: 60_000 });
    await lend("far", `http://127.0.0.1:${port}`);
    await until(() => begun.length === 1);
    const [socket] = begun;
    const closed = once(socket as Socket, "close");
    await manager[Symbol.asyncDispose]();
    await closed;
    expect(conditionOf(await reason("far", "False Connecting"), "Reached")).to.equal("False Connecting");
  });
});

interface Cause {
  readonly url: string;
  readonly options?: Partial<SpaceManagerOptions>;
  readonly reason: string;
  readonly message: string;
}

const answerGroups: RequestListener = (_, res) => {
  res
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ kind: "APIGroupList", apiVersion: "v1", groups: [] }));
};
