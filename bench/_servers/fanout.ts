// What is measured: a view whose storage lists and tells changes, so that the hub keeps one source for all watchers.
import {
  authenticated,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  type Server,
  type Storage,
  staticTokens,
  type TlsOptions,
} from "@virtual-workspaces/framework";
import { serveCommands } from "../_harness/commands.ts";
import { publisher } from "./publisher.ts";
import { START, tickObject } from "./tick.ts";

let published = 0;
let wake = Promise.withResolvers<void>();
let open = 0;

const storage: Storage = {
  list: () => ({ items: [tickObject(published)], resourceVersion: String(START + published) }),
  head: () => String(START + published),
  async *changes(_scope, after) {
    open += 1;
    for (let n = Number(after) - START + 1; ; n++) {
      while (n > published) await wake.promise;
      yield { type: "set", object: tickObject(n) };
    }
  },
  shareKey: () => "the source answers everybody alike",
};

const Tick = defineResource({
  group: "bench.example",
  version: "v1",
  kind: "Tick",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});

let server: Server;

const commands = {
  ...publisher((n) => {
    published = n;
    wake.resolve();
    wake = Promise.withResolvers();
  }),
  listen: async (tls: TlsOptions | undefined): Promise<number> => {
    server = createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "bench",
          path: "/",
          authorize: authenticated(),
          resources: [Tick.serve(storage as never)],
        }),
      ],
      authentication: [staticTokens({ "token-a": { name: "alice" }, "token-b": { name: "bob" } })],
      minWatchTimeout: 600_000,
      ...(tls === undefined ? {} : { tls }),
    });
    return (await server.listen({ port: 0 })).port;
  },
  /** Counted by the server, and by the source itself. */
  stats: () => ({ ...server.stats, opened: open }),
};

export type Fanout = typeof commands;

serveCommands(commands);
