// What every process with informers can be asked, whoever made them.
import { anonymousMemory } from "../_harness/anonymous-memory.ts";
import { serveCommands } from "../_harness/commands.ts";

export const GROUP = { group: "bench.example", version: "v1", plural: "notes" } as const;

/** An informer that runs. */
export interface Followed {
  /** How often everything was read, the first time included. */
  lists(): number;
  size(): number;
}

export interface FollowOptions {
  readonly port: number;
  readonly ca: string;
  /** Whether it is started anew whenever it fails, for those that stop then. */
  readonly restart: boolean;
  /** Called on each change, with the object's name. */
  readonly changed: (name: string) => void;
}

/** Serves the commands of a follower. `load` imports what makes informers. */
export function serveFollower(load: () => Promise<(options: FollowOptions) => Promise<Followed>>): void {
  const followed = new Map<string, { readonly informer: Followed; readonly seen: Map<string, number> }>();
  let make: Awaited<ReturnType<typeof load>> | undefined;
  serveCommands({
    ...anonymousMemory,
    import: async (): Promise<void> => {
      make = await load();
    },
    follow: async ({ lane, port, ca, restart }: { lane: string; port: number; ca: string; restart: boolean }) => {
      const seen = new Map<string, number>();
      make ??= await load();
      const informer = await make({ port, ca, restart, changed: (name) => seen.set(name, Date.now()) });
      followed.set(lane, { informer, seen });
    },
    /** When a change was seen last, ms since the epoch; -1: it was not. */
    seen: ({ lane, name }: { lane: string; name: string }): number => followed.get(lane)?.seen.get(name) ?? -1,
    lists: (lane: string): number => followed.get(lane)?.informer.lists() ?? -1,
    size: (lane: string): number => followed.get(lane)?.informer.size() ?? -1,
  } satisfies Record<string, (argument: never) => unknown>);
}

/** What a follower answers. */
export interface Follower extends Record<string, (argument: never) => unknown> {
  anonymous(): Promise<number>;
  import(): Promise<void>;
  follow(options: { lane: string; port: number; ca: string; restart: boolean }): Promise<void>;
  seen(options: { lane: string; name: string }): number;
  lists(lane: string): number;
  size(lane: string): number;
}
