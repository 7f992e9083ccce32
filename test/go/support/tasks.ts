// Tasks, which the Go clients write with their own typed client.
import {
  authenticated,
  type Collection,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
} from "@virtual-workspaces/framework";
import type { CollectionPart } from "@virtual-workspaces/framework/storage";
import { type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "../../_support/server.ts";
import { GoClient, type GoClientOptions, type GoCommand } from "./client.ts";

/** The same as `Task` in test/go/clients/task.go. */
export const Task = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Task",
  scope: "Namespaced",
  spec: {
    type: "object",
    required: ["title"],
    properties: {
      title: { type: "string", maxLength: 100 },
      steps: { type: "integer", format: "int32", minimum: 0 },
      count: { type: "integer", format: "int64" },
    },
  },
  status: {
    type: "object",
    properties: {
      phase: { type: "string", enum: ["Open", "Started", "Done"] },
      done: { type: "integer", format: "int32" },
      conditions: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        items: {
          type: "object",
          required: ["type", "status"],
          properties: {
            type: { type: "string" },
            status: { type: "string", enum: ["True", "False", "Unknown"] },
            reason: { type: "string" },
            message: { type: "string" },
            observedGeneration: { type: "integer", format: "int64" },
            lastTransitionTime: { type: "string", format: "date-time" },
          },
        },
      },
    },
  },
  columns: { Title: ".spec.title", Phase: ".status.phase" },
  subresources: { status: true, scale: { specReplicasPath: ".spec.steps", statusReplicasPath: ".status.done" } },
});

export type TaskContent = typeof Task extends { collection(): Collection<infer Content> } ? Content : never;

/** Server of tasks, with clients that write them. */
export class TaskStage implements AsyncDisposable {
  readonly #collection: Collection<TaskContent>;
  readonly #served: readonly ServedResource[];
  readonly #home: KubeconfigHome;
  #server: TlsServer;

  private constructor(
    kept: { readonly collection: Collection<TaskContent>; readonly served: readonly ServedResource[] },
    server: TlsServer,
    home: KubeconfigHome,
  ) {
    this.#collection = kept.collection;
    this.#served = kept.served;
    this.#server = server;
    this.#home = home;
  }

  /** @param serve the objects that clients see @default all tasks, unchanged */
  static async start(
    serve = (tasks: Collection<TaskContent>): readonly ServedResource[] => [Task.serve(tasks)],
  ): Promise<TaskStage> {
    const collection = Task.collection();
    const served = serve(collection);
    const server = await startTls([tasksView(served)]);
    const { authority, port } = server;
    const contexts = { tasks: "/services/tasks/clusters/root" };
    const home = await kubeconfigHome({ authority, port, contexts, namespace: "default" });
    return new TaskStage({ collection, served }, server, home);
  }

  /** Tasks that clients see. */
  get tasks(): CollectionPart<TaskContent> {
    return this.#collection.in("root", "default");
  }

  get home(): KubeconfigHome {
    return this.#home;
  }

  client(command: GoCommand, options: Omit<GoClientOptions, "kubeconfig"> = {}): GoClient {
    return GoClient.start(command, { ...options, kubeconfig: this.#home.kubeconfig });
  }

  /** Starts another server in place of this one, with the same tasks, and runs `meanwhile` in between. */
  async restart(meanwhile: () => void): Promise<void> {
    const { port, authority } = this.#server;
    await this.#server.close();
    meanwhile();
    this.#server = await startTls([tasksView(this.#served)], { port, authority });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
    this.#home[Symbol.dispose]();
  }
}

function tasksView(resources: readonly ServedResource[]): ReturnType<typeof defineVirtualWorkspace> {
  return defineVirtualWorkspace({
    name: "tasks",
    path: "/clusters/:cluster",
    authorize: authenticated(),
    resources,
  });
}
