import { isDeepStrictEqual } from "node:util";
import type { KindReference } from "@virtual-workspaces/apimachinery";
import { Client, type Controller, controller, Informer } from "@virtual-workspaces/client";
import type { Log } from "@virtual-workspaces/framework";
import { type Holds, PathMapping, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { Routes } from "../passing/routes.ts";
import { Reading } from "../shards/reading.ts";
import { judged, type Verdict } from "./judge.ts";
import { ObjectRoutes } from "./object-routes.ts";
import { Statuses } from "./statuses.ts";

/** Which objects say what is behind paths. */
export interface PathMappingsOptions {
  /** The server of `root`, asked as one of its administrators. */
  readonly root: Upstream;
  /** Those that are mapped otherwise, to which these are added. */
  readonly routes: Routes;
  readonly log: Log;
}

type Mapping = Holds<typeof PathMapping>;

const SECRET: KindReference = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };

/** Follows the PathMappings of `root`: what they say is mapped as long as they are there. That there is no such kind yet is no failure. */
export class PathMappings implements AsyncDisposable {
  readonly #log: Log;
  readonly #all: Routes;
  readonly #routes: ObjectRoutes;
  readonly #mappings: Informer<Mapping>;
  /** Read once an object names one. */
  readonly #secrets: Informer;
  readonly #ofMappings: Reading;
  readonly #ofSecrets: Reading;
  readonly #statuses: Statuses;
  readonly #controller: Controller<PathMapping>;
  #verdicts: ReadonlyMap<string, Verdict> = new Map();
  #isTried = false;
  #isOver = false;

  constructor({ root, routes, log }: PathMappingsOptions) {
    this.#log = log;
    this.#all = routes;
    routes.isRead = false;
    this.#routes = new ObjectRoutes(routes);
    const client = new Client({ upstream: root, cluster: ROOT_CLUSTER });
    this.#ofMappings = new Reading((error) => this.#failed("PathMappings cannot be read", error));
    this.#ofSecrets = new Reading((error) => this.#failed("Secrets of PathMappings cannot be read", error));
    this.#statuses = new Statuses(client);
    this.#mappings = new Informer<Mapping>({ resource: client.resource(PathMapping) });
    this.#secrets = new Informer({ resource: client.resource(SECRET), fields: "type=kubernetes.io/tls" });
    this.#follow(this.#mappings as unknown as Informer, this.#ofMappings);
    this.#follow(this.#secrets, this.#ofSecrets);
    this.#controller = controller<PathMapping>({
      name: "path-mappings",
      sources: [{ informer: this.#mappings }],
      reconcile: ({ name }, { object, signal }) =>
        this.#statuses.tell(name, { object, verdict: this.#verdicts.get(name), signal }),
      onError: ({ error }) => this.#failed("status of a PathMapping cannot be written", error),
    });
    this.#mappings.start();
    void this.tried.then(() => {
      this.#isTried = true;
    });
  }

  /** Resolves when they have been read, or could not be. */
  get tried(): Promise<void> {
    return this.#ofMappings.tried;
  }

  /** For a check. @throws Error before they have been read, or could not be: what is known otherwise can be served */
  check(): void {
    if (!this.#isTried) throw new Error("the PathMappings are being read");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#controller.stop();
    await Promise.all([this.#mappings.stop(), this.#secrets.stop()]);
  }

  #follow(informer: Informer, reading: Reading): void {
    const look = (): void => this.look();
    informer.on({
      added: look,
      // A status alone is nothing new.
      updated: ({ metadata: { generation } }, { metadata: old }) => {
        if (generation === undefined || generation !== old.generation) look();
      },
      deleted: look,
      lifecycle: (event) => {
        const { isFilled } = reading;
        reading.see(event);
        if (reading.isFilled !== isFilled) look();
      },
    });
  }

  /** Has routes as objects say now, once all of them are known: which of them counts, depends on the others, and on what is mapped otherwise. */
  look(): void {
    if (this.#isOver || !this.#ofMappings.isFilled) return;
    this.#all.isRead = true;
    const objects = this.#mappings.store.list();
    if (objects.some(({ spec }) => spec.secretRef !== undefined)) this.#secrets.start();
    const verdicts = judged(objects, {
      fixed: this.#routes.others,
      secret: (at) => (this.#ofSecrets.isFilled ? (this.#secrets.store.get(at) ?? "none") : "unknown"),
    });
    const before = this.#verdicts;
    this.#verdicts = verdicts;
    this.#routes.set(verdicts);
    for (const [name, verdict] of verdicts)
      if (!isDeepStrictEqual(verdict, before.get(name)))
        this.#controller.add({ cluster: ROOT_CLUSTER, namespace: "", name });
  }

  #failed(message: string, error: unknown): void {
    this.#log({ level: "warn", message, error: String(error) });
  }
}
