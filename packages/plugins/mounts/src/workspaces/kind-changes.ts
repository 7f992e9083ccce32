import type { KindReference, ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Client, Informer, keyText } from "@virtual-workspaces/client";
import { APIBindingV1alpha1 } from "@virtual-workspaces/kcp";
import { slim } from "./slim.ts";

const CRD: KindReference = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
};

/** Who is told of changes of what is served. */
export interface KindChangesOptions {
  /** Of all logical clusters. */
  readonly client: Client;
  /** What is served in a logical cluster may have changed. */
  readonly changed: (cluster: string) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * What brings kinds into workspaces: CustomResourceDefinitions and APIBindings of all logical clusters of a shard, followed by their
 * metadata for as long as a Workspace waits for a kind that is not there. Memory meanwhile: some hundred bytes for each of them.
 */
export class KindChanges implements AsyncDisposable {
  readonly #options: KindChangesOptions;
  readonly #waiting = new Map<string, ObjectKey>();
  readonly #ending = new Set<Promise<void>>();
  #following: readonly Informer<object>[] | undefined;

  constructor(options: KindChangesOptions) {
    this.#options = options;
  }

  /** Follows them on behalf of a Workspace. */
  wait(workspace: ObjectKey): void {
    this.#waiting.set(keyText(workspace), workspace);
    this.#following ??= [CRD, APIBindingV1alpha1].map((kind) => this.#follow(kind));
  }

  /** The Workspace waits no more. */
  rest(workspace: ObjectKey): void {
    this.#waiting.delete(keyText(workspace));
    if (this.#waiting.size === 0) this.#end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    await Promise.all(this.#ending);
  }

  #follow(kind: Omit<KindReference, "type">): Informer<object> {
    const { client, changed, onError } = this.#options;
    const informer = new Informer<object>({ resource: client.metadata(kind), transform: slim });
    const told = (_: unknown, { key: { cluster } }: { readonly key: ObjectKey }): void => changed(cluster);
    informer.on({
      added: (object, event) => {
        if (!event.initial) told(object, event);
      },
      updated: (object, _, event) => told(object, event),
      deleted: told,
      lifecycle: (event) => {
        // Those that came before are not told one by one.
        if (event.type === "synced") for (const { cluster } of this.#waiting.values()) changed(cluster);
        if (event.type === "error") onError(event.error);
      },
    });
    return informer.start();
  }

  #end(): void {
    for (const informer of this.#following ?? []) {
      const ending = informer.stop().finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    }
    this.#following = undefined;
  }
}
