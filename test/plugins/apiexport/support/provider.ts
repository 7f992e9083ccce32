// A server with the view, a provider's workspace with an export, and workspaces that bind it.
import {
  type ApiExportViewOptions,
  ApiModel,
  apiExportView,
  apiResourceSchemaView,
} from "@virtual-workspaces/apiexport";
import { memoryStore } from "@virtual-workspaces/store";
import { builtInKinds, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import type { Answer, CallOptions, Calls } from "../../../_support/plain.ts";
import { untilAnswer } from "../../../_support/until.ts";
import { APIS, bindingOf, exportOf, schemaOf } from "../../../workspace-server/bindings/support/shard.ts";
import { bind, makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import {
  startWorkspaces,
  type Workspaces,
  type WorkspacesOptions,
} from "../../../workspace-server/support/workspaces.ts";

const root = { user: "root" };
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
export const WIDGETS = "/apis/example.dev/v1/widgets";
export const MAPS = "/api/v1/namespaces/default/configmaps";
export const ALL = { matchAll: true };

/** Starts a server with the views over its own workspaces. */
export async function startViewed({
  view,
  ...options
}: WorkspacesOptions & { readonly view?: Partial<ApiExportViewOptions> } = {}): Promise<Workspaces> {
  const own = loopback();
  const kinds = builtInKinds.map(({ resource }) => resource);
  const { upstream, identity } = own;
  const common = { upstream, model: new ApiModel({ upstream }), ...view };
  const virtualWorkspaces = [apiExportView({ ...common, identity, kinds }), apiResourceSchemaView(common)];
  return startWorkspaces(memoryStore(), { loopback: own, virtualWorkspaces, ...options });
}

/** Provider with its workspace and export. */
export class Provider {
  readonly server: Workspaces;
  /** Logical cluster of the export. */
  readonly cluster: string;
  readonly name: string;

  constructor(server: Workspaces, cluster: string, name: string) {
    this.server = server;
    this.cluster = cluster;
    this.name = name;
  }

  /** Creates the workspace `root:<name>` with an export of widgets, whose content `alice` may access. */
  static async make(server: Workspaces, name = "provider", more: object = {}): Promise<Provider> {
    return Provider.in(server, await makeWorkspace(server, name), more);
  }

  /** Creates the export in an existing workspace. */
  static async in(server: Workspaces, cluster: string, more: object = {}): Promise<Provider> {
    const made = new Provider(server, cluster, "widgets");
    await made.post(cluster, `/apis/apis.kcp.io/v1alpha1/apiresourceschemas`, widgetSchema("v1"));
    await made.post(cluster, `${APIS}/apiexports`, exportOf("widgets", ["v1.widgets.example.dev"], more));
    await letContent(made, { kind: "User", name: "alice" });
    return made;
  }

  /** Returns the URL of a path in the view, by default for all workspaces. */
  url(path: string, cluster = "*"): `/${string}` {
    return `/services/apiexport/${this.cluster}/${this.name}/clusters/${cluster}${path}`;
  }

  /** Returns a client of the view in a logical cluster, with the default user `alice`. @default all logical clusters */
  in(cluster = "*"): Calls {
    const at = (path: string): `/${string}` => this.url(path, cluster);
    return {
      get: (path, options) => this.server.get(at(path), options),
      send: (call, body, options) => {
        const [method = "", path = ""] = call.split(" ", 2);
        return this.server.send(`${method} ${at(path)}`, body, options);
      },
      watch: (path, options) => this.server.watch(at(path), options),
    };
  }

  /** Gets a path for all workspaces. */
  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.in().get(path, options);
  }

  /** Watches a path for all workspaces. */
  watch(path: string): ReturnType<Calls["watch"]> {
    return this.in().watch(path);
  }

  /** Creates an object as the server's administrator. */
  async post(cluster: string, path: string, object: object): Promise<Answer["body"]> {
    const made = await this.server.send(`POST /clusters/${cluster}${path}`, object, root);
    expect(made.status, made.text).to.equal(201);
    return made.body;
  }

  /** Creates the workspace `root:<name>`, which binds the export and accepts these claims. @returns its logical cluster */
  async consumer(name: string, claims: readonly object[] = []): Promise<string> {
    const cluster = await makeWorkspace(this.server, name);
    await this.bind(cluster, claims);
    return cluster;
  }

  async bind(cluster: string, claims: readonly object[] = []): Promise<void> {
    await this.post(cluster, `${APIS}/apibindings`, bindingOf(this.name, `${this.cluster}:${this.name}`, claims));
    await this.until(`/clusters/${cluster}${APIS}/apibindings/${this.name}`, ({ body }) => {
      const applied = body.status?.conditions?.find((one: { type: string }) => one.type === "PermissionClaimsApplied");
      return body.status?.phase === "Bound" && (claims.length === 0 || applied?.status === "True");
    });
  }

  /** Repeats a request as the administrator until the answer matches. */
  async until(path: string, is: (answer: Answer) => boolean): Promise<Answer> {
    return untilAnswer(() => this.server.get(path, root), is);
  }
}

interface Subject {
  readonly kind: "User" | "Group" | "ServiceAccount";
  readonly name: string;
  readonly namespace?: string;
  readonly apiGroup?: string;
}

/** Grants a subject the content of an export. */
export async function letContent({ server, cluster, name }: Provider, who: Subject): Promise<void> {
  const rules = [
    { apiGroups: ["apis.kcp.io"], resources: ["apiexports/content"], resourceNames: [name], verbs: ["*"] },
  ];
  const subject = { apiGroup: "rbac.authorization.k8s.io", ...who };
  const role = `content-${name}-${who.name.replaceAll(":", "-")}`;
  const metadata = { name: role };
  const about = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata, rules };
  const made = await server.send(`POST /clusters/${cluster}${RBAC}/clusterroles`, about, root);
  expect(made.status, made.text).to.equal(201);
  await bind(server, cluster, { name: role, role, subject });
  await bind(server, cluster, { name: `${role}-access`, role: "system:kcp:workspace:access", subject });
}

/** Returns a schema of widgets with a status, columns and a second served version. */
export function widgetSchema(prefix: string, more: Record<string, unknown> = {}): object {
  const spec = { type: "object", properties: { size: { type: "integer" } } };
  const status = { type: "object", properties: { phase: { type: "string" } } };
  const schema = { type: "object", properties: { spec, status } };
  const additionalPrinterColumns = [{ name: "Size", type: "integer", jsonPath: ".spec.size" }];
  const version = (name: string, storage: boolean): object => ({
    ...{ name, served: true, storage, schema, additionalPrinterColumns },
    subresources: { status: {} },
  });
  const versions = [version("v1", true), version("v1beta1", false)];
  return schemaOf(prefix, { versions, conversion: { strategy: "None" }, ...more });
}

export const widget = (name: string, size = 1, metadata: object = {}): object => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name, ...metadata },
  spec: { size },
});

export const map = (name: string, labels?: object): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...(labels && { labels }) },
  data: { of: name },
});

/** Returns the sorted names in a list, each with its logical cluster. */
export function namesOf({ body }: Answer): string[] {
  return body.items
    .map(({ metadata }: { metadata: { name: string; annotations: Record<string, string> } }) =>
      [metadata.annotations["kcp.io/cluster"], metadata.name].join("/"),
    )
    .sort();
}
