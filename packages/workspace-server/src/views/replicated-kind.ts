import type { ObjectMeta, ObjectOf } from "@virtual-workspaces/apimachinery";
import {
  type Log,
  type Resource,
  type ServedResource,
  type ViewDependency,
  type ViewSource,
  view,
} from "@virtual-workspaces/framework";
import {
  clusterOf,
  ORIGINAL_RESOURCE_VERSION_ANNOTATION,
  ORIGINAL_UID_ANNOTATION,
  REPLICATE_ANNOTATION,
  SHARD_ANNOTATION,
} from "@virtual-workspaces/kcp";
import type { ShardContext } from "../state/context.ts";
import type { Installation } from "../state/shard-registry.ts";
import { type AcrossShards, acrossShards } from "./merged-kind.ts";
import { ReadWhole } from "./read-whole.ts";
import type { ReplicatedFor } from "./replicated-for.ts";

/** For which groups' sake objects of a shard are replicated, and what that depends on. */
export interface Choice<T extends object> {
  readonly of: (object: ObjectOf<T>, cluster: string) => ReplicatedFor;
  readonly depends: ViewDependency;
}

/** A kind that is replicated. */
export interface ReplicatedKind<T extends object> {
  readonly resource: Resource<T>;
  /** Which of its objects are. @default all */
  readonly choose?: (shard: ShardContext) => Choice<T>;
}

/** A kind as it is replicated, by shard and of all of them. */
export class Replicated<T extends object> implements Disposable {
  readonly #resource: Resource<T>;
  readonly #nothing: ViewSource<T>;
  readonly #byShard = new Map<string, ViewSource<T>>();
  readonly #all: AcrossShards<T>;

  constructor(installation: Installation, { resource, choose }: ReplicatedKind<T>, log: Log) {
    this.#resource = resource;
    this.#nothing = resource.collection();
    this.#all = acrossShards<T>(installation, {
      resource,
      sourceOf: (shard) => {
        const source = replicatedOf(shard, resource, choose?.(shard));
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
    return this.#resource.serve(new ReadWhole(source), { verbs: ["get", "list", "watch"] });
  }

  [Symbol.dispose](): void {
    this.#all[Symbol.dispose]();
  }
}

/** What a shard's objects would be in kcp's cache server. Logical clusters of the system stay at home. */
function replicatedOf<T extends object>(shard: ShardContext, resource: Resource<T>, chosen?: Choice<T>): ViewSource<T> {
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
      shard.log({
        level: "error",
        message: "object cannot be replicated",
        shard: shard.name,
        object: key,
        error: String(error),
      }),
  });
  return made as unknown as ViewSource<T>;
}

/** As on kcp's copies. What an object says itself of being replicated does not count. */
function annotationsOf(metadata: ObjectMeta, shard: string, groups: ReplicatedFor | undefined): Record<string, string> {
  const { [REPLICATE_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
  return {
    ...annotations,
    ...(groups && { [REPLICATE_ANNOTATION]: groups.join(",") }),
    [SHARD_ANNOTATION]: shard,
    [ORIGINAL_UID_ANNOTATION]: metadata.uid ?? "",
    [ORIGINAL_RESOURCE_VERSION_ANNOTATION]: metadata.resourceVersion ?? "",
  };
}
