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

/** What must be there in `root` for a front proxy to follow PathMappings: their kind. */
export const manifests: Manifests = [crdManifest(PathMapping)];

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
  readonly #ofMappings: InformerProgress;
  readonly #ofSecrets: InformerProgress;
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
    this.#ofMappings = new InformerProgress((error) => this.#failed("PathMappings cannot be read", error));
    this.#ofSecrets = new InformerProgress((error) => this.#failed("Secrets of PathMappings cannot be read", error));
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

  #follow(informer: Informer, reading: InformerProgress): void {
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

/** What is to be told of an object. */
interface StatusUpdate {
  /** None: it is gone. */
  readonly object: PathMapping | undefined;
  readonly verdict: Verdict | undefined;
  readonly signal: AbortSignal;
}

type KnownVerdict = Exclude<Verdict, { readonly kind: "unknown" }>;
type Conditions = NonNullable<PathMapping["status"]>["conditions"];

/**
 * Writes what became of objects into their statuses, where that says something else. Once for each verdict: of front proxies that judge
 * differently, since their mapping files do, none takes back what another one said.
 */
class Statuses {
  readonly #client: Client;
  readonly #said = new Map<string, string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** @throws what the write throws, a conflict above all: then it is to be told again */
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
