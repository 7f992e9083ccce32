import type { KubeObject, ObjectKey, Status } from "@virtual-workspaces/apimachinery";
import { forward, sameCaller, type WritableForwarded } from "@virtual-workspaces/forwarding";
import type { Resource } from "@virtual-workspaces/framework";
import type { KindVersions } from "@virtual-workspaces/framework/resource";
import type {
  DeleteOptions,
  Encoded,
  EncodedList,
  GetOptions,
  ListRequest,
  Scope,
  Storage,
  WriteOptions,
} from "@virtual-workspaces/framework/storage";
import type { Upstream } from "@virtual-workspaces/transport";
import type { Backend } from "./backends.ts";

/** Options of {@link ViewObjects}. */
export interface ViewObjectsOptions {
  readonly versions: KindVersions;
  /** Returns the view for a logical cluster. */
  readonly backend: (cluster: string) => Promise<Backend>;
  /** Called when a view fails, once per run of failures. The error contains its address. */
  readonly onError: (error: unknown) => void;
}

type Objects = WritableForwarded<object>;

/**
 * Objects of a kind in the view that stores them, read and written as the caller. It applies no patches, so that admission
 * sees the objects that they make. The view has the last word.
 */
export class ViewObjects implements Storage {
  readonly lifecycle = "storage";
  readonly appliesSelectors = true;
  readonly versions: KindVersions;
  readonly #kind: Resource;
  readonly #options: Pick<ViewObjectsOptions, "backend" | "onError">;
  readonly #objects = new WeakMap<Upstream, Map<string, Objects>>();

  constructor(kind: Resource, { versions, ...options }: ViewObjectsOptions) {
    this.versions = versions;
    this.#kind = kind;
    this.#options = options;
  }

  async get(scope: Scope, key: ObjectKey, options: GetOptions): Promise<KubeObject | Encoded | undefined> {
    return (await this.#at(scope)).get(scope, key, options);
  }

  async list(scope: Scope, options: ListRequest): Promise<EncodedList> {
    return (await this.#at(scope)).list(scope, options);
  }

  async create(scope: Scope, object: KubeObject, options: WriteOptions): Promise<KubeObject | Encoded> {
    return (await this.#at(scope)).create(scope, object, options);
  }

  async update(scope: Scope, object: KubeObject, options: WriteOptions): Promise<KubeObject | Encoded> {
    return (await this.#at(scope)).update(scope, object, options);
  }

  async delete(
    scope: Scope,
    key: ObjectKey,
    options: DeleteOptions,
  ): Promise<KubeObject | Encoded | Status | undefined> {
    return (await this.#at(scope)).delete(scope, key, options) as Promise<KubeObject | Encoded | Status | undefined>;
  }

  async #at({ cluster }: Scope): Promise<Objects> {
    const { backend, onError } = this.#options;
    const { upstream, path, headers } = await backend(cluster);
    const known = this.#objects.get(upstream) ?? new Map<string, Objects>();
    this.#objects.set(upstream, known);
    let objects = known.get(path);
    if (objects === undefined) {
      // URLs may change often: the last one is enough.
      known.clear();
      objects = forward({ resource: this.#kind, upstream, path, headers, identity: sameCaller, onError });
      known.set(path, objects);
    }
    return objects;
  }
}
