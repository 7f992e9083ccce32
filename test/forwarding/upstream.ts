// An API server and a view that forwards to it, both ours, over real sockets.

import { type Forwarded, type ForwardOptions, forward } from "@virtual-workspaces/forwarding";
import {
  allow,
  authenticated,
  type Collection,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type ServerOptions,
} from "@virtual-workspaces/framework";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { type PlainServer, startPlain } from "../_support/plain.ts";

export const Memo = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Memo",
  scope: "Namespaced",
  spec: { type: "object", properties: { text: { type: "string" }, big: { type: "integer", format: "int64" } } },
  columns: { Text: ".spec.text" },
});
export type MemoContent = { spec: { text?: string; big?: number } };

export const MEMOS = "/services/memos/clusters/root/apis/test.dev/v1";

/** User and path of a request at the upstream. */
export interface AskedThere {
  readonly user: string;
  readonly verb: string;
}

export interface There extends AsyncDisposable {
  readonly memos: Collection<MemoContent>;
  readonly server: PlainServer;
  readonly asked: AskedThere[];
  /** Users without read permission, and verbs that are denied to all. */
  readonly barred: Set<string>;
  readonly upstream: UpstreamOptions;
}

/** Starts the upstream, which lets `admin` impersonate. */
export async function startThere(
  options: Partial<ServerOptions> & { memos?: Collection<MemoContent> } = {},
): Promise<There> {
  const { memos = Memo.collection() as Collection<MemoContent>, ...rest } = options;
  const asked: AskedThere[] = [];
  const barred = new Set<string>();
  const view = defineVirtualWorkspace({
    name: "memos",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: ({ user, verb }) => {
      asked.push({ user: user.name, verb });
      return barred.has(user.name) || barred.has(verb) ? deny("barred") : allow();
    },
    resources: [Memo.serve(memos)],
  });
  const server = await startPlain([view], {
    impersonation: ({ user }) => (user.name === "admin" ? allow() : deny("no")),
    ...rest,
  });
  return {
    memos,
    server,
    asked,
    barred,
    upstream: credentialed(`${server.url}/services/memos`),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Returns options of an upstream with the token of `admin`. */
export function credentialed(url: string): UpstreamOptions {
  return { url, credentials: { get: () => ({ headers: ["Authorization", "Bearer admin"] }) } };
}

export interface Here extends AsyncDisposable {
  readonly server: PlainServer;
  readonly memos: Forwarded<MemoContent>;
  readonly errors: unknown[];
}

/** Starts a view that forwards. */
export async function startHere(
  options: Partial<ForwardOptions<MemoContent>> & Pick<ForwardOptions<MemoContent>, "upstream">,
  serverOptions: Partial<ServerOptions> = {},
): Promise<Here> {
  const errors: unknown[] = [];
  const memos = forward<MemoContent>({ resource: Memo, onError: (error) => errors.push(error), ...options });
  const view = defineVirtualWorkspace({
    name: "memos",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: authenticated(),
    resources: [Memo.serve(memos)],
  });
  const server = await startPlain([view], serverOptions);
  return {
    server,
    memos,
    errors,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await memos[Symbol.asyncDispose]();
    },
  };
}
