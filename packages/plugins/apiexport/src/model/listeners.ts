import type { InformerEvent, InformerHandlers } from "@virtual-workspaces/client";

/** What has changed: an export or schema of any shard, or a binding, by its logical cluster and name. */
export interface ModelChange {
  readonly of: "binding" | "export" | "schema";
  readonly cluster: string;
  readonly name: string;
}

/** Who is told of changes, at once. */
export class ModelListeners {
  readonly #all = new Set<(change: ModelChange) => void>();

  /** @param listener must not throw @returns what takes it off again */
  add(listener: (change: ModelChange) => void): Disposable {
    this.#all.add(listener);
    return { [Symbol.dispose]: () => void this.#all.delete(listener) };
  }

  handlers<T>(of: ModelChange["of"]): InformerHandlers<T> {
    const tell = ({ key: { cluster, name } }: Pick<InformerEvent<T>, "key">): void => {
      for (const listener of this.#all) listener({ of, cluster, name });
    };
    return {
      added: (_, event) => tell(event),
      updated: (_, __, event) => tell(event),
      deleted: (_, event) => tell(event),
    };
  }
}
