// Objects of upstreams over TCP: forwarded, through views, merged, and through a server in between. Each upstream is
// disconnected, stopped, restarted and denies users independently.
import { merged, type ServedResource, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../../_support/plain.ts";
import type { Random } from "../../_support/random.ts";
import type { System } from "./history.ts";
import { PLACES, TEAMS, Thing, type ThingContent, things } from "./kinds.ts";
import { truthOf } from "./of-collections.ts";
import { Restarted, Upstream } from "./upstream.ts";

type Source = ReturnType<Upstream["forwarded"]>;

const unsealed = (from: Parameters<typeof view<ThingContent>>[0]["from"]) =>
  view({ from, select: ({ spec }) => spec.team !== "sealed", map: ({ spec }) => ({ spec: { ...spec } }) });
const asOne = (sources: readonly Source[]) =>
  merged({
    sources: Object.fromEntries(sources.map((source, at) => [`up${at}`, source])),
    patience: 1_000,
    onError: () => undefined,
  });

/** Composition of the upstreams' objects: number of upstreams, and whether all objects are shown. */
interface Shape {
  readonly servers: number;
  readonly serve: (sources: readonly [Source, ...Source[]]) => ServedResource;
  readonly isAll?: boolean;
  /** Whether another server with views is in between. */
  readonly isRelayed?: boolean;
}

export const SHAPES = {
  "another server's objects as they are": { servers: 1, serve: ([source]) => Thing.serve(source), isAll: true },
  "a view of another server": { servers: 1, serve: ([source]) => Thing.serve(unsealed(source)) },
  "two other servers as one": { servers: 2, serve: (sources) => Thing.serve(asOne(sources)), isAll: true },
  "a view of two other servers": { servers: 2, serve: (sources) => Thing.serve(unsealed(asOne(sources))) },
  "a view of a view of another server": {
    servers: 1,
    serve: ([source]) => Thing.serve(unsealed(source)),
    isRelayed: true,
  },
} as const satisfies Readonly<Record<string, Shape>>;

export const ofUpstream =
  ({ servers, serve, isAll = false, isRelayed = false }: Shape) =>
  async (random: Random): Promise<System> => {
    await using made = new AsyncDisposableStack();
    const upstreams = random.many(servers, () => made.use(new Upstream(random.chance(0.5))));
    for (const upstream of upstreams) await upstream.start();
    let sources = upstreams.map((upstream) => made.use(upstream.forwarded()));
    let between: Restarted | undefined;
    if (isRelayed) {
      const shown = unsealed(sources[0] as Source);
      between = made.use(new Restarted(() => [Thing.serve(shown)]));
      await between.start();
      sources = [made.use(between.forwarded())];
    }
    const server = made.use(await startPlain(things(serve(sources as [Source])), { bookmarkEvery: 2 }));
    let truth: Parameters<typeof truthOf>[1] = [];

    const disturb = async (random: Random): Promise<string> => {
      if (between === undefined || random.chance(0.6)) {
        const at = random.below(servers);
        return `${at} ${await upstreams[at]?.disturb(random)}`;
      }
      const what = random.pick(["cut", "stop", "start", "start"] as const);
      await between[what]();
      return `${what} between`;
    };
    const open = made.move();
    return {
      server,
      places: PLACES,
      pace: 12,
      act: async (random) => {
        if (random.chance(0.25)) return disturb(random);
        const at = random.below(servers);
        return `${at} ${await upstreams[at]?.write(random)}`;
      },
      mend: async () => {
        for (const upstream of upstreams) await upstream.mend();
        await between?.start();
        const first = new Map<string, (typeof truth)[number]>();
        for (const upstream of upstreams)
          for (const [key, object] of await upstream.all()) if (!first.has(key)) first.set(key, object);
        truth = [...first.values()];
      },
      refuse: (user) => {
        for (const upstream of upstreams) upstream.refuse(user);
      },
      truth: (place) => truthOf(place, truth, isAll ? TEAMS : ["red", "blue"]),
      told: ({ metadata, ...object }) => [metadata.uid, metadata.labels, object["spec"]],
      onList: ({ user }) => {
        const refusing = upstreams
          .filter((upstream) => upstream.isRefused(user))
          .map((upstream) => ({ upstream, turn: upstream.turn(user) }));
        return (items) => {
          for (const { upstream, turn } of refusing) {
            const seen = items.find(({ metadata }) => upstream.made(metadata.uid));
            if (upstream.turn(user) === turn)
              expect(seen?.metadata.name, `listed to ${user}, whom its server refuses`).to.equal(undefined);
          }
        };
      },
      [Symbol.asyncDispose]: () => open.disposeAsync(),
    };
  };
