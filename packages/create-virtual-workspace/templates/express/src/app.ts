// An Express application, and an API server in it: what is posted to /todos is an event in every `kubectl get todos --watch`.
import { randomUUID } from "node:crypto";
import {
  type Authenticator,
  authenticated,
  defineResource,
  defineVirtualWorkspace,
} from "@virtual-workspaces/framework";
import { type VirtualWorkspacesMiddleware, virtualWorkspaces } from "@virtual-workspaces/framework/server";
import express, { type Express } from "express";

// The schema is the type: { title: string; done?: boolean }
export const Todo = defineResource({
  group: "my-view.example.dev",
  version: "v1",
  kind: "Todo",
  scope: "Cluster",
  description: "A task.",
  spec: {
    type: "object",
    required: ["title"],
    properties: { title: { type: "string", minLength: 1, maxLength: 200 }, done: { type: "boolean", default: false } },
  },
  columns: { Title: ".spec.title", Done: ".spec.done" },
});

export interface App {
  readonly app: Express;
  /** Close it when the server closes: it ends open watches. */
  readonly api: VirtualWorkspacesMiddleware;
  /** URL path of the view. */
  readonly path: string;
}

/** Creates the application. Its own routes stay as they are; the API server has everything below /services. */
export function createApp(authentication: readonly Authenticator[]): App {
  const all = Todo.collection();
  const todos = all.in("root");
  const view = defineVirtualWorkspace({
    name: "my-view", // served below /services/my-view/clusters/<logical cluster>/apis/my-view.example.dev/v1
    path: "/clusters/:cluster",
    // Required: the file does not compile without it. Decide who may read and write what.
    authorize: authenticated(),
    resources: [Todo.serve(all)],
  });

  const app = express();
  const api = virtualWorkspaces({ virtualWorkspaces: [view], authentication });
  // Before body parsers and compression, which would read and delay what the API server streams.
  app.use(api);
  app.get("/todos", (_req, res) => {
    res.json(todos.list().map(({ metadata, spec }) => ({ id: metadata.name, ...spec })));
  });
  app.post("/todos", express.json(), (req, res) => {
    const { title } = req.body as { readonly title?: unknown };
    if (typeof title !== "string" || title === "") return void res.status(400).json({ error: "title: missing" });
    const { metadata, spec } = todos.set(randomUUID(), { title, done: false });
    res.status(201).json({ id: metadata.name, ...spec });
  });
  return { app, api, path: `/services/${view.name}` };
}
