import type { ObjectMeta, ObjectOf } from "@virtual-workspaces/apimachinery";
import {
  type Resource,
  type ServedResource,
  type ViewDependency,
  type ViewSource,
  view,
} from "@virtual-workspaces/framework";
import type { PolicyRule } from "@virtual-workspaces/framework/authz";
import type { Log } from "@virtual-workspaces/framework/server";
import { APIS_GROUP, CORE_GROUP, clusterOf, SYSTEM_ADMIN_CLUSTER, TENANCY_GROUP } from "@virtual-workspaces/kcp";
import {
  ORIGINAL_RESOURCE_VERSION_ANNOTATION,
  ORIGINAL_UID_ANNOTATION,
  REPLICATE_ANNOTATION,
  SHARD_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import { BINDING_SUBJECT_PREFIX } from "@virtual-workspaces/kcp/users";
import type { BindingContent, RoleContent } from "../kinds/rbac.ts";
import type { PeerState, ShardPeer } from "../state/shard-peer.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import { type MergedKind, mergedKind, ReadWhole } from "./merged-kind.ts";

/** API groups for which an object of a shard is replicated, and the inputs of that choice. */
export interface Choice<T extends object> {
  readonly of: (object: ObjectOf<T>, cluster: string) => ReplicatedFor;
  readonly depends: ViewDependency;
}

/** A replicated kind. */
export interface ReplicatedKind<T extends object> {
  readonly resource: Resource<T>;
  /** Selects the objects to replicate. @default all */
  readonly choose?: (shard: ShardPeer) => Choice<T>;
}

/** A replicated kind, by shard and for all shards. */
export class Replicated<T extends object> implements Disposable {
  readonly #resource: Resource<T>;
  readonly #nothing: ViewSource<T>;
  readonly #byShard = new Map<string, ViewSource<T>>();
  readonly #all: MergedKind<T>;

  constructor(registry: ShardRegistry, { resource, choose }: ReplicatedKind<T>, log: Log) {
    this.#resource = resource;
    this.#nothing = resource.collection();
    this.#all = mergedKind<T>(registry, {
      resource,
      sourceOf: (shard) => {
        const source = replicatedOf(shard, { resource, choice: choose?.(shard), log });
        this.#byShard.set(shard.name, source);
        return source;
      },
      log,
    });
  }

  serve(): ServedResource {
    const of = (shard = ""): ViewSource<T> =>
      shard === "*" ? this.#all.objects : (this.#byShard.get(shard) ?? this.#nothing);
    const source: ViewSource<T> = {
      resource: this.#resource,
      cache: (scope) => of(scope.params["shard"]).cache(scope),
      shareKey: (scope) => of(scope.params["shard"]).shareKey?.(scope),
    };
    return this.#resource.serve(new ReadWhole(source), { verbs: ["get", "list", "watch"], typedItems: true });
  }

  [Symbol.dispose](): void {
    this.#all[Symbol.dispose]();
  }
}

/** Returns a shard's objects as in kcp's cache server. Logical clusters of the system are not replicated. */
function replicatedOf<T extends object>(
  shard: Pick<ShardPeer, "name" | "objects">,
  {
    resource,
    choice: chosen,
    log,
  }: { readonly resource: Resource<T>; readonly choice: Choice<T> | undefined; readonly log: Log },
): ViewSource<T> {
  const kind = resource as unknown as Resource<object>;
  const choice = chosen as Choice<object> | undefined;
  const made = view<object>({
    from: shard.objects.of(kind),
    ...(choice && { depends: choice.depends }),
    select: (object) => {
      const cluster = clusterOf(object);
      return !cluster.startsWith("system:") && choice?.of(object, cluster).length !== 0;
    },
    map: (object) => {
      const groups = choice?.of(object, clusterOf(object));
      return { ...object, metadata: { annotations: annotationsOf(object.metadata, shard.name, groups) } };
    },
    onError: (error, key) =>
      log({
        level: "error",
        message: "failed to replicate object",
        shard: shard.name,
        object: key,
        error: String(error),
      }),
  });
  return made as unknown as ViewSource<T>;
}

/** Returns the annotations of kcp's copies. Security: an object's own replication annotation is ignored. */
export function annotationsOf(
  metadata: ObjectMeta,
  shard: string,
  groups: ReplicatedFor | undefined,
): Record<string, string> {
  const { [REPLICATE_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
  return {
    ...annotations,
    ...(groups && { [REPLICATE_ANNOTATION]: groups.join(",") }),
    [SHARD_ANNOTATION]: shard,
    [ORIGINAL_UID_ANNOTATION]: metadata.uid ?? "",
    [ORIGINAL_RESOURCE_VERSION_ANNOTATION]: metadata.resourceVersion ?? "",
  };
}

/** API groups for which a logical cluster's object is replicated, sorted, as in kcp's annotation. */
type ReplicatedFor = readonly string[];

interface Rules {
  readonly rules?: RoleContent["rules"] | undefined;
}

type State = Pick<PeerState, "rbac" | "apiExports" | "workspaceTypes">;

/** Selects logical clusters with exports or workspace types: other shards need to know who has access. */
export function clusterReplicatedFor(state: State, cluster: string): ReplicatedFor {
  return [
    ...(state.apiExports.store.keysIn(cluster).length > 0 ? [APIS_GROUP] : []),
    ...(state.workspaceTypes.store.keysIn(cluster).length > 0 ? [TENANCY_GROUP] : []),
  ];
}

/** Selects ClusterRoles with rules about these, or with a binding to subjects of a maximal permission policy. */
export function roleReplicatedFor(
  state: State,
  cluster: string,
  { name, rules }: Rules & { readonly name: string },
): ReplicatedFor {
  const own = rulesReplicatedFor(state, cluster, { rules });
  if (own.includes(APIS_GROUP)) return own;
  const bound = state.rbac.clusterRoleBindings.store
    .list(cluster)
    .some((binding) => binding.roleRef.name === name && namesBound(binding));
  return bound ? [APIS_GROUP, ...own] : own;
}

/** Selects ClusterRoleBindings of such a role (of the logical cluster or a bootstrap role), or with subjects of a policy. */
export function bindingReplicatedFor(state: State, cluster: string, binding: BindingContent): ReplicatedFor {
  const { kind, name, apiGroup } = binding.roleRef;
  const find = (place: string): Rules | undefined =>
    state.rbac.clusterRoles.store.get({ cluster: place, namespace: "", name });
  const isRole = kind === "ClusterRole" && apiGroup === "rbac.authorization.k8s.io";
  const role = isRole ? (find(cluster) ?? find(SYSTEM_ADMIN_CLUSTER)) : undefined;
  const own = role === undefined ? [] : rulesReplicatedFor(state, cluster, role);
  return own.includes(APIS_GROUP) || !namesBound(binding) ? own : [APIS_GROUP, ...own];
}

function rulesReplicatedFor(state: State, cluster: string, { rules }: Rules): ReplicatedFor {
  const all = rules ?? [];
  return [
    ...(all.some(isOfExports) ? [APIS_GROUP] : []),
    ...(all.some(isEntry) && clusterReplicatedFor(state, cluster).length > 0 ? [CORE_GROUP] : []),
    ...(all.some(isOfTypes) ? [TENANCY_GROUP] : []),
  ];
}

function isOfExports(rule: PolicyRule): boolean {
  if (!has(rule.apiGroups, APIS_GROUP)) return false;
  return has(rule.resources, "apiexports/content") || (has(rule.resources, "apiexports") && has(rule.verbs, "bind"));
}

function isOfTypes({ apiGroups, resources, verbs }: PolicyRule): boolean {
  return (
    has(apiGroups, TENANCY_GROUP) && has(resources, "workspacetypes") && has(verbs, "use", "initialize", "terminate")
  );
}

function isEntry({ nonResourceURLs, verbs }: PolicyRule): boolean {
  return has(nonResourceURLs, "/", "/*") && has(verbs, "access");
}

/** Whether one of these or `*` is listed. */
function has(texts: readonly string[] | null | undefined, ...wanted: readonly string[]): boolean {
  return texts?.some((text) => text === "*" || wanted.includes(text)) === true;
}

function namesBound({ subjects }: BindingContent): boolean {
  return (subjects ?? []).some(
    ({ kind, name, apiGroup }) =>
      name.startsWith(BINDING_SUBJECT_PREFIX) &&
      (kind === "User" || kind === "Group") &&
      apiGroup === "rbac.authorization.k8s.io",
  );
}
