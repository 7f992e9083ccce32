// A view of another server's objects over TCP: connections are cut, the server goes and comes back on its port, with its
// history or without, users lose their permissions there and are given them again.
import {
  allow,
  type Collection,
  createServer,
  defineVirtualWorkspace,
  deny,
  merged,
  type Server,
  staticTokens,
  type ViewSource,
  view,
} from "@virtual-workspaces/framework";
import { memoryStore, persistent } from "@virtual-workspaces/store";
import { testLog } from "../../_setup/log.ts";
import { startPlain } from "../../_support/plain.ts";
import type { Random } from "../../_support/random.ts";
import { startRelay } from "../../_support/relay.ts";
import type { System } from "./history.ts";
import { PLACES, randomThing, Thing, type ThingContent, things } from "./kinds.ts";
import { truthOf } from "./of-collections.ts";
import { StandIn } from "./stand-in.ts";

const USERS = ["alice", "bob"] as const;

/** A server that goes and comes back. */
class Upstream {
  readonly refused = new Set<string>();
  readonly #forgets: boolean;
  /** What it has, which goes on changing while it is away: other replicas write. */
  things: Collection<ThingContent>;
  port = 0;
  #server: Server | undefined;

  /** @param forgets whether its history ends with it */
  constructor(forgets: boolean) {
    this.#forgets = forgets;
    // What an author's calls give is only waited for here.
    this.things = (forgets
      ? Thing.collection()
      : Thing.collection(persistent(memoryStore(), { progressEvery: 1 }))) as unknown as Collection<ThingContent>;
  }

  async start(): Promise<void> {
    if (this.#server !== undefined) return;
    const authorize = ({ user }: { user: { name: string } }) =>
      this.refused.has(user.name) ? deny("no longer") : allow();
    this.#server = createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "up",
          path: "/clusters/:cluster",
          wildcard: true,
          authorize,
          resources: [Thing.serve(this.things)],
        }),
      ],
      authentication: [staticTokens({ alice: { name: "alice" }, bob: { name: "bob" } })],
      log: testLog().log,
      bookmarkEvery: 5,
    });
    this.port = (await this.#server.listen({ port: this.port })).port;
  }

  async stop(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
    if (!this.#forgets) return;
    const before = this.things;
    this.things = Thing.collection();
    for (const { bytes, key } of before.cache().cache.snapshot().objects.values())
      this.things.create(key as never, JSON.parse(bytes.toString()));
  }

  async all(): Promise<Parameters<typeof truthOf>[1]> {
    const { cache, confirm } = await this.things.cache();
    await confirm({ signal: AbortSignal.timeout(10_000) });
    return Array.from(cache.snapshot().objects.values(), ({ bytes }) => JSON.parse(bytes.toString()));
  }
}

/** Makes a source of a view of what is at a URL. */
export type Forwarding = (url: string) => ViewSource<ThingContent> & AsyncDisposable;

export const ofUpstream =
  (forwarding: Forwarding = (url) => new StandIn(url)) =>
  async (random: Random): Promise<System> => {
    const upstream = new Upstream(random.chance(0.5));
    await upstream.start();
    const relay = await startRelay(upstream.port);
    const forwarded = forwarding(`http://127.0.0.1:${relay.port}/services/up`);
    const from = random.chance(0.5)
      ? forwarded
      : merged({ sources: { up: forwarded }, patience: 200, onError: () => undefined });
    const shown = view({
      from,
      select: ({ spec }) => spec.team !== "sealed",
      map: ({ spec }) => ({ spec: { ...spec } }),
    });
    const server = await startPlain(things(Thing.serve(shown)), { bookmarkEvery: 2 });
    let truth: Parameters<typeof truthOf>[1] = [];

    const write = async (random: Random): Promise<string> => {
      const { cluster, namespace, name, label, team, n, gone } = randomThing(random);
      const part = upstream.things.in(cluster, namespace);
      if (gone) await part.delete(name);
      else await part.set(name, { n, team }, { labels: label === undefined ? {} : { l: label } });
      return `${gone ? "delete" : "set"} ${cluster}/${namespace}/${name} ${team} ${label ?? ""} ${n}`;
    };
    const disturb = async (random: Random): Promise<string> => {
      const user = random.pick(USERS);
      const what = random.pick(["cut", "cut", "stop", "start", "refuse", "allow", "allow"] as const);
      if (what === "cut") relay.cut();
      if (what === "stop") await upstream.stop();
      if (what === "start") await upstream.start();
      if (what === "refuse") upstream.refused.add(user);
      if (what === "allow") upstream.refused.delete(user);
      return what === "refuse" || what === "allow" ? `${what} ${user}` : what;
    };
    return {
      server,
      places: PLACES,
      pace: 12,
      act: (random) => (random.chance(0.75) ? write(random) : disturb(random)),
      mend: async () => {
        upstream.refused.clear();
        await upstream.start();
        truth = await upstream.all();
      },
      truth: (place) => truthOf(place, truth, ["red", "blue"]),
      told: ({ metadata, ...object }) => [metadata.uid, metadata.labels, object["spec"]],
      [Symbol.asyncDispose]: async () => {
        await server[Symbol.asyncDispose]();
        await forwarded[Symbol.asyncDispose]();
        await relay[Symbol.asyncDispose]();
        await upstream.stop();
      },
    };
  };
