// The tick, as a kind and as a storage that lists and tells changes, so that the hub keeps one source for all watchers.
import { defineResource } from "@virtual-workspaces/framework";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { START, tickObject } from "./tick.ts";

export const Tick = defineResource({
  group: "bench.example",
  version: "v1",
  kind: "Tick",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});

export class TickSource {
  /** How many watches have been opened. */
  opened = 0;
  #published = 0;
  #wake = Promise.withResolvers<void>();

  readonly storage: Storage = {
    list: () => ({ items: [tickObject(this.#published)], resourceVersion: String(START + this.#published) }),
    head: () => String(START + this.#published),
    changes: (_scope, after) => this.#changes(Number(after) - START),
    shareKey: () => "the source answers everybody alike",
  };

  /** The nth change. */
  readonly publish = (n: number): void => {
    this.#published = n;
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  };

  async *#changes(after: number) {
    this.opened += 1;
    for (let n = after + 1; ; n++) {
      while (n > this.#published) await this.#wake.promise;
      yield { type: "set", object: tickObject(n) } as const;
    }
  }
}
