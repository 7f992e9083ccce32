// Why: kcp's own front proxy and its server of views start in front of this server. Building kcp takes minutes, so this repeats
// the requests of kcp-front-proxy 0.32 at its start, as our audit log recorded them.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { APIS, CORE, root, TENANCY } from "./support.ts";

/** Exports whose identities it needs before it listens. */
const NEEDED = ["tenancy.kcp.io", "topology.kcp.io", "shards.core.kcp.io", "migration.kcp.io"];

/** Returns the names of the objects that an informer reads first, until the bookmark that ends them. */
async function initial(server: Workspaces, path: string): Promise<string[]> {
  const query = "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true";
  await using watch = await server.watch(`${path}?${query}&timeout=6m37s&timeoutSeconds=397`, root);
  const isEnd = ({ metadata }: KubeObject): boolean => metadata.annotations?.["k8s.io/initial-events-end"] === "true";
  const events = await watch.until(({ type, object }) => type === "BOOKMARK" && isEnd(object as KubeObject));
  return events.flatMap(({ type, object }) => (type === "ADDED" ? [`${(object as KubeObject).metadata.name}`] : []));
}

describe("kcp's front proxy", function () {
  this.timeout(30_000);

  it("finds the identities of all exports that it needs, and the shards, workspaces and logical clusters", async () => {
    await using server = await startWorkspaces();
    const identities = new Map<string, string>();
    for (const name of NEEDED) {
      const { status, body } = await server.get(`/clusters/root${APIS}/apiexports/${name}`, root);
      expect(status, name).to.equal(200);
      expect(body.status.identityHash, name).to.match(/^[0-9a-f]{64}$/);
      identities.set(name, body.status.identityHash);
    }
    expect(new Set(identities.values())).to.have.lengthOf(NEEDED.length);
    expect(await initial(server, `/clusters/root${CORE}/shards`)).to.deep.equal(["root"]);
    expect(await initial(server, `/clusters/%2A${CORE}/logicalclusters`)).to.deep.equal(["cluster"]);
    const workspaces = `/clusters/%2A${TENANCY}/workspaces:${identities.get("tenancy.kcp.io")}`;
    expect(await initial(server, workspaces)).to.deep.equal([]);
  });
});
