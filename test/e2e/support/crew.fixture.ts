// Controller of another type, `crew`, which extends `team`: it creates a namespace, as the owner of the workspace.
import { once } from "node:events";
import { Client, loadKubeconfig } from "@virtual-workspaces/client";
import { lifecycleController } from "@virtual-workspaces/kcp";

const Namespace = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", scope: "Cluster" } as const;

const config = await loadKubeconfig();
await using client = new Client(config);
await using _running = lifecycleController({
  client,
  type: "crew",
  connect: (url) => ({ ...config, upstream: { ...config.upstream, url } }),
  initialize: async ({ client, signal }) => {
    await client.resource(Namespace).apply({ metadata: { name: "crew" } }, { force: true, signal });
  },
  onError: ({ error }) => console.error(String(error)),
});
await once(process, "SIGTERM");
