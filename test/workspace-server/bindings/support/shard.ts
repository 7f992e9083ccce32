// Shard with exports, bindings, custom resources and a few Kubernetes kinds, served below /clusters/<cluster>.
import type { KubeObject, ObjectOf } from "@virtual-workspaces/apimachinery";
import {
  type Admit,
  allow,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
  type User,
} from "@virtual-workspaces/framework";
import type { LogRecord } from "@virtual-workspaces/framework/server";
import {
  APIBinding,
  APIBindingV1alpha1,
  APIExport,
  APIExportEndpointSlice,
  APIExportV1alpha1,
  APIResourceSchema,
  LogicalCluster,
} from "@virtual-workspaces/kcp";
import { olderApiBindings, olderApiExports } from "@virtual-workspaces/kcp/apis";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import type { AccessAttributes } from "../../../../packages/workspace-server/src/authz/access.ts";
import { Bindings } from "../../../../packages/workspace-server/src/bindings/bindings.ts";
import type { KeptKind } from "../../../../packages/workspace-server/src/bindings/claims/claim-labels.ts";
import { CrdController } from "../../../../packages/workspace-server/src/crds/controller/controller.ts";
import { admitInOrder } from "../../../../packages/workspace-server/src/state/admission.ts";
import type { ShardContext } from "../../../../packages/workspace-server/src/state/context.ts";
import { inProcessPeer } from "../../../../packages/workspace-server/src/state/in-process-peer.ts";
import { ensure } from "../../../../packages/workspace-server/src/state/modify.ts";
import { ShardObjects } from "../../../../packages/workspace-server/src/state/objects.ts";
import type { ShardPeer } from "../../../../packages/workspace-server/src/state/shard-peer.ts";
import { ShardRegistry } from "../../../../packages/workspace-server/src/state/shard-registry.ts";
import { logicalClusterKey, ShardState } from "../../../../packages/workspace-server/src/state/shard-state.ts";
import { type PlainServer, startPlain } from "../../../_support/plain.ts";
import { until } from "../../../_support/until.ts";
import { Crd } from "../../crds/kind.ts";

const TEXTS = { type: "object", additionalProperties: { type: "string" } } as const;

export const ConfigMap = defineResource({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  schema: { type: "object", properties: { data: TEXTS } },
});
const Secret = defineResource({
  group: "",
  version: "v1",
  kind: "Secret",
  scope: "Namespaced",
  schema: { type: "object", properties: { data: TEXTS, type: { type: "string" } } },
});
const Namespace = defineResource({
  group: "",
  version: "v1",
  kind: "Namespace",
  scope: "Cluster",
  schema: { type: "object", properties: { spec: { type: "object", properties: {} } } },
});

export interface TestShardOptions {
  readonly name?: string;
  readonly store?: Store;
  readonly registry?: ShardRegistry;
  readonly mayBind?: (user: User, cluster: string, attributes: AccessAttributes) => boolean;
  readonly virtualWorkspaceURLs?: boolean;
}

/** Shard without a server. */
export class TestShard implements AsyncDisposable {
  readonly context: ShardContext;
  readonly peer: ShardPeer;
  readonly objects: ShardObjects;
  readonly state: ShardState;
  readonly store: Store;
  readonly bindings: Bindings;
  readonly crds: CrdController;
  readonly logged: LogRecord[] = [];
  readonly #joined: Disposable;
  readonly #ownsStore: boolean;

  constructor(options: TestShardOptions = {}) {
    const { name = "one", store = memoryStore(), registry = new ShardRegistry(), mayBind = () => true } = options;
    this.store = store;
    this.#ownsStore = options.store === undefined;
    this.objects = new ShardObjects(store);
    this.state = new ShardState(this.objects);
    const url = `https://${name}.test`;
    const known = {
      name,
      urls: { baseURL: url, externalURL: url, virtualWorkspaceURL: url },
      objects: this.objects,
      state: this.state,
      registry,
      log: (record: LogRecord) => this.logged.push(record),
    };
    // Members that bindings do not use.
    this.context = { ...known, kinds: undefined, feed: undefined, minter: undefined, rootCa: () => "" } as never;
    this.peer = inProcessPeer(this.context);
    this.#joined = registry.join(this.peer);
    const kept = this.objects.of(ConfigMap) as unknown as KeptKind;
    this.bindings = new Bindings(this.context, {
      kinds: { secret: Secret, namespace: Namespace, crd: Crd },
      mayAccess: mayBind,
      kindsOf: (_, { group, resource }) => (group === "" && resource === "configmaps" ? [kept] : undefined),
      ...(options.virtualWorkspaceURLs !== undefined && { virtualWorkspaceURLs: options.virtualWorkspaceURLs }),
    });
    this.crds = new CrdController({ crds: this.objects.of(Crd), store, admit: this.bindings.admitClaims });
  }

  async start(): Promise<this> {
    await this.objects.start();
    await this.crds.start();
    await this.bindings.started;
    return this;
  }

  /** Creates logical clusters. */
  async clusters(...names: string[]): Promise<void> {
    const clusters = this.objects.of(LogicalCluster);
    for (const name of names) {
      const metadata = { annotations: { [PATH_ANNOTATION]: pathOf(name) } };
      await ensure(clusters, logicalClusterKey(name), () => ({ metadata, spec: { directlyDeletable: false } }));
      await until(() => this.state.logicalCluster(name) !== undefined);
    }
  }

  binding(cluster: string, name: string): ObjectOf<object> & { spec: object; status?: Status } {
    return this.state.apiBindings.store.get({ cluster, namespace: "", name }) as never;
  }

  /** Returns the view to serve. */
  view(): ReturnType<typeof defineVirtualWorkspace> {
    const { objects, bindings } = this;
    const { admission, admitClaims } = bindings;
    const served = (admit: Admit | undefined): { readonly admit: Admit } => ({
      admit: admitInOrder(...(admit ? [admit] : []), admitClaims),
    });
    const [exports, bound] = [objects.of(APIExport), objects.of(APIBinding)];
    const own: readonly ServedResource[] = [
      APIExport.serve(exports, served(admission.apiExport) as never),
      APIExportV1alpha1.serve(olderApiExports(exports), served(admission.apiExport) as never),
      APIBinding.serve(bound, served(admission.apiBinding) as never),
      APIBindingV1alpha1.serve(olderApiBindings(bound), served(admission.apiBinding) as never),
      APIResourceSchema.serve(objects.of(APIResourceSchema), served(admission.apiResourceSchema) as never),
      APIExportEndpointSlice.serve(
        objects.of(APIExportEndpointSlice),
        served(admission.apiExportEndpointSlice) as never,
      ),
      LogicalCluster.serve(objects.of(LogicalCluster)),
      ConfigMap.serve(objects.of(ConfigMap), served(undefined) as never),
      Secret.serve(objects.of(Secret)),
      this.crds.serve(),
    ];
    const lists = new WeakMap<object, readonly ServedResource[]>();
    return defineVirtualWorkspace({
      name: "clusters",
      prefix: "/clusters",
      path: "/:cluster",
      wildcard: true,
      authorize: () => allow(),
      resources: ({ params }) => {
        const brought = bindings.servedIn(params.cluster);
        const names = new Set(brought.map(({ definition }) => `${definition.group}/${definition.plural}`));
        const custom = params.cluster === "*" ? [] : this.crds.servedIn(params.cluster);
        if (custom.length > 0)
          return [
            ...own,
            ...brought,
            ...custom.filter(({ definition }) => !names.has(`${definition.group}/${definition.plural}`)),
          ];
        const list = lists.get(brought) ?? [...own, ...brought];
        lists.set(brought, list);
        return list;
      },
    });
  }

  serve(): Promise<PlainServer> {
    return startPlain([this.view()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bindings[Symbol.asyncDispose]();
    await this.crds[Symbol.asyncDispose]();
    this.#joined[Symbol.dispose]();
    this.objects[Symbol.dispose]();
    if (this.#ownsStore) await this.store[Symbol.asyncDispose]();
  }
}

export interface Status {
  readonly phase?: string;
  readonly conditions?: readonly { type: string; status: string; reason?: string; message?: string }[];
  readonly boundResources?: readonly { resource: string; schema: { name: string; identityHash: string } }[];
  readonly appliedPermissionClaims?: readonly object[];
}

/** Returns `<status> <reason> <message>` of a condition. */
export function said(object: { readonly status?: Status } | undefined, type: string): string {
  const condition = object?.status?.conditions?.find((one) => one.type === type);
  if (condition === undefined) return `no ${type}`;
  return [condition.status, condition.reason, condition.message].filter((text) => text !== undefined).join(" ");
}

/** Returns the path of a workspace in these tests. */
export const pathOf = (cluster: string): string => `root:${cluster}`;
export const APIS = "/apis/apis.kcp.io/v1alpha2";
export const url = (cluster: string, path: string): `/${string}` => `/clusters/${cluster}${path}`;

/** Returns a schema of the resource `widgets` by default. */
export function schemaOf(prefix: string, more: Record<string, unknown> = {}, field = "size"): object {
  const { plural = "widgets", kind = "Widget", group = "example.dev", ...spec } = more as Record<string, string>;
  const schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { [field]: { type: "integer" } } } },
  };
  return {
    apiVersion: "apis.kcp.io/v1alpha1",
    kind: "APIResourceSchema",
    metadata: { name: `${prefix}.${plural}.${group}` },
    spec: {
      group,
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: "Cluster",
      versions: [{ name: "v1", served: true, storage: true, schema }],
      ...spec,
    },
  };
}

export function exportOf(name: string, schemas: readonly string[], more: object = {}): object {
  const resources = schemas.map((schema) => {
    const [, plural = "", ...group] = schema.split(".");
    return { group: group.join("."), name: plural, schema, storage: { crd: {} } };
  });
  return { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIExport", metadata: { name }, spec: { resources, ...more } };
}

export function bindingOf(name: string, to: string, permissionClaims: readonly object[] = []): object {
  const split = to.lastIndexOf(":");
  const reference = { export: { ...(split > 0 && { path: to.slice(0, split) }), name: to.slice(split + 1) } };
  const spec = { reference, ...(permissionClaims.length > 0 && { permissionClaims }) };
  return { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name }, spec };
}

export const widget = (name: string, more: Partial<KubeObject> = {}): object => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name },
  spec: { size: 1 },
  ...more,
});
