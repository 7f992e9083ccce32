import { isDeepStrictEqual } from "node:util";
import type { KindReference } from "@virtual-workspaces/apimachinery";
import { Client, type Controller, controller, Informer } from "@virtual-workspaces/client";
import type { Log } from "@virtual-workspaces/framework/server";
import {
  ACCEPTED_CONDITION,
  crdManifest,
  type Holds,
  type Manifests,
  PathMapping,
  ROOT_CLUSTER,
} from "@virtual-workspaces/kcp";
import { markFalse, markTrue } from "@virtual-workspaces/kcp/conditions";
import type { Upstream } from "@virtual-workspaces/transport";
import type { Routes } from "../forwarding/routes.ts";
import { InformerProgress } from "../informers.ts";
import { judged, type Verdict } from "./judge.ts";
import { ObjectRoutes } from "./object-routes.ts";

/** Manifest that `root` needs for a front proxy with PathMappings: their kind. */
export const manifests: Manifests = [crdManifest(PathMapping)];

/** Options of {@link PathMappings}. */
export interface PathMappingsOptions {
  /** Server of `root`, with the credentials of an administrator. */
  readonly root: Upstream;
  /** Static routes, to which those of objects are added. */
  readonly routes: Routes;
  /** Whether to write their status. @default true */
  readonly writesStatus?: boolean;
  readonly log: Log;
}

type Mapping = Holds<typeof PathMapping>;

const SECRET: KindReference = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };

/** Serves the PathMappings of `root` as long as they exist. A missing kind is no failure. */
export class PathMappings implements AsyncDisposable {
  readonly #log: Log;
  readonly #all: Routes;
  readonly #routes: ObjectRoutes;
  readonly #mappings: Informer<Mapping>;
  /** Started once an object names a Secret. */
  readonly #secrets: Informer;
  readonly #ofMappings: InformerProgress;
  readonly #ofSecrets: InformerProgress;
  readonly #statuses: Statuses;
  readonly #controller: Controller<PathMapping> | undefined;
  #verdicts: ReadonlyMap<string, Verdict> = new Map();
  #isTried = false;
  #isOver = false;

  constructor({ root, routes, writesStatus = true, log }: PathMappingsOptions) {
    this.#log = log;
    this.#all = routes;
    routes.isRead = false;
    this.#routes = new ObjectRoutes(routes);
    const client = new Client({ upstream: root, cluster: ROOT_CLUSTER });
    this.#ofMappings = new InformerProgress((error) => this.#failed("cannot read PathMappings", error));
    this.#ofSecrets = new InformerProgress((error) => this.#failed("cannot read Secrets of PathMappings", error));
    this.#statuses = new Statuses(client);
    this.#mappings = new Informer<Mapping>({ resource: client.resource(PathMapping) });
    this.#secrets = new Informer({ resource: client.resource(SECRET), fields: "type=kubernetes.io/tls" });
    this.#follow(this.#mappings as unknown as Informer, this.#ofMappings);
    this.#follow(this.#secrets, this.#ofSecrets);
    this.#controller = writesStatus ? this.#statusController() : undefined;
    this.#mappings.start();
    void this.tried.then(() => {
      this.#isTried = true;
    });
  }

  /** Resolves after the first attempt to read them. */
  get tried(): Promise<void> {
    return this.#ofMappings.tried;
  }

  /** Readiness check. @throws Error before the first attempt to read them; after a failed one, the static routes can be served */
  check(): void {
    if (!this.#isTried) throw new Error("PathMappings have not been read yet");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#controller?.stop();
    await Promise.all([this.#mappings.stop(), this.#secrets.stop()]);
  }

  #statusController(): Controller<PathMapping> {
    return controller<PathMapping>({
      name: "path-mappings",
      sources: [{ informer: this.#mappings }],
      reconcile: ({ name }, { object, signal }) =>
        this.#statuses.tell(name, { object, verdict: this.#verdicts.get(name), signal }),
      onError: ({ error }) => this.#failed("cannot write the status of a PathMapping", error),
    });
  }

  #follow(informer: Informer, reading: InformerProgress): void {
    const look = (): void => this.look();
    informer.on({
      added: look,
      // Ignores changes of the status alone.
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

  /** Updates the routes once all objects are known: the result for one object depends on the others and on static routes. */
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
        this.#controller?.add({ cluster: ROOT_CLUSTER, namespace: "", name });
  }

  #failed(message: string, error: unknown): void {
    this.#log({ level: "warn", message, error: String(error) });
  }
}

/** Status to write for an object. */
interface StatusUpdate {
  /** `undefined` for a deleted object. */
  readonly object: PathMapping | undefined;
  readonly verdict: Verdict | undefined;
  readonly signal: AbortSignal;
}

type KnownVerdict = Exclude<Verdict, { readonly kind: "unknown" }>;
type Conditions = NonNullable<PathMapping["status"]>["conditions"];

/**
 * Writes results into the statuses of objects, if they differ. Writes each result once: front proxies with different mapping
 * files may disagree, and must not overwrite each other forever.
 */
class Statuses {
  readonly #client: Client;
  readonly #said = new Map<string, string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** @throws the error of the write, such as a conflict: the caller must retry */
  async tell(name: string, { object, verdict, signal }: StatusUpdate): Promise<void> {
    if (object === undefined) this.#said.delete(name);
    if (object === undefined || verdict === undefined || verdict.kind === "unknown") return;
    const { metadata, status } = object;
    const text = JSON.stringify([metadata.uid, verdict.kind === "accepted" || verdict]);
    if (this.#said.get(name) === text) return;
    const conditions = conditionsOf(status?.conditions, verdict);
    if (!isDeepStrictEqual(conditions, status?.conditions)) {
      const { resourceVersion = "" } = metadata;
      const patch = { metadata: { resourceVersion }, status: { conditions } };
      await this.#client.resource(PathMapping).status.mergePatch(name, patch, { signal });
    }
    this.#said.set(name, text);
  }
}

function conditionsOf(before: Conditions, verdict: KnownVerdict): NonNullable<Conditions> {
  const [type, now] = [ACCEPTED_CONDITION, new Date()];
  if (verdict.kind === "accepted") return markTrue(before, type, now);
  const { reason, message } = verdict;
  return markFalse(before, { type, severity: "Error", reason, message }, now);
}
