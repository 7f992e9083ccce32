// Why: claim labels are correct on objects that did not pass admission: writes of controllers and of other processes.

import { memoryStore, persistent } from "@virtual-workspaces/store";
import { ConfigMap } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { binding, paths, widgetExport, widgetSchema } from "../faults/support/tree.ts";
import { counted } from "../support/counted.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { type Body, ClusterClient } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const isLabelled = ({ body }: { readonly body: Body }): boolean =>
  Object.keys(body.metadata?.labels ?? {}).some((name) => name.startsWith("claimed.internal.apis.kcp.io/"));

describe("claim labels", function () {
  this.timeout(30_000);

  it("are added to objects of controllers and to direct writes to the store, without other writes", async () => {
    await using store = memoryStore();
    const counts = counted(store);
    await using server = await startWorkspaces(counts.store);
    const root = new ClusterClient(server);
    const user = new ClusterClient(server, await makeWorkspace(server, "user"));
    await root.create(paths.SCHEMAS, widgetSchema());
    await root.create(paths.EXPORTS, widgetExport("widgets"));
    await user.create(paths.BINDINGS, binding("widgets", "root"));
    await user.until(`${paths.BINDINGS}/widgets`, ({ body }) => body.status?.phase === "Bound");
    await user.namespace("later");
    await user.until("/api/v1/namespaces/later/configmaps/kube-root-ca.crt", isLabelled);
    // Like another process that has not yet seen the binding, or its deletion.
    const maps = ConfigMap.collection(persistent(store));
    const { body: there } = await user.get(`${paths.MAPS}/kube-root-ca.crt`);
    const cluster: string = there.metadata.annotations["kcp.io/cluster"];
    const make = (name: string, labels: object): Promise<unknown> => {
      const metadata = { name, namespace: "default", uid: name, labels };
      return maps.create(
        { cluster, namespace: "default" } as never,
        { apiVersion: "v1", kind: "ConfigMap", metadata } as never,
      );
    };
    await make("early", {});
    await user.until(`${paths.MAPS}/early`, isLabelled);
    await user.delete(`${paths.BINDINGS}/widgets`);
    await user.gone(`${paths.BINDINGS}/widgets`);
    await make("late", there.metadata.labels);
    await user.until(`${paths.MAPS}/late`, (answer) => !isLabelled(answer));
    await counts.quiet();
    const { commits } = counts.counts;
    await user.configMap("nobody-claims-it");
    await counts.quiet();
    expect(counts.counts.commits).to.equal(commits + 1);
  });
});
