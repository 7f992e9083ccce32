import type { GroupResource } from "@virtual-workspaces/apimachinery";
import { Resource, type ServedResource } from "@virtual-workspaces/framework";
import { MetadataCollection, type MetadataOptions } from "@virtual-workspaces/store";
import type { Bindings } from "../bindings/bindings.ts";
import type { CrdController } from "../crds/controller/controller.ts";
import { keySpacesOf } from "../state/key-spaces.ts";
import { withOriginalVersion } from "./served-from.ts";

/** Sources of {@link MetadataKinds}, among them all custom kinds. */
export interface MetadataKindsOptions extends Omit<MetadataOptions, "keySpaces"> {
  readonly crds: Pick<CrdController, "scopeOf">;
  readonly bindings: Pick<Bindings, "scopeOf" | "ownKind">;
  /** Resources of every logical cluster. */
  readonly base: readonly ServedResource[];
}

/** History from which watches of a resource resume, without a fallback to older events in the store. */
const HISTORY = { events: 4096, bytes: 4 * 2 ** 20 } as const;

interface KnownMetadata {
  readonly metadata: MetadataCollection;
  readonly served: ServedResource;
}

/**
 * Serves metadata of resources over all logical clusters of a shard (kcp's wildcard partial metadata): objects of all
 * CustomResourceDefinitions and identities together, in any stored version, whichever the client requests. Memory: a few
 * hundred bytes for each requested resource while it exists, and that of {@link MetadataCollection} while clients read.
 */
export class MetadataKinds {
  readonly #options: MetadataKindsOptions;
  readonly #custom = new Map<string, KnownMetadata>();
  readonly #own = new WeakMap<ServedResource, ServedResource>();

  constructor(options: MetadataKindsOptions) {
    this.#options = options;
  }

  /** Returns the resource; `undefined` if no kind has the name. @throws ApiError 503 before the kinds are known */
  of(resource: GroupResource): ServedResource | undefined {
    const own = this.#ownKind(resource);
    return own === undefined ? this.#customKind(resource) : this.#wrapped(own);
  }

  /** Returns a kind of kcp's own, stored in one place whatever else has its name; its metadata too appears in any version. */
  #ownKind({ group, resource }: GroupResource): ServedResource | undefined {
    const { base, bindings } = this.#options;
    const found = base.find(
      ({ definition, storedAs }) =>
        definition.group === group && definition.plural === resource && storedAs === undefined && isSystem(group),
    );
    return found ?? bindings.ownKind({ group, resource });
  }

  #wrapped(own: ServedResource): ServedResource {
    const served = this.#own.get(own) ?? withOriginalVersion(own);
    this.#own.set(own, served);
    return served;
  }

  #customKind(resource: GroupResource): ServedResource | undefined {
    const { crds, bindings } = this.#options;
    const name = `${resource.resource}.${resource.group}`;
    const scope = crds.scopeOf(resource) ?? bindings.scopeOf(resource);
    if (scope === undefined) {
      this.#custom.delete(name);
      return undefined;
    }
    const before = this.#custom.get(name);
    if (before?.served.definition.scope === scope) return before.served;
    const kind = kindOf(resource, scope);
    const metadata = before?.metadata ?? this.#collection(kind);
    const served = withOriginalVersion(kind.serve(metadata, { verbs: ["list", "watch"] }));
    this.#custom.set(name, { metadata, served });
    return served;
  }

  #collection(kind: Resource): MetadataCollection {
    const { crds: _crds, bindings: _bindings, base: _base, ...options } = this.#options;
    const { group, plural } = kind;
    return new MetadataCollection(kind, {
      history: HISTORY,
      ...options,
      keySpaces: keySpacesOf({ group, resource: plural }),
    });
  }
}

/** Whether kcp defines the kinds of a group as its own CustomResourceDefinitions. */
function isSystem(group: string): boolean {
  return group.endsWith(".kcp.io");
}

/** Returns a kind that stands for any version and kind of a resource. */
function kindOf({ group, resource }: GroupResource, scope: "Cluster" | "Namespaced"): Resource {
  return new Resource({ group, version: "*", kind: "PartialObjectMetadata", plural: resource, scope });
}
