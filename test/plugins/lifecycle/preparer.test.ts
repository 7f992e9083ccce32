// The example controller that prepares workspaces, on two shards whose URLs the type lists.
import { PREPARES_ANNOTATION, preparedLabel } from "@virtual-workspaces/lifecycle";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { manifests, preparer } from "../../../examples/over-workspaces/preparer.ts";
import type { WatchEvent } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { Stores, startSharded } from "../../workspace-server/shards/support.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { LC, lifecycleViews, MAPS, Owner, root } from "./support/owner.ts";

const WORKSPACES = "/clusters/root:team/apis/tenancy.kcp.io/v1alpha1/workspaces";
const TYPES = "/apis/tenancy.kcp.io/v1alpha1/workspacetypes";

describe("examples/over-workspaces/preparer.ts", function () {
  this.timeout(60_000);
  const stores = new Stores();
  let server: Workspaces;
  let owner: Owner;

  before(async () => {
    const own = loopback();
    const everywhere = { cache: own.upstream, reviews: own.upstream };
    server = await startSharded(stores, {
      loopback: own,
      virtualWorkspaces: lifecycleViews({ ...everywhere, upstream: own.upstream }),
      shards: {
        virtualWorkspaces: (_, context) => lifecycleViews({ ...everywhere, upstream: context.loopback.upstream }),
      },
    });
    owner = await Owner.make(server, {});
    for (const type of manifests) await owner.post(`/clusters/${owner.cluster}${TYPES}`, type);
  });

  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
  });

  /** Creates a workspace on a shard. @returns its logical cluster, once it is Ready */
  async function ready(name: string, shard: string): Promise<string> {
    const spec = {
      type: { name: "greeted", path: "root:owner" },
      location: { selector: { matchLabels: { name: shard } } },
    };
    const about = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
    await owner.post(WORKSPACES, about, "bob");
    const { body } = await untilAnswer(
      () => server.get(`${WORKSPACES}/${name}`, root),
      ({ body: { status } }) => status?.phase === "Ready",
    );
    return body.spec.cluster;
  }

  it("prepares existing and new workspaces, on each shard", async () => {
    const shards = ["root", "shard-1"];
    const before = await Promise.all(shards.map((shard) => ready(`before-on-${shard}`, shard)));
    const config = {
      upstream: { url: server.url, credentials: { get: () => ({ headers: ["Authorization", "Bearer alice"] }) } },
      cluster: owner.cluster,
    };
    const failures: string[] = [];
    // The controller has to read the type.
    await owner.let("alice", ["get", "list", "watch", "prepare"], "readers");
    await using _running = preparer(config, ({ error }) => failures.push(String(error)));
    const then = await Promise.all(shards.map((shard) => ready(`after-on-${shard}`, shard)));
    const { key, value } = preparedLabel(`${owner.cluster}:greeted`);
    for (const cluster of [...before, ...then]) {
      await owner.until(cluster, ({ body }) => body.metadata.labels?.[key] === value);
      const { body } = await server.get(`/clusters/${cluster}${MAPS}/welcome`, root);
      expect(body.data).to.deep.equal({ from: "the provider" });
    }
    expect(failures.filter((each) => !each.includes("Conflict"))).to.deep.equal([]);
  });

  it("gets from each shard only its own workspaces", async () => {
    const [here, there] = [await ready("here", "root"), await ready("there", "shard-1")];
    const type = `${TYPES}/greeted`;
    const { body } = await server.get(`/clusters/${owner.cluster}${type}`, root);
    expect(body.metadata.annotations[PREPARES_ANNOTATION]).to.equal("true");
    for (const cluster of [here, there]) await owner.until(cluster, ({ body: { status } }) => status.phase === "Ready");
    const view = (cluster: string, path = "/cluster") =>
      server.get(`/services/preparingworkspaces/${owner.cluster}:greeted/clusters/${cluster}${LC}${path}`);
    expect((await view(here)).status).to.equal(200);
    expect((await view(there)).status).to.be.oneOf([403, 404]);
    const { items } = (await view("*", "")).body;
    const clusters = items.map(({ metadata }: WatchEvent["object"]) => metadata.annotations?.["kcp.io/cluster"]);
    expect(clusters).to.deep.equal([here]);
  });
});
