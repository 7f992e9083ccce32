// Invalid tokens: the front proxy limits a client that keeps trying them, and other clients are not affected.
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { staticTokens } from "@virtual-workspaces/framework";
import type { AuthenticationFailureLimits } from "@virtual-workspaces/framework/server";
import { createFrontProxy, type FrontProxy } from "@virtual-workspaces/front-proxy";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Stores } from "../workspace-server/shards/support.ts";
import { startFront, startShards } from "./support.ts";

/** No address is trusted, and the budget does not recover during the test. */
const STRICT: AuthenticationFailureLimits = { failures: 3, forgiveEvery: 3_600_000, trusted: [] };

/** Sends a request from an address of this machine. */
async function from(address: string, url: string, headers: Record<string, string> = {}) {
  const req = request(url, { agent: false, localAddress: address, headers }).end();
  const [res] = (await once(req, "response")) as [IncomingMessage];
  res.resume();
  await once(res, "end");
  return { status: res.statusCode, retryAfter: res.headers["retry-after"] };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("failed logins through a front proxy", function () {
  this.timeout(30_000);
  let behind: Server;
  let asked: number;
  let front: FrontProxy;
  let url: string;

  beforeEach(async () => {
    asked = 0;
    behind = createServer((req, res) => {
      asked += 1;
      res.writeHead(req.headers.authorization === "Bearer theirs" || "x-remote-user" in req.headers ? 200 : 401).end();
    });
    await new Promise<void>((resolve) => behind.listen(0, "127.0.0.1", resolve));
    front = createFrontProxy({
      mapping: [{ path: "/services/x", backends: [`http://127.0.0.1:${(behind.address() as AddressInfo).port}`] }],
      authentication: [staticTokens({ alice: { name: "alice" } })],
      authenticationFailures: STRICT,
      log: testLog().log,
    });
    url = `${(await front.listen({ port: 0, host: "127.0.0.1" })).url}/services/x`;
  });
  afterEach(async () => {
    await front.close();
    await new Promise((resolve) => behind.close(resolve));
  });

  it("count against the client, and reach no upstream beyond the limit", async () => {
    for (let times = 0; times < 3; times++)
      expect((await from("127.0.0.2", url, bearer(`guess-${times}`))).status).to.equal(401);
    const { status, retryAfter } = await from("127.0.0.2", url, bearer("guess"));
    expect(status).to.equal(429);
    expect(Number(retryAfter)).to.be.above(0);
    expect(asked).to.equal(3);
  });

  it("do not affect other clients, anonymous requests or valid tokens", async () => {
    for (let times = 0; times < 5; times++) {
      expect((await from("127.0.0.3", url)).status).to.equal(401);
      expect((await from("127.0.0.3", url, bearer("theirs"))).status).to.equal(200);
      expect((await from("127.0.0.3", url, bearer("alice"))).status).to.equal(200);
    }
    for (let times = 0; times < 3; times++) await from("127.0.0.2", url, bearer("guess"));
    expect((await from("127.0.0.2", url, bearer("theirs"))).status).to.equal(429);
    expect((await from("127.0.0.3", url, bearer("theirs"))).status).to.equal(200);
  });

  it("count for upgrades as well", async () => {
    const upgrade = { connection: "Upgrade", upgrade: "x", ...bearer("guess") };
    for (let times = 0; times < 3; times++) expect((await from("127.0.0.2", url, upgrade)).status).to.equal(401);
    expect((await from("127.0.0.2", url, upgrade)).status).to.equal(429);
    expect(asked).to.equal(3);
  });
});

describe("failed logins at a shard behind a front proxy", function () {
  this.timeout(30_000);

  it("do not affect other clients if the shard trusts the front proxy's address", async () => {
    await using stack = new AsyncDisposableStack();
    const shards = stack.use(
      await startShards(stack.use(new Stores()), { authenticationFailures: { ...STRICT, trusted: ["127.0.0.1"] } }),
    );
    const front = stack.use(await startFront(shards.url, { authenticationFailures: STRICT }));
    const path = `${front.url}/clusters/root/api`;
    const token = bearer("shard-token");
    for (const address of ["127.0.0.2", "127.0.0.4"]) {
      for (let times = 0; times < 3; times++) expect((await from(address, path, bearer("guess"))).status).to.equal(401);
      expect((await from(address, path, token)).status).to.equal(429);
    }
    expect((await from("127.0.0.3", path, token)).status).to.equal(200);
  });
});
