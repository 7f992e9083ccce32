// Quotas and ConfigMaps of a workspace.
import type { Calls } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";

export type Hard = Readonly<Record<string, string | number>>;

/** ConfigMaps of a namespace. */
export const mapsIn = (cluster: string, namespace = "default") =>
  `/clusters/${cluster}/api/v1/namespaces/${namespace}/configmaps` as const;

export const quotasIn = (cluster: string, namespace = "default") =>
  `/clusters/${cluster}/api/v1/namespaces/${namespace}/resourcequotas` as const;

const ADMIN = { user: "admin" } as const;

/** @param at logical cluster, and namespace if it is not `default`: `org/other` */
export function makeMap(server: Calls, at: string, name: string) {
  const [cluster = "", namespace] = at.split("/");
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
  return server.send(`POST ${mapsIn(cluster, namespace)}`, map, ADMIN);
}

export function makeQuota(server: Calls, cluster: string, quota: { name: string; hard: Hard; namespace?: string }) {
  const { name, hard, namespace } = quota;
  const object = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name }, spec: { hard } };
  return server.send(`POST ${quotasIn(cluster, namespace)}`, object, ADMIN);
}

export async function makeNamespace(server: Calls, cluster: string, name: string): Promise<void> {
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  await server.send(`POST /clusters/${cluster}/api/v1/namespaces`, object, ADMIN);
  await untilRootCa(server, cluster, name);
}

/** Waits until the server has created the ConfigMap that every namespace has. */
export async function untilRootCa(server: Calls, cluster: string, namespace = "default"): Promise<void> {
  await until(async () => (await server.get(`${mapsIn(cluster, namespace)}/kube-root-ca.crt`, ADMIN)).status === 200);
}

/** Waits until a quota has a usage. */
export async function untilUsed(server: Calls, quota: string, used: Readonly<Record<string, string>>): Promise<void> {
  await until(async () => {
    const { body } = await server.get(quota as never, ADMIN);
    return JSON.stringify(body.status?.used) === JSON.stringify(used);
  });
}
