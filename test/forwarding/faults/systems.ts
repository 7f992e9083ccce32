// Systems in front of a failing upstream: its forwarded objects, a view of them, a merge with another source, and clients of
// each, with default settings.
import { Client, Informer } from "@virtual-workspaces/client";
import { type Forwarded, forward } from "@virtual-workspaces/forwarding";
import { authenticated, type Collection, defineVirtualWorkspace, merged, view } from "@virtual-workspaces/framework";
import { type Answer, type PlainServer, startPlain } from "../../_support/plain.ts";
import { Random } from "../../_support/random.ts";
import { Watcher } from "../histories/watcher.ts";
import { credentialed, Memo, type MemoContent } from "../upstream.ts";
import type { Restartable } from "./upstream.ts";

export const VIEWS = ["memos", "seen", "both"] as const;
export type ViewName = (typeof VIEWS)[number];

export const pathOf = (name: ViewName): string => `/services/${name}/clusters/root/apis/test.dev/v1`;

/** State of a client that follows a view, and the deletions that it saw. */
export interface Follower {
  readonly name: string;
  /** Texts by name. */
  texts(): Record<string, string>;
  /** Names of objects that it saw deleted. */
  readonly gone: string[];
}

export class Systems implements AsyncDisposable {
  readonly server: PlainServer;
  readonly followers: readonly Follower[];
  readonly source: Forwarded<MemoContent>;
  readonly errors: readonly unknown[];
  readonly #stop: () => Promise<void>;

  private constructor(parts: Pick<Systems, "server" | "followers" | "source" | "errors">, stop: () => Promise<void>) {
    this.server = parts.server;
    this.followers = parts.followers;
    this.source = parts.source;
    this.errors = parts.errors;
    this.#stop = stop;
  }

  static async start(upstream: Restartable): Promise<Systems> {
    const errors: unknown[] = [];
    const source = forward<MemoContent>({
      resource: Memo,
      upstream: credentialed(`${upstream.wire.url}/services/memos`),
      onError: (error) => errors.push(error),
    });
    const healthy = Memo.collection() as Collection<MemoContent>;
    healthy.in("root", "b").set("healthy", { text: "of the other source" });
    const seen = view({ from: source, select: () => true });
    const both = merged({ sources: { source, healthy }, onError: () => undefined });
    const common = { path: "/clusters/:cluster", authorize: authenticated() } as const;
    const server = await startPlain([
      defineVirtualWorkspace({ ...common, name: "memos", ready: source.ready, resources: [Memo.serve(source)] }),
      defineVirtualWorkspace({ ...common, name: "seen", ready: source.ready, resources: [Memo.serve(seen)] }),
      defineVirtualWorkspace({ ...common, name: "both", ready: both.ready, resources: [Memo.serve(both)] }),
    ]);
    const watchers = VIEWS.map((name) => watching(server, name));
    const informed = await Promise.all(
      VIEWS.map((name) => informing(`${server.url}/services/${name}`, `informer of ${name}`)),
    );
    informed.push(await informing(`${upstream.wire.url}/services/memos`, "informer of the other server"));
    const followers = [...watchers, ...informed];
    return new Systems({ server, followers, source, errors }, async () => {
      await Promise.all(followers.map((one) => one.stop()));
      await server[Symbol.asyncDispose]();
      await source[Symbol.asyncDispose]();
    });
  }

  /** Sends a request and measures its duration, in ms. */
  async ask(path: string): Promise<{ answer: Answer | undefined; took: number }> {
    const began = performance.now();
    const answer = await this.server.get(path).catch(() => undefined);
    return { answer, took: performance.now() - began };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop();
  }
}

function watching(server: PlainServer, name: ViewName): Follower & { stop(): Promise<void> } {
  const gone: string[] = [];
  const watcher = new Watcher(
    server,
    { path: `${pathOf(name)}/memos?`, user: "alice" },
    {
      random: new Random(1),
      onEvent: (_, { type, object }) => void (type === "DELETED" && gone.push(object.metadata.name ?? "")),
      onList: () => () => undefined,
    },
  );
  watcher.connect();
  return {
    name: `watch of ${name}`,
    gone,
    texts: () => {
      watcher.check();
      return textsOf(watcher.state.values());
    },
    stop: () => watcher.disconnect(),
  };
}

async function informing(url: string, name: string): Promise<Follower & { stop(): Promise<void> }> {
  const client = new Client({ upstream: credentialed(url) });
  // The upstream fails on purpose.
  const onError = (): void => undefined;
  const informer = new Informer({ resource: client.cluster("root").resource(Memo), onError });
  const gone: string[] = [];
  informer.on({ deleted: ({ metadata }) => void gone.push(metadata.name ?? "") });
  informer.start();
  await informer.synced;
  return {
    name,
    gone,
    texts: () => textsOf(informer.store.list()),
    stop: async () => {
      await informer.stop();
      await client[Symbol.asyncDispose]();
    },
  };
}

export function textsOf(
  objects: Iterable<{ readonly metadata: { readonly name?: string | undefined } }>,
): Record<string, string> {
  const all = Array.from(objects, (object) => object as { metadata: { name: string }; spec: { text: string } });
  return Object.fromEntries(all.map(({ metadata, spec }) => [metadata.name, spec.text]));
}
