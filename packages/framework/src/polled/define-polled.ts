import { Polled } from "./polled.ts";
import type { PolledOptions, WritablePolledOptions } from "./polled-options.ts";
import { WritablePolled } from "./writable-polled.ts";

/**
 * Serves a source outside that reports no changes: a directory, a table, a REST service. It reads the source every so
 * often, and makes the differences events. With `write` and `remove` clients can write: reads and writes take turns, so that a
 * read never undoes a write, and a write answers with what the source has stored.
 *
 * @throws Error on an invalid duration, or with only one of `write` and `remove`
 *
 * @example
 * ```ts
 * import { authenticated, defineResource, defineVirtualWorkspace, polled } from "@virtual-workspaces/framework";
 *
 * const Host = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Host",
 *   scope: "Cluster",
 *   spec: { type: "object", properties: { address: { type: "string" } } },
 * });
 * const hosts = polled({
 *   collection: Host.collection(),
 *   cluster: "root",
 *   every: 10_000,
 *   read: async ({ signal }) => {
 *     const answer = await fetch("https://inventory.example.dev/hosts", { signal });
 *     const found = (await answer.json()) as { name: string; address: string }[];
 *     return found.map(({ name, address }) => ({ metadata: { name }, spec: { address } }));
 *   },
 * });
 *
 * export default defineVirtualWorkspace({
 *   name: "hosts",
 *   path: "/clusters/:cluster",
 *   authorize: authenticated(),
 *   resources: [Host.serve(hosts)],
 *   ready: hosts.ready,
 *   setup: (context) => hosts.start(context),
 * });
 * ```
 * @see docs/how-to/polled-sources.md
 */
export function polled<T extends object>(options: WritablePolledOptions<T>): WritablePolled<T>;
export function polled<T extends object>(options: PolledOptions<T>): Polled<T>;
export function polled<T extends object>(options: PolledOptions<T>): Polled<T> {
  const { write, remove } = options as Partial<WritablePolledOptions<T>>;
  if (write === undefined && remove === undefined) return new Polled<T>(options);
  if (write !== undefined && remove !== undefined) return new WritablePolled<T>({ ...options, write, remove });
  const { plural } = options.collection.resource;
  throw new Error(`polled ${plural} has only one of write and remove: set both, and limit the verbs in serve`);
}
