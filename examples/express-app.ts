// An Express application that was there before, and the middleware that makes an API server of it as well: what is
// posted to /todos is an event in every open `kubectl get todos --watch`.
//
//   TODOS_TOKEN=… node examples/express-app.ts
import { randomUUID } from "node:crypto";
import { authenticated, defineResource, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { type VirtualWorkspacesMiddleware, virtualWorkspaces } from "@virtual-workspaces/framework/server";
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
  const app = express();
  app.get("/todos", (_req, res) => {
    res.json(todos.list().map(({ metadata, spec }) => ({ id: metadata.name, ...spec })));
  });
  app.post("/todos", express.json(), (req, res) => {
    const { title } = req.body as { readonly title: string };
    const { metadata, spec } = todos.set(randomUUID(), { title, done: false });
    res.status(201).json({ id: metadata.name, ...spec });
  });
  const api = virtualWorkspaces({
    virtualWorkspaces: [view],
    authentication: [staticTokens({ [token]: { name: "admin" } })],
  });
  app.use(api);
  return { app, api };
}

if (import.meta.main) {
  const token = process.env["TODOS_TOKEN"] ?? randomUUID();
  createApp(token).app.listen(8080, "127.0.0.1", () => console.log(`http://127.0.0.1:8080, token ${token}`));
}
