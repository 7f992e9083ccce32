// A workspace server with two shards over TLS that trust a front proxy, and a front proxy that takes user names as tokens.
import { MessageChannel } from "node:worker_threads";
import { staticTokens } from "@virtual-workspaces/framework";
import { anonymous, requestHeader } from "@virtual-workspaces/framework/authn";
import {
  createFrontProxy,
  type FromIndex,
  type FrontProxy,
  type FrontProxyOptions,
  type Mapping,
  RemoteIndex,
  SharedIndex,
  type ToIndex,
} from "@virtual-workspaces/front-proxy";
import { Upstream } from "@virtual-workspaces/transport";
import { testLog } from "../_setup/log.ts";
import { Authority, type KeyPair, SERVER_AUTH } from "../_support/certificates.ts";
import { type Calls, callsTo } from "../_support/plain.ts";
import { type ShardedOptions, type Stores, startSharded } from "../workspace-server/shards/support.ts";
import type { WorkspacesOptions } from "../workspace-server/support/workspaces.ts";

const serving = Authority.root("serving");
const proxies = Authority.root("proxies");
export const SERVER: KeyPair = serving.issue({ name: "localhost", usages: [SERVER_AUTH] });
const PROXY = proxies.issue({ name: "front-proxy" });

/** Connection of the proxy to any upstream. */
const REACHED = { tls: { ca: serving.cert }, credentials: { get: () => PROXY } } as const;
/** Authenticates callers on shards by the front proxy's headers. */
const believed = () => requestHeader({ ca: proxies.cert, allowedNames: ["front-proxy"] });

/** Tokens that the shards know, and the front proxy does not. */
const OF_SHARDS = {
  "shard-token": { name: "root", groups: ["system:masters"] },
  root: { name: "root", groups: ["system:masters"] },
  "late-token": { name: "late" },
};
/** Tokens that the front proxy knows: the names of the users. */
const OF_PROXY = {
  admin: { name: "admin", groups: ["system:kcp:admin", "team"] },
  boss: { name: "boss", groups: ["system:masters", "system:kcp:initializer:x", "team"] },
  alice: { name: "alice" },
};

export const CLUSTERS: Mapping = { path: "/clusters/", backends: [], ...REACHED };

export interface Front extends Calls, AsyncDisposable {
  readonly url: string;
  readonly proxy: FrontProxy;
}

/** Starts shards that trust the front proxy. */
export async function startShards(stores: Stores, options: ShardedOptions = {}): Promise<Shards> {
  const trusting: WorkspacesOptions = {
    tls: SERVER,
    authentication: [believed(), staticTokens(OF_SHARDS), anonymous()],
  };
  const server = await startSharded(stores, { ...trusting, ...options });
  return { url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

export interface Shards extends AsyncDisposable {
  readonly url: string;
}

/** Connection to a shard with the credentials of an administrator. */
export const AS_ADMIN = {
  tls: { ca: serving.cert },
  credentials: { get: () => ({ headers: ["Authorization", "Bearer shard-token"] }) },
} as const;

/** Where a front proxy has its index: each suite runs with both. */
export const INDEXES = ["its own index", "the index of another process"] as const;

/** Connects an index over messages, as another process has them. */
function remoteIndex(shared: SharedIndex, stack: AsyncDisposableStack): RemoteIndex {
  const { port1: near, port2: far } = new MessageChannel();
  const remote = new RemoteIndex({ send: (message) => near.postMessage(message) });
  near.on("message", (data: FromIndex) => remote.receive(data));
  const connection = stack.use(shared.connect((message) => far.postMessage(message)));
  far.on("message", (data: ToIndex) => connection.receive(data));
  stack.defer(() => near.close());
  return remote;
}

/** Starts a front proxy like {@link startFront}, with one of {@link INDEXES}. */
export async function startFrontWith(
  index: (typeof INDEXES)[number],
  root: string,
  options: Partial<FrontProxyOptions> = {},
): Promise<Front> {
  if (index === "its own index") return startFront(root, options);
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(new Upstream({ url: root, ...AS_ADMIN }));
  const workspaceAuthentication = Boolean(options.workspaceAuthentication);
  const shared = stack.use(
    new SharedIndex({ root: upstream, read: AS_ADMIN, workspaceAuthentication, log: options.log ?? testLog().log }),
  );
  const authorize: FrontProxyOptions["metrics"] = {
    authorize: ({ user }) => ({ allowed: user.in("team"), reason: "" }),
    families: () => shared.families(),
  };
  const shards = remoteIndex(shared, stack);
  const front = await startFront(root, { shards, metrics: authorize, ...options });
  const all = stack.move();
  const close = async (): Promise<void> => {
    await front[Symbol.asyncDispose]();
    await all.disposeAsync();
  };
  return { ...front, [Symbol.asyncDispose]: close };
}

/** Starts a front proxy, with the shards of `root` if it is given. */
export async function startFront(root: string | undefined, options: Partial<FrontProxyOptions> = {}): Promise<Front> {
  await using stack = new AsyncDisposableStack();
  const upstream = root === undefined ? undefined : stack.use(new Upstream({ url: root, ...AS_ADMIN }));
  const proxy = stack.use(
    createFrontProxy({
      tls: false,
      mapping: root === undefined ? [] : [CLUSTERS],
      authentication: [staticTokens(OF_PROXY)],
      ...(upstream && { shards: { root: upstream, read: AS_ADMIN } }),
      component: {
        name: "proxy",
        version: "1",
        flags: {},
        authorize: ({ user }) => ({ allowed: user.in("team"), reason: "" }),
      },
      metrics: { authorize: ({ user }) => ({ allowed: user.in("team"), reason: "" }) },
      log: testLog().log,
      ...options,
    }),
  );
  const { url } = await proxy.listen({ port: 0 });
  await proxy.started;
  const all = stack.move();
  return { url, proxy, ...callsTo(url), [Symbol.asyncDispose]: () => all.disposeAsync() };
}
