// The plain cluster of the demonstration: an API server without workspaces, in its own process, on the loopback interface.
import {
  allow,
  authenticated,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  staticTokens,
} from "@virtual-workspaces/framework";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import type { FromCluster, ToCluster } from "./cluster.ts";

const ConfigMap = defineResource({
  ...{ group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced", shortNames: ["cm"] },
  schema: {
    type: "object",
    properties: { data: { type: "object", additionalProperties: { type: "string" } } },
  },
});

/** Security: the token may impersonate any user, like the credential of a Mount. */
async function serve({ dir, token }: ToCluster): Promise<FromCluster> {
  const { tls, ca } = await generatedTls({ dir });
  const configMaps = ConfigMap.collection();
  configMaps.in("", "default").set("about", { data: { cluster: "a plain one" } });
  const server = createServer({
    tls,
    authentication: [staticTokens({ [token]: { name: "mounts" } })],
    impersonation: () => allow(),
    virtualWorkspaces: [
      defineVirtualWorkspace({
        ...{ name: "cluster", prefix: "/", path: "/" },
        authorize: authenticated(),
        resources: [ConfigMap.serve(configMaps)],
      }),
    ],
  });
  process.once("disconnect", () => void server.close());
  const { url } = await server.listen({ port: 0, host: "127.0.0.1" });
  return { url, ca };
}

process.once("message", (message: ToCluster) => {
  serve(message).then(
    (place) => process.send?.(place),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
// A terminal sends Ctrl-C to the whole process group, but the parent process ends this one.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
