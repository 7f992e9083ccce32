// API server under random histories: it stops and restarts, with or without its history, its connections break, and its RBAC
// permits or denies users.
import { forward } from "@virtual-workspaces/forwarding";
import {
  allow,
  type Collection,
  createServer,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import { RbacPolicy, rbac } from "@virtual-workspaces/framework/authz";
import { memoryStore, persistent } from "@virtual-workspaces/store";
import { testLog } from "../../_setup/log.ts";
import type { Random } from "../../_support/random.ts";
import { type Relay, startRelay } from "../../_support/relay.ts";
import { credentialed } from "../upstream.ts";
import { randomThing, Thing, type ThingContent } from "./kinds.ts";
import type { Place } from "./watcher.ts";

const USERS = ["alice", "bob"] as const;
type User = Place["user"];

/** Random faults of a server, most of them transient. */
const FAULTS = ["cut", "cut", "stop", "start", "refuse", "allow", "allow"] as const;

/** Port without a listener. */
const NOBODY = 1;

/** Serves a kind behind a relay with a fixed port. The user `admin` may impersonate others. */
export class Restarted implements AsyncDisposable {
  readonly #resources: () => ServedResource[];
  readonly #authorize: ReturnType<typeof rbac>;
  #server: Server | undefined;
  #relay: Relay | undefined;
  #port = NOBODY;

  constructor(resources: () => ServedResource[], authorize: ReturnType<typeof rbac> = () => allow()) {
    this.#resources = resources;
    this.#authorize = authorize;
  }

  async start(): Promise<void> {
    if (this.#server !== undefined) return;
    this.#server = createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "up",
          path: "/clusters/:cluster",
          wildcard: true,
          authorize: this.#authorize,
          resources: this.#resources(),
        }),
      ],
      authentication: [staticTokens({ admin: { name: "admin" } })],
      impersonation: ({ user }) => (user.name === "admin" ? allow() : deny("no")),
      log: testLog().log,
      bookmarkEvery: 5,
    });
    this.#port = (await this.#server.listen({ port: 0 })).port;
    this.#relay ??= await startRelay(() => this.#port);
  }

  async stop(): Promise<void> {
    this.#port = NOBODY;
    await this.#server?.close();
    this.#server = undefined;
  }

  cut(): void {
    this.#relay?.cut();
  }

  /** Forwards its kind with impersonation of each caller. */
  forwarded() {
    const url = `http://127.0.0.1:${this.#relay?.port}/services/up`;
    return forward<ThingContent>({
      resource: Thing,
      upstream: credentialed(url),
      renewEvery: 1_000,
      onError: () => undefined,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relay?.[Symbol.asyncDispose]();
    await this.stop();
  }
}

/** Server with objects that may deny each user. */
export class Upstream extends Restarted {
  readonly #policy: RbacPolicy;
  readonly #forgets: boolean;
  readonly #refusals = new Map<User, number>();
  readonly #uids: Set<string>;
  readonly #kept: { things: Collection<ThingContent> };

  /** @param forgets whether a restart loses its history */
  constructor(forgets: boolean) {
    // The author's calls are awaited only here. Objects also change while the server is down, as by other replicas.
    const kept = {
      things: (forgets
        ? Thing.collection()
        : Thing.collection(persistent(memoryStore(), { progressEvery: 1 }))) as unknown as Collection<ThingContent>,
    };
    const policy = new RbacPolicy([
      {
        kind: "ClusterRole",
        metadata: { name: "reader" },
        rules: [{ verbs: ["get", "list", "watch"], apiGroups: ["test.dev"], resources: ["things"] }],
      },
    ]);
    super(() => [Thing.serve(kept.things)], rbac({ policy }));
    this.#kept = kept;
    this.#policy = policy;
    this.#forgets = forgets;
    this.#uids = new Set();
    for (const user of USERS) this.allow(user);
  }

  refuse(user: User): void {
    if (this.#policy.delete({ kind: "ClusterRoleBinding", metadata: { name: user } }))
      this.#refusals.set(user, (this.#refusals.get(user) ?? 0) + 1);
  }

  allow(user: User): void {
    if (this.isRefused(user)) this.#refusals.set(user, (this.#refusals.get(user) ?? 0) + 1);
    this.#policy.set({
      kind: "ClusterRoleBinding",
      metadata: { name: user },
      roleRef: { kind: "ClusterRole", name: "reader" },
      subjects: [{ kind: "User", name: user }],
    });
  }

  isRefused(user: User): boolean {
    return (this.#refusals.get(user) ?? 0) % 2 === 1;
  }

  /** Counter of a user's permission changes. */
  turn(user: User): number {
    return this.#refusals.get(user) ?? 0;
  }

  /** Returns whether an object, existing or deleted, belongs to this server. */
  made(uid: string | undefined): boolean {
    return uid !== undefined && this.#uids.has(uid);
  }

  override async stop(): Promise<void> {
    await super.stop();
    if (!this.#forgets) return;
    const before = this.#kept.things;
    this.#kept.things = Thing.collection() as Collection<ThingContent>;
    for (const { bytes, key } of before.cache().cache.snapshot().objects.values())
      this.#kept.things.create(key as never, JSON.parse(bytes.toString()));
  }

  /** Returns all objects. */
  async all(): Promise<[string, ReturnType<typeof JSON.parse>][]> {
    const { cache, confirm } = await this.#kept.things.cache();
    await confirm({ signal: AbortSignal.timeout(10_000) });
    return Array.from(cache.snapshot().objects.entries(), ([key, { bytes }]) => [key, JSON.parse(bytes.toString())]);
  }

  async write(random: Random): Promise<string> {
    const { cluster, namespace, name, label, team, n, gone } = randomThing(random);
    const part = this.#kept.things.in(cluster, namespace);
    if (gone) await part.delete(name);
    else {
      const { metadata } = await part.set(name, { n, team }, { labels: label === undefined ? {} : { l: label } });
      this.#uids.add(metadata.uid ?? "");
    }
    return `${gone ? "delete" : "set"} ${cluster}/${namespace}/${name} ${team} ${label ?? ""} ${n}`;
  }

  async disturb(random: Random): Promise<string> {
    const user = random.pick(USERS);
    const what = random.pick(FAULTS);
    if (what === "refuse" || what === "allow") {
      this[what](user);
      return `${what} ${user}`;
    }
    await this[what]();
    return what;
  }

  async mend(): Promise<void> {
    for (const user of USERS) this.allow(user);
    await this.start();
  }
}
