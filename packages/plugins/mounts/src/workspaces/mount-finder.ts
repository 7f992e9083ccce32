import { isApiError, type KindReference, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Client } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { KindInformer } from "./kind-informer.ts";
import { KindChanges, MountKinds } from "./mount-kinds.ts";
import type { FoundMount, MountReference } from "./mount-object.ts";

/** Options of {@link MountFinder}. */
export interface MountFinderOptions {
  /** Client for all logical clusters. */
  readonly client: Client;
  /** Returns the mounted Workspaces of a logical cluster. */
  readonly mountedIn: (cluster: string) => readonly ObjectKey[];
  /** Returns the Workspaces that mount an object of a group, of any kind. */
  readonly mountedBy: (group: string, object: ObjectKey) => readonly ObjectKey[];
  readonly again: (workspaces: readonly ObjectKey[]) => void;
  readonly onError: (error: unknown) => void;
}

/** Finds the mount objects of Workspaces, and reconciles the Workspaces after changes. */
export class MountFinder implements AsyncDisposable {
  readonly #options: MountFinderOptions;
  readonly #kinds: MountKinds;
  readonly #changes: KindChanges;
  /** Informers by group and plural. */
  readonly #followed = new Map<string, KindInformer>();
  /** Informer key of each Workspace. */
  readonly #held = new Map<string, string>();
  readonly #ending = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(options: MountFinderOptions) {
    const { client, onError } = options;
    this.#options = options;
    this.#kinds = new MountKinds(client, this.#stop.signal);
    this.#changes = new KindChanges({ client, onError, changed: (cluster) => this.#servedAnew(cluster) });
  }

  /** Returns the current mount object of a Workspace. @throws the server's error, except for a missing object */
  async find(workspace: ObjectKey, ref: MountReference): Promise<FoundMount> {
    try {
      const found = await this.#look(workspace, ref);
      if (found !== undefined) return found;
      // Looks the kind up once more, since it may have changed.
      this.#kinds.forget(workspace.cluster);
      return (await this.#look(workspace, ref)) ?? { kind: "missing" };
    } catch (error) {
      // An invalid name cannot be requested.
      if (isApiError(error) && error.code === 400) return { kind: "invalid", message: error.message };
      throw error;
    }
  }

  /** Returns the delay before the next lookup of a missing kind, in ms. */
  patience({ cluster }: ObjectKey, ref: MountReference): number {
    return this.#kinds.patience({ cluster, ref });
  }

  /** Removes a deleted Workspace. */
  letGo(workspace: ObjectKey): void {
    this.#changes.rest(workspace);
    this.#hold(workspace, undefined);
    if (this.#options.mountedIn(workspace.cluster).length === 0) this.#kinds.forget(workspace.cluster);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the controller of mounted workspaces has stopped"));
    for (const kind of this.#followed.values()) this.#end(kind);
    this.#followed.clear();
    await Promise.all([this.#changes[Symbol.asyncDispose](), ...this.#ending]);
  }

  /** Returns `undefined` when the kind was served at its lookup, and is no longer. */
  async #look(workspace: ObjectKey, ref: MountReference): Promise<FoundMount | undefined> {
    const { cluster } = workspace;
    const kind = await this.#kinds.find({ cluster, ref });
    this.#hold(workspace, kind);
    if (kind === undefined) {
      this.#changes.wait(workspace);
      return { kind: "unserved" };
    }
    this.#changes.rest(workspace);
    const message = scopeProblem(kind, ref);
    if (message !== undefined) return { kind: "invalid", message };
    const object = { cluster, namespace: ref.namespace ?? "", name: ref.name };
    const followed = this.#followed.get(resourceText(kind));
    followed?.hold(workspace, object);
    return followed?.get(kind, object);
  }

  /** Sets the kind of a Workspace's mount object. A kind is watched while a Workspace uses it. */
  #hold(workspace: ObjectKey, kind: KindReference | undefined): void {
    const text = keyText(workspace);
    const before = this.#held.get(text);
    const now = kind && resourceText(kind);
    if (before === now) return;
    if (before !== undefined) this.#release(workspace, before);
    if (kind === undefined || now === undefined) {
      this.#held.delete(text);
      return;
    }
    this.#held.set(text, now);
    const followed = this.#followed.get(now) ?? this.#follow(kind);
    this.#followed.set(now, followed);
    followed.hold(workspace);
  }

  #release(workspace: ObjectKey, resource: string): void {
    const followed = this.#followed.get(resource);
    followed?.release(workspace);
    if (followed === undefined || followed.size > 0) return;
    this.#followed.delete(resource);
    this.#end(followed);
  }

  #follow(kind: KindReference): KindInformer {
    const { client, mountedBy, again, onError } = this.#options;
    return new KindInformer({
      client,
      kind,
      changed: (object) => again(mountedBy(kind.group, object)),
      again: (workspaces, isGone) => {
        if (isGone) for (const { cluster } of workspaces) this.#kinds.forget(cluster);
        again(workspaces);
      },
      onError,
      signal: this.#stop.signal,
    });
  }

  #end(followed: KindInformer): void {
    const ending = followed[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #servedAnew(cluster: string): void {
    const { mountedIn, again } = this.#options;
    this.#kinds.forget(cluster);
    again(mountedIn(cluster));
  }
}

function resourceText({ group, plural }: KindReference): string {
  return `${plural}.${group}`;
}

/** Returns why a reference does not match the scope of its kind. */
function scopeProblem({ kind, scope }: KindReference, { namespace = "" }: MountReference): string | undefined {
  if (scope === "Namespaced" && namespace === "")
    return `${kind} is namespaced, but spec.mount.ref.namespace is missing`;
  if (scope === "Cluster" && namespace !== "") return `${kind} is cluster-scoped, but spec.mount.ref.namespace is set`;
  return undefined;
}
