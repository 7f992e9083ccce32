// An Express application that was there before, and the middleware that makes an API server of it as well: what is
// posted to /todos is an event in every open `kubectl get todos --watch`.
//
//   TODOS_TOKEN=… node examples/express-app.ts
//
// docs/how-to/express.md explains it.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { authenticated, defineResource, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { type VirtualWorkspacesMiddleware, virtualWorkspaces } from "@virtual-workspaces/framework/server";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import express, { type Express } from "express";

const Todo = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Todo",
  scope: "Cluster",
  description: "Something to be done.",
  spec: {
    type: "object",
    required: ["title"],
    properties: { title: { type: "string", maxLength: 200 }, done: { type: "boolean" } },
  },
  columns: { Title: ".spec.title", Done: ".spec.done" },
});

const all = Todo.collection();
const todos = all.in("root");
todos.set("milk", { title: "Buy milk", done: false });

const view = defineVirtualWorkspace({
  name: "express-app",
  path: "/clusters/:cluster",
  authorize: authenticated(),
  resources: [Todo.serve(all)],
});
export default view;

/** The application. Its own routes stay as they are; everything below /services is the API server's. */
export function createApp(token: string): { readonly app: Express; readonly api: VirtualWorkspacesMiddleware } {
  const api = virtualWorkspaces({
    virtualWorkspaces: [view],
    authentication: [staticTokens({ [token]: { name: "admin" } })],
  });
  const app = express();
  app.use(api); // before parsers of bodies
  app.get("/todos", (_req, res) => {
    res.json(todos.list().map(({ metadata, spec }) => ({ id: metadata.name, ...spec })));
  });
  app.post("/todos", express.json(), (req, res) => {
    const { title } = req.body as { readonly title: string };
    const { metadata, spec } = todos.set(randomUUID(), { title, done: false });
    res.status(201).json({ id: metadata.name, ...spec });
  });
  return { app, api };
}

if (import.meta.main) {
  const token = process.env["TODOS_TOKEN"] ?? randomUUID();
  const { app, api } = createApp(token);
  await api.started;
  const { tls } = await generatedTls({ dir: "express-app-tls" }); // kubectl sends tokens over HTTPS only
  const server = createServer({ ...tls, maxHeaderSize: 1_048_576, keepAliveTimeout: 120_000 }, app);
  server.maxHeadersCount = 0;
  server.on("upgrade", (req, socket, head) => {
    if (!api.upgrade(req, socket, head)) socket.destroy();
  });
  await once(server.listen(Number(process.argv[2] ?? 8443), "127.0.0.1"), "listening");
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`${url}, token ${token}, authority express-app-tls/ca.crt`);
  await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
  api.drain(); // ends watches; new requests are 503
  const closed = once(server.close(), "close");
  await Promise.race([closed, delay(10_000, undefined, { ref: false })]);
  await api[Symbol.asyncDispose]();
  server.closeAllConnections();
  await closed;
}
