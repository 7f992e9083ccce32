// Upstreams at paths below /services of a server of workspaces.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mappedServices } from "@virtual-workspaces/front-proxy";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { startWorkspaces } from "../workspace-server/support/workspaces.ts";

describe("mappedServices", function () {
  this.timeout(30_000);
  const asked: string[][] = [];
  const behind = createServer((req, res) => {
    asked.push([
      req.url ?? "",
      ...req.rawHeaders.filter((_, at, all) => /^(x-remote|auth|imp)/i.test(all[at - (at % 2)] ?? "")),
    ]);
    res.end("behind");
  });
  let url = "";

  before(async () => {
    await new Promise<void>((resolve) => behind.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(behind.address() as AddressInfo).port}`;
  });
  after(() => new Promise((resolve) => behind.close(resolve)));
  beforeEach(() => {
    asked.length = 0;
  });

  const { log } = testLog();

  it("forwards the identity of known callers, without system groups, and never their tokens", async () => {
    const mapping = [{ path: "/services/mine", backends: [url] }];
    await using server = await startWorkspaces(undefined, { virtualWorkspaces: [mappedServices({ mapping, log })] });
    const forged = { "x-remote-user": "x", "x-remote-group": "system:masters" };
    expect((await server.get("/services/mine/a?b=c", { user: "root", headers: forged })).text).to.equal("behind");
    expect(asked).to.deep.equal([
      ["/services/mine/a?b=c", "X-Remote-User", "shard-admin", "X-Remote-Group", "system:authenticated"],
    ]);
    expect((await server.get("/services/mine/a", { user: "nobody" })).status).to.equal(401);
    expect(asked).to.have.length(1);
  });

  it("serves neither paths of the server's views nor unmapped paths", async () => {
    const mapping = [
      { path: "/services/workspaces", backends: [url] },
      { path: "/services/{any}/x", backends: [url] },
    ];
    await using server = await startWorkspaces(undefined, { virtualWorkspaces: [mappedServices({ mapping, log })] });
    expect((await server.get("/services/workspaces/clusters/*/apis", { user: "admin" })).body.kind).to.equal(
      "APIGroupList",
    );
    expect((await server.get("/services/other/x/y", { user: "admin" })).text).to.equal("behind");
    expect((await server.get("/services/other/y", { user: "admin" })).status).to.equal(404);
    expect(asked).to.have.length(1);
  });

  it("accepts paths below /services only", () => {
    const mapping = [{ path: "/else", backends: [url] }];
    expect(() => mappedServices({ mapping, log })).to.throw("mapping of /else: use a path below /services/");
  });
});
