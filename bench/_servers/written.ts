// What is measured: kinds that are written, one without a schema to speak of, one with a schema, one with a rule as well.
import {
  authenticated,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
  staticTokens,
} from "@virtual-workspaces/framework";
import { serveCommands } from "../_harness/commands.ts";
import { stalls } from "./stalls.ts";
import { type KindName, ruledSpec, specOf, writtenObject } from "./written-kinds.ts";

const define = (kind: KindName) =>
  defineResource({ group: "bench.example", version: "v1", kind, scope: "Cluster", spec: specOf(kind) });
const kinds = (["Free", "Typed", "Ruled"] as const).map(define);
const collections = kinds.map((kind) => kind.collection());
let resources: readonly ServedResource[] = kinds.map((kind, at) => kind.serve(collections[at] as never));

const server = createServer({
  virtualWorkspaces: [
    defineVirtualWorkspace({ name: "bench", path: "/", authorize: authenticated(), resources: () => resources }),
  ],
  authentication: [staticTokens({ "bench-token": { name: "alice", groups: ["team"] } })],
});

const commands = {
  ...stalls,
  listen: async (): Promise<number> => (await server.listen({ port: 0 })).port,
  /** Keeps so many objects of about so many bytes, or replaces all of them but each tenth. @returns their bytes */
  fill: ({
    count,
    bytes,
    again,
  }: {
    readonly count: number;
    readonly bytes: number;
    readonly again: boolean;
  }): number => {
    const collection = collections[0] as (typeof collections)[0];
    const { spec } = writtenObject("Free", {}, bytes) as { readonly spec: object };
    const part = collection.in("");
    for (let at = 0; at < count; at++) if (!again || at % 10 !== 0) part.set(`w-${at}`, { ...spec, again } as never);
    let sum = 0;
    for (const [, object] of collection.cache().cache.snapshot().objects.entries()) sum += object.bytes.length;
    return sum;
  },
  /** Forgets all objects. */
  clear: (): void => {
    for (const collection of collections) {
      const part = collection.in("");
      for (const { metadata } of part.list()) part.delete(metadata.name ?? "");
    }
  },
  /** Serves so many further kinds, with one schema or with one each. */
  define: ({ count, equal }: { readonly count: number; readonly equal: boolean }): void => {
    const more = Array.from({ length: count }, (_, at) =>
      defineResource({
        group: "more.example",
        version: "v1",
        kind: `${equal ? "Equal" : "Own"}${at}`,
        scope: "Cluster",
        spec: ruledSpec(equal ? 0 : at),
      }),
    );
    resources = [...resources, ...more.map((kind) => kind.serve(kind.collection()))];
  },
};

export type Written = typeof commands;

serveCommands(commands);
