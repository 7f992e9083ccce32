// Views of collections whose members depend on permissions in another collection.
import { view } from "@virtual-workspaces/framework";
import type { Scope } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { startPlain } from "../../_support/plain.ts";
import type { Random } from "../../_support/random.ts";
import type { System } from "./history.ts";
import { Grant, isAt, PLACES, randomThing, TEAMS, Thing, things } from "./kinds.ts";
import { keyOf, type Place } from "./watcher.ts";

export async function ofCollections(random: Random): Promise<System> {
  const all = Thing.collection();
  const grants = Grant.collection();
  /** Permissions of each user, by version. */
  const allowed = new Map<string, { readonly version: bigint; readonly teams: readonly string[] }[]>();
  const visible = view({
    from: all,
    varyBy: ({ identity }: Scope) => identity.name,
    inputs: { grants },
    select: ({ spec }, { variant, inputs }) =>
      inputs.grants.get(variant, { cluster: "root" })?.spec.teams.includes(spec.team) === true,
  });
  const twice = view({ from: visible, map: ({ spec }) => ({ spec: { ...spec } }) });
  const server = await startPlain(things(Thing.serve(random.chance(0.5) ? visible : twice)), { bookmarkEvery: 2 });

  const grant = (user: string, teams: string[]): string => {
    const { metadata } = grants.in("root").set(user, { teams });
    const known = allowed.get(user) ?? [];
    allowed.set(user, [...known, { version: BigInt(metadata.resourceVersion ?? 0), teams }]);
    return `${user} may see ${teams.join(" and ") || "nothing"}`;
  };
  for (const user of ["alice", "bob"]) grant(user, ["red"]);

  const write = (random: Random): string => {
    const { cluster, namespace, name, label, team, n, gone } = randomThing(random);
    const part = all.in(cluster, namespace);
    if (gone) part.delete(name);
    else part.set(name, { n, team }, { labels: label === undefined ? {} : { l: label } });
    return `${gone ? "delete" : "set"} ${cluster}/${namespace}/${name} ${team} ${label ?? ""} ${n}`;
  };

  const teamsOf = (user: string): readonly string[] => allowed.get(user)?.at(-1)?.teams ?? [];
  return {
    server,
    places: PLACES,
    act: (random) =>
      random.chance(0.8)
        ? write(random)
        : grant(
            random.pick(["alice", "bob"]),
            TEAMS.filter((team) => team !== "sealed" && random.chance(0.6)),
          ),
    mend: () => undefined,
    truth: (place) =>
      truthOf(
        place,
        [...all.cache().cache.snapshot().objects.values()].map(({ bytes }) => JSON.parse(bytes.toString())),
        teamsOf(place.user),
      ),
    told: ({ metadata, ...object }) => [metadata.uid, metadata.labels, object["spec"]],
    onEvent: ({ place: { user } }, { type, object }) => {
      if (type === "DELETED") return;
      const version = BigInt(object.metadata.resourceVersion ?? 0);
      const then = allowed.get(user)?.findLast((one) => one.version < version);
      const { team } = object["spec"] as { team: string };
      expect(then?.teams, `${user} was told of ${keyOf(object)}`).to.include(team);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

type Parsed = {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    labels?: Record<string, string>;
    annotations: Record<string, string>;
  };
  spec: { team: string; n: number };
};

/** Returns what a place shows of all objects to a user with some teams. */
export function truthOf(
  place: Place,
  objects: readonly Parsed[],
  teams: readonly string[],
): ReadonlyMap<string, unknown> {
  const shown = objects.filter(({ metadata, spec }) => {
    const cluster = metadata.annotations["kcp.io/cluster"] ?? "";
    const label = metadata.labels?.["l"];
    return teams.includes(spec.team) && isAt(place, { cluster, namespace: metadata.namespace, label, team: spec.team });
  });
  return new Map(
    shown.map(({ metadata, spec }) => [keyOf({ metadata } as never), [metadata.uid, metadata.labels, spec]]),
  );
}
