// API server of memos that can restart on its port, with or without its history, or from a backup.
import {
  allow,
  type Collection,
  createServer,
  defineVirtualWorkspace,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import { memoryStore, persistent } from "@virtual-workspaces/store";
import { testLog } from "../../_setup/log.ts";
import { type FaultyUpstream, startFaulty } from "../../_support/faulty.ts";
import { Memo, type MemoContent } from "../upstream.ts";

type Memos = Collection<MemoContent>;

/** Size of its history. */
const HISTORY = { events: 20 } as const;

/** Upstream, and the network connection before it. */
export class Restartable implements AsyncDisposable {
  memos: Memos;
  #server: Server | undefined;
  #port = 0;
  #wire: FaultyUpstream | undefined;

  constructor(memos: Memos) {
    this.memos = memos;
  }

  static async start(memos: Memos = fresh()): Promise<Restartable> {
    const upstream = new Restartable(memos);
    await upstream.start();
    upstream.#wire = await startFaulty(`http://127.0.0.1:${upstream.#port}`);
    return upstream;
  }

  get wire(): FaultyUpstream {
    if (this.#wire === undefined) throw new Error("it has not been started");
    return this.#wire;
  }

  async start(): Promise<void> {
    this.#server = createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "memos",
          path: "/clusters/:cluster",
          wildcard: true,
          authorize: () => allow(),
          resources: [Memo.serve(this.memos)],
        }),
      ],
      authentication: [staticTokens({ admin: { name: "admin" } })],
      impersonation: () => allow(),
      log: testLog().log,
    });
    ({ port: this.#port } = await this.#server.listen({ port: this.#port }));
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.close();
  }

  /** Moves the objects to another storage, with other versions. */
  async move(memos: Memos): Promise<void> {
    const { cache } = await this.memos.cache();
    for (const { bytes, key } of cache.snapshot().objects.values())
      await memos.create(key as never, JSON.parse(bytes.toString()));
    this.memos = memos;
  }

  set(name: string, text: string): unknown {
    return this.memos.in("root", "a").set(name, { text });
  }

  remove(name: string): unknown {
    return this.memos.in("root", "a").delete(name);
  }

  /** Returns texts by name. */
  async texts(): Promise<Record<string, string>> {
    const { cache } = await this.memos.cache();
    const all = Array.from(cache.snapshot().objects.values(), ({ bytes }) => JSON.parse(bytes.toString()));
    return Object.fromEntries(all.map(({ metadata, spec }) => [metadata.name, spec.text]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#wire?.[Symbol.asyncDispose]();
    await this.stop();
  }
}

/** Creates an in-memory storage whose versions come from the clock. */
export function fresh(): Memos {
  return Memo.collection({ history: HISTORY }) as Memos;
}

/** Creates a storage whose versions start at 1, so that an older state has lower ones. */
export function counted(): Memos {
  return Memo.collection(persistent(memoryStore(), { progressEvery: 1 })) as unknown as Memos;
}
