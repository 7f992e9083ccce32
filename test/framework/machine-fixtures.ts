// A kind with every subresource that Kubernetes has, and its server.
import {
  type AuthorizeRequest,
  allow,
  type Collection,
  type Decision,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
} from "@virtual-workspaces/framework";
import type { ServeOptions } from "@virtual-workspaces/framework/resource";
import { type Answer, type PlainServer, startPlain } from "../_support/plain.ts";

export const Machine = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Machine",
  scope: "Namespaced",
  description: "Something that runs.",
  spec: {
    type: "object",
    properties: { replicas: { type: "integer", maximum: 100 }, image: { type: "string", default: "none" } },
  },
  status: {
    type: "object",
    properties: {
      phase: { type: "string", enum: ["Pending", "Running"] },
      replicas: { type: "integer" },
      selector: { type: "string" },
    },
  },
  subresources: {
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
});

export type Machines = ReturnType<typeof Machine.collection>;

export const MACHINES = "/services/machines/clusters/root/apis/example.dev/v1/namespaces/ns/machines";

export const machine = (content: object = { spec: { replicas: 1 } }, metadata: object = {}): object => ({
  apiVersion: "example.dev/v1",
  kind: "Machine",
  metadata: { name: "m", ...metadata },
  ...content,
});

/** Returns the view of these resources. */
export function machinesView(
  resources: readonly ServedResource[],
  authorize?: (request: AuthorizeRequest) => Decision,
) {
  return defineVirtualWorkspace({
    name: "machines",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: authorize ?? (() => allow()),
    resources,
  });
}

/** Serves machines of a collection. */
export async function startMachines(
  options: ServeOptions<never> = {},
): Promise<PlainServer & { readonly machines: Machines }> {
  const machines = Machine.collection();
  const server = await startPlain([machinesView([Machine.serve(machines, options as object)])]);
  return Object.assign(server, { machines });
}

/** The same, with a machine `m` that a client has created. */
export async function startMachine(
  content?: object,
): Promise<PlainServer & { readonly machines: Collection<never>; readonly made: Answer }> {
  const server = await startMachines();
  const made = await server.send(`POST ${MACHINES}`, machine(content));
  return Object.assign(server, { made }) as never;
}

export { APPLY, JSON_PATCH, MERGE } from "../_support/patches.ts";
export { outcome } from "../_support/plain.ts";
