// Why: no kubelet runs here. This cluster has pods that are listed and watched like any objects. Commands run in the target of
// test/go/target, by Kubernetes' own streaming server and translator of WebSockets; logs are written here, as kubelets serve them.
import type { ServerResponse } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { relay } from "@virtual-workspaces/forwarding";
import { allow, defineResource, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { type PlainServer, startPlain } from "../../../_support/plain.ts";
import { Target } from "../../../go/support/target.ts";

const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
const Pod = defineResource({ group: "", version: "v1", kind: "Pod", scope: "Namespaced", spec: open, status: open });
const STREAMS = ["exec", "portforward"];
const TOKEN = "token-of-the-mount";

interface Line {
  readonly time: string;
  readonly text: string;
}

/** The log of a container: the lines so far, and who follows them. */
class Log {
  readonly lines: Line[] = [];
  readonly followers = new Set<ServerResponse>();
  /** Whether the container has ended. */
  isOver = false;
  /** Whether the headers of an answer wait for the first line: that is what pages in Firefox see of each server. */
  isLate = false;
  /** Requests, by their query. */
  readonly asked: URLSearchParams[] = [];

  add(text: string): void {
    const time = new Date().toISOString().replace("Z", `${String(this.lines.length).padStart(6, "0")}Z`);
    this.lines.push({ time, text });
    for (const follower of this.followers) follower.write(`${time} ${text}\n`);
  }

  serve(res: ServerResponse, query: URLSearchParams): void {
    this.asked.push(query);
    // As metav1.Time, a time of a query has no fractions of a second.
    const since = query.get("sinceTime")?.slice(0, 19) ?? "";
    const all = this.lines.filter(({ time }) => time >= since);
    const tail = query.get("tailLines");
    const shown = tail === null ? all : all.slice(all.length - Math.min(all.length, Number(tail)));
    res.writeHead(200, { "content-type": "text/plain" });
    for (const { time, text } of shown)
      res.write(query.get("timestamps") === "true" ? `${time} ${text}\n` : `${text}\n`);
    if (query.get("follow") !== "true" || this.isOver) return void res.end();
    if (!this.isLate) res.flushHeaders();
    this.followers.add(res.on("close", () => this.followers.delete(res)));
  }

  /** Interrupts what follows the log, as a failure of the network does. */
  interrupt(): void {
    for (const follower of this.followers) follower.destroy();
  }

  /** Ends the log with its container, or begins the next one. */
  setOver(isOver: boolean): void {
    this.isOver = isOver;
    if (isOver) for (const follower of this.followers) follower.end();
  }
}

/** Logs by `<container>` and `<container> previous`. */
type Logs = Readonly<Record<string, Log>>;

function viewOf(pods: ReturnType<typeof Pod.collection>, logs: Logs, url: string) {
  const streams = relay({ upstream: { url }, path: ({ tail }) => tail, what: "the node", onError: () => undefined });
  const advertised = { methods: ["GET", "POST"] as const, connect: () => undefined };
  return defineVirtualWorkspace({
    name: "pods",
    path: "/clusters/:cluster",
    authorize: ({ name, subresource }) =>
      name === "closed" && subresource === "exec" ? { allowed: false, reason: "closed for the night" } : allow(),
    handleWhen: ({ subresource = "" }) => STREAMS.includes(subresource),
    handle: streams.handle,
    upgrade: streams.upgrade,
    resources: [
      Pod.serve(pods, {
        subresources: {
          ...Object.fromEntries(STREAMS.map((name) => [name, advertised])),
          log: {
            connect: (_req, res, { query }) => {
              const name = `${query.get("container")}${query.get("previous") === "true" ? " previous" : ""}`;
              const log = logs[name];
              if (log === undefined) throw ApiError.badRequest(`previous terminated container "${name}" not found`);
              log.serve(res, query);
            },
          },
        },
      }),
    ],
    setup: () => streams,
  });
}

/** A cluster with the pod `running`, which has two containers, and the pod `closed`, in which no command may run. Its kubeconfig's user may impersonate others. */
export class PodCluster implements AsyncDisposable {
  readonly target: Target;
  readonly logs = { main: new Log(), side: new Log(), "side previous": new Log() };
  readonly #pods = Pod.collection();
  #server: PlainServer | undefined;

  private constructor(target: Target) {
    this.target = target;
    const containers = [{ name: "main", ports: [{ containerPort: 7 }] }, { name: "side" }];
    for (const name of ["running", "closed"]) this.#pods.in("root", "default").set(name, { containers });
    this.setState("running");
  }

  static async start(): Promise<PodCluster> {
    const own = new PodCluster(await Target.start());
    own.#server = await startPlain([viewOf(own.#pods, own.logs, own.target.url)], {
      authentication: [staticTokens({ [TOKEN]: { name: "mount" } })],
      impersonation: () => allow(),
    });
    return own;
  }

  /** State of both containers: of their logs, and in the status of the pod. */
  setState(state: "running" | "terminated"): void {
    for (const log of [this.logs.main, this.logs.side]) log.setOver(state === "terminated");
    const containerStatuses = ["main", "side"].map((name) => ({ name, restartCount: 0, state: { [state]: {} } }));
    this.#pods.in("root", "default").setStatus("running", { phase: "Running", containerStatuses });
  }

  get kubeconfig(): string {
    const server = `${this.#server?.url}/services/pods/clusters/root`;
    return JSON.stringify({
      ...{ apiVersion: "v1", kind: "Config", "current-context": "it" },
      contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
      clusters: [{ name: "it", cluster: { server } }],
      users: [{ name: "it", user: { token: TOKEN } }],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const log of Object.values(this.logs)) log.interrupt();
    await this.#server?.[Symbol.asyncDispose]();
    await this.target[Symbol.asyncDispose]();
  }
}
