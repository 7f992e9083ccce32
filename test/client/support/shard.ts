// Shards with the same kinds, and a list of their URLs as in kcp, for tests of controllers.
import { Client } from "@virtual-workspaces/client";
import { allow, type Collection, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { startTestServer } from "@virtual-workspaces/testing";

export const Widget = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Widget",
  scope: "Namespaced",
  spec: { type: "object", properties: { size: { type: "integer" } } },
  status: { type: "object", properties: { seen: { type: "integer" } } },
});

export const Part = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Part",
  scope: "Namespaced",
  spec: { type: "object", properties: { text: { type: "string" } } },
});

/** Like kcp's, reduced to the fields that these tests use. */
export const EndpointSlice = defineResource({
  group: "apis.kcp.io",
  version: "v1alpha1",
  kind: "APIExportEndpointSlice",
  scope: "Cluster",
  spec: { type: "object", properties: { export: { type: "object", properties: { name: { type: "string" } } } } },
  status: {
    type: "object",
    properties: {
      endpoints: {
        type: "array",
        items: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["url"],
      },
    },
  },
});

/** Server with widgets and parts, until it is disposed. */
export interface Shard extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly widgets: Collection<Content<typeof Widget>>;
  readonly parts: Collection<Content<typeof Part>>;
  /** Client of all clusters. */
  readonly client: Client;
}

type Content<R> = R extends { collection(): Collection<infer T> } ? T : never;

export async function startShard(): Promise<Shard> {
  const [widgets, parts] = [Widget.collection(), Part.collection()];
  const view = defineVirtualWorkspace({
    name: "shard",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: () => allow(),
    resources: [Widget.serve(widgets), Part.serve(parts)],
  });
  const { url: origin, credentials, ...server } = await startTestServer([view]);
  const url = `${origin}/services/shard`;
  const { token } = credentials;
  const client = clientOf(url, token).cluster("*");
  return {
    url,
    token,
    widgets,
    parts,
    client,
    async [Symbol.asyncDispose]() {
      await client.upstream[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

export function clientOf(url: string, token: string): Client {
  return new Client({ upstream: { url, credentials: bearer(token) }, cluster: "*" });
}

const bearer = (token: string) => ({ get: async () => ({ headers: ["Authorization", `Bearer ${token}`] }) });

/** List of URLs that a test changes. */
export interface Slices extends AsyncDisposable {
  readonly token: string;
  readonly client: Client;
  readonly slices: Collection<Content<typeof EndpointSlice>>;
  /** Sets the URLs of the slice `shards`. */
  list(...urls: readonly string[]): void;
}

export async function startSlices(): Promise<Slices> {
  const slices = EndpointSlice.collection();
  const part = slices.in("root");
  const view = defineVirtualWorkspace({
    name: "slices",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [EndpointSlice.serve(slices)],
  });
  const { url, credentials, ...server } = await startTestServer([view]);
  const client = clientOf(`${url}/services/slices`, credentials.token).cluster("root");
  return {
    token: credentials.token,
    client,
    slices,
    list(...urls) {
      if (part.get("shards") === undefined) part.set("shards", { export: { name: "widgets" } });
      part.setStatus("shards", { endpoints: urls.map((each) => ({ url: each })) });
    },
    async [Symbol.asyncDispose]() {
      await client.upstream[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
