import { isDeepStrictEqual } from "node:util";
import {
  ApiError,
  fieldInvalid,
  type JsonSchema,
  type KubeObject,
  quote,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { type Admit, Resource } from "@virtual-workspaces/framework";
import { LogicalCluster } from "@virtual-workspaces/kcp";
import type { Phase } from "../phase.ts";

const HOLDERS: JsonSchema = { type: "array", items: { type: "string" } };

/**
 * LogicalClusters as the shard returns them, of any kcp version. As in kcp, the schema validates and prunes nothing but the lists
 * that the view has a rule for.
 */
export const ShownLogicalCluster: Resource = new Resource({
  group: LogicalCluster.group,
  version: LogicalCluster.version,
  kind: LogicalCluster.kind,
  scope: LogicalCluster.scope,
  categories: LogicalCluster.categories,
  columns: LogicalCluster.columns,
  subresources: LogicalCluster.subresources,
  description: "Logical cluster that waits for a controller of its workspace type.",
  schema: {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    properties: {
      spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      status: {
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
        properties: { initializers: HOLDERS, terminators: HOLDERS },
      },
    },
  },
});

type Status = Readonly<Record<string, unknown>>;

/**
 * Limits the status changes of a controller to conditions and its own completion: it may remove itself, and no other entry, from
 * the list of pending controllers. All other fields belong to the server. kcp only counts the initializers, and lets an
 * initializing controller change terminators and the phase.
 *
 * @throws ApiError 422
 */
export function statusRule({ holder, holders }: Phase, name: string): Admit {
  return ({ object, oldObject }) => {
    if (object === undefined || oldObject === undefined) return;
    const [now, before] = [statusOf(object), statusOf(oldObject)];
    const causes: StatusCause[] = [];
    const [left, were] = [now[holders] ?? [], before[holders] ?? []];
    if (!isDeepStrictEqual(left, were) && !isDeepStrictEqual(left, without(were, name)))
      causes.push(
        fieldInvalid(
          `status.${holders}`,
          now[holders] ?? null,
          `only removing the ${quote(name)} ${holder} is supported`,
        ),
      );
    for (const field of new Set([...Object.keys(before), ...Object.keys(now)]))
      if (field !== holders && field !== "conditions" && !isDeepStrictEqual(now[field], before[field]))
        causes.push(
          fieldInvalid(`status.${field}`, now[field] ?? null, `only conditions and ${holders} may be changed here`),
        );
    if (causes.length > 0) throw ApiError.invalid({ kind: LogicalCluster, name: object.metadata.name ?? "", causes });
  };
}

function statusOf(object: KubeObject): Status {
  return (object as { readonly status?: Status }).status ?? {};
}

function without(names: unknown, name: string): unknown {
  return Array.isArray(names) ? names.filter((one) => one !== name) : names;
}
