// Server for storms of bad requests, with every kind of view, so that the requests reach every part.
import {
  allow,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { TlsOptions } from "@virtual-workspaces/framework/tls";
import { testLog } from "../_setup/log.ts";

const Note = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", properties: { n: { type: "integer" } } },
  selectableFields: [".spec.n"],
});

/** Returns a server whose warnings and errors fail the test. */
export function stormServer(tls?: TlsOptions): Server {
  const notes = Note.collection();
  for (let n = 0; n < 20; n++) notes.in("root").set(n === 0 ? "a" : `n${n}`, { n }, { labels: { n: String(n) } });
  const resources = [Note.serve(notes)];
  return createServer({
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        wildcard: true,
        authorize: ({ path }) => (path.startsWith("/version") ? deny("ask somebody else") : allow()),
        resources: async () => resources,
      }),
      defineVirtualWorkspace({
        name: "raw",
        path: "/:any",
        authorize: async () => allow(),
        handle: async (req, res, { tail, search }) => {
          let length = 0;
          for await (const piece of req) length += piece.length;
          res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ tail, search, length }));
        },
      }),
      defineVirtualWorkspace({
        name: "socket",
        path: "/",
        authorize: () => allow(),
        upgrade: (_req, socket) => void socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n"),
      }),
    ],
    authentication: [staticTokens({ token: { name: "alice" } })],
    log: testLog().log,
    ...(tls === undefined ? {} : { tls }),
  });
}
