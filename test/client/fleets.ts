// Kind with everything that a client can request, served from memory.

import { Client, type ClientOptions } from "@virtual-workspaces/client";
import { allow, defineResource, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { startTestServer } from "@virtual-workspaces/testing";

export const Fleet = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Fleet",
  scope: "Namespaced",
  shortNames: ["fl"],
  spec: {
    type: "object",
    properties: { ships: { type: "integer", maximum: 9 }, big: { type: "integer", format: "int64" } },
  },
  status: { type: "object", properties: { phase: { type: "string" }, ships: { type: "integer" } } },
  subresources: { scale: { specReplicasPath: ".spec.ships", statusReplicasPath: ".status.ships" } },
});

function fleetView(fleets = Fleet.collection()): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "fleets",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: () => allow(),
    resources: [Fleet.serve(fleets)],
  });
}

/** Starts a server of fleets, with a client in the logical cluster `root`. */
export async function startFleets(options: Partial<ClientOptions> = {}): Promise<
  AsyncDisposable & {
    readonly client: Client;
    readonly fleets: ReturnType<typeof Fleet.collection>;
    readonly url: string;
    readonly token: string;
  }
> {
  const fleets = Fleet.collection();
  const server = await startTestServer([fleetView(fleets)]);
  const { token } = server.credentials;
  const url = `${server.url}/services/fleets`;
  const client = new Client({ upstream: { url, credentials: bearer(token) }, cluster: "root", ...options });
  return {
    client,
    fleets,
    url,
    token,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

export function bearer(token: string): { get(): { headers: string[] } } {
  const credential = { headers: ["Authorization", `Bearer ${token}`] };
  return { get: () => credential };
}
