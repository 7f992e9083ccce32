// An export in a workspace of one shard, bound in a workspace of another one, with an object.

import { until } from "../../_support/until.ts";
import type { Start } from "./start.ts";

/** Logical clusters, and the path of the export's view below `/services` of a server. */
export interface Exported {
  readonly provider: string;
  readonly consumer: string;
  readonly path: string;
}

const TENANCY = "apis/tenancy.kcp.io/v1alpha1/workspaces";
const SCHEMA = {
  apiVersion: "apis.kcp.io/v1alpha1",
  kind: "APIResourceSchema",
  metadata: { name: "v1.widgets.example.dev" },
  spec: {
    group: "example.dev",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    scope: "Cluster",
    versions: [
      {
        ...{ name: "v1", served: true, storage: true },
        schema: { type: "object", properties: { spec: { type: "object", properties: { size: { type: "integer" } } } } },
      },
    ],
  },
};
const EXPORT = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIExport",
  metadata: { name: "widgets" },
  spec: { resources: [{ group: "example.dev", name: "widgets", schema: "v1.widgets.example.dev" }] },
};
const BINDING = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "widgets" },
  spec: { reference: { export: { path: "root:provider", name: "widgets" } } },
};

/** Exports widgets in `root:provider`, binds them in `root:consumer`, on the given shards, and creates `cog` there. */
export async function exportWidgets(
  server: Start,
  { provider = "root", consumer = "root" }: { readonly provider?: string; readonly consumer?: string } = {},
): Promise<Exported> {
  const owner = await workspace(server, "provider", provider);
  const theirs = "/clusters/root:provider/apis";
  await made(server, `${theirs}/apis.kcp.io/v1alpha1/apiresourceschemas`, SCHEMA);
  await made(server, `${theirs}/apis.kcp.io/v1alpha2/apiexports`, EXPORT);
  return {
    provider: owner,
    consumer: await bindWidgets(server, { shard: consumer }),
    path: `apiexport/${owner}/widgets/clusters`,
  };
}

/** Binds them in a new workspace, and creates a widget there. @returns its logical cluster */
export async function bindWidgets(
  server: Start,
  {
    shard,
    name = "consumer",
    widget = "cog",
  }: { readonly shard: string; readonly name?: string; readonly widget?: string },
): Promise<string> {
  const cluster = await workspace(server, name, shard);
  const ours = `/clusters/root:${name}/apis`;
  await made(server, `${ours}/apis.kcp.io/v1alpha2/apibindings`, BINDING);
  await until(
    async () => {
      const { body } = await server.get(`${ours}/apis.kcp.io/v1alpha2/apibindings/widgets`, { token: "root-token" });
      return JSON.parse(body).status?.phase === "Bound";
    },
    { what: "bound" },
  );
  await makeWidget(server, widget, name);
  return cluster;
}

export async function makeWidget(server: Start, name: string, workspace = "consumer"): Promise<void> {
  const widget = { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name }, spec: { size: 1 } };
  await made(server, `/clusters/root:${workspace}/apis/example.dev/v1/widgets`, widget);
}

/** Creates a workspace in `root` on a shard, and waits until it is ready. @returns its logical cluster */
export async function workspace(server: Start, name: string, shard: string): Promise<string> {
  const location = { selector: { matchLabels: { name: shard } } };
  const spec = { type: { name: "universal", path: "root" }, location };
  const object = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
  await made(server, `/clusters/root/${TENANCY}`, object);
  return until(
    async () => {
      const { body } = await server.get(`/clusters/root/${TENANCY}/${name}`, { token: "root-token" });
      const { spec, status } = JSON.parse(body);
      return status?.phase === "Ready" ? (spec.cluster as string) : undefined;
    },
    { what: `workspace ${name}` },
  );
}

/** Creates an object. @throws Error unless it is 201 */
export async function made(server: Start, path: string, object: object): Promise<void> {
  const { code, body } = await server.create(path, object);
  if (code !== 201) throw new Error(`${path}: ${code} ${body}`);
}
