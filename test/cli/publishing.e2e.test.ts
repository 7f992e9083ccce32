// A view in its own process that publishes its URL: the URL stays while the process is down, and is not written twice.

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { manifests } from "../../examples/over-workspaces/noticeboard.ts";
import { root } from "../../tools/install.mjs";
import { until } from "../_support/until.ts";
import { Apart, ask } from "./support/views-of-workspaces.ts";

const BOARDS = "/clusters/root/apis/example.dev/v1/noticeboards";
const CRDS = "/clusters/root/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

describe("a view that publishes its URL, run by serve", function () {
  this.timeout(120_000);

  it("has the URL of the Shard until it is withdrawn, also while no process runs it", async () => {
    const view = join(root, "examples/over-workspaces/noticeboard.ts");
    await using apart = await Apart.ready({ view, flags: ["--shard-name", "root"] });
    const { shard } = apart;
    expect((await shard.create(CRDS, manifests[0] ?? {})).code).to.equal(201);
    const board = { apiVersion: "example.dev/v1", kind: "Noticeboard", metadata: { name: "main" }, spec: {} };
    await until(async () => (await shard.create(BOARDS, board)).code === 201);
    const read = async () => JSON.parse((await shard.get(`${BOARDS}/main`, { token: "root-token" })).body);
    let found = await read();
    while (found.status?.endpoints === undefined) {
      await delay(50);
      found = await read();
    }
    const { url } = await apart.published();
    expect(found.status.endpoints).to.deep.equal([{ url: `${url}/noticeboard/main` }]);
    const path = `${found.status.endpoints[0].url}/clusters/*/api/v1/configmaps`;
    const code = async (token: string): Promise<number> =>
      (await ask(path, { ca: apart.authority.ca, headers: { authorization: `Bearer ${token}` } })).code;
    expect([await code("root-token"), await code("alice-token")]).to.deep.equal([200, 403]);

    apart.views.signal("SIGKILL");
    await apart.views.ended;
    expect((await read()).metadata.resourceVersion).to.equal(found.metadata.resourceVersion);
    await apart.serveAgain();
    await until(async () => (await code("root-token").catch(() => 0)) === 200);
    // Another owner's URL stays, and does not cause a write.
    expect((await shard.create(BOARDS, { ...board, metadata: { name: "other" } })).code).to.equal(201);
    const other = async () => JSON.parse((await shard.get(`${BOARDS}/other`, { token: "root-token" })).body);
    await until(async () => (await other()).status?.endpoints !== undefined);
    expect((await read()).metadata.resourceVersion).to.equal(found.metadata.resourceVersion);
  });
});
