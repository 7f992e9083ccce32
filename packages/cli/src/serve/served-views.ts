import { ApiError } from "@virtual-workspaces/apimachinery";
import { type Relay, reachable, relay, sameCaller } from "@virtual-workspaces/forwarding";
import {
  type Authorizer,
  allow,
  defineVirtualWorkspace,
  deny,
  type RawRequest,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import { keepHistory } from "@virtual-workspaces/store";
import { openStore } from "../server/open-store.ts";
import { withoutEffect } from "../server/store-choice.ts";
import { type ForwardedTo, upstreamAt } from "../server/upstreams.ts";
import { kcpViews } from "../views/kcp-views.ts";
import { besides, ViewFiles } from "../views/view-files.ts";
import type { ServeOptions } from "./serve-options.ts";
import type { Upstreams } from "./serve-upstreams.ts";

/** All views of the server, and those that it prints at the start. */
export interface Served {
  readonly virtualWorkspaces: readonly VirtualWorkspace[];
  readonly named: readonly VirtualWorkspace[];
}

/** Names reserved for views of the server. */
const OWN: readonly string[] = ["fallback", "root"];

/** Returns kcp's own views, unless they are left out, and those of files. `stack` closes their resources. @throws Failure */
export async function viewsOf(
  options: ServeOptions,
  upstreams: Upstreams,
  stack: AsyncDisposableStack,
): Promise<Served> {
  const { log, fallback, views: paths, kcpViews: isWithKcp } = options;
  const { workspaces: upstream, cache, everywhere: reviews } = upstreams;
  const files = await ViewFiles.import(paths);
  const answers = reachable(upstream);
  const over = { upstream, identity: sameCaller, cache, reviews, everywhere: reviews };
  const own = isWithKcp ? kcpViews({ ...over, cachedResources: options.cachedResources }, log) : [];
  const named = besides(
    own.map((view) => whileReady(view, answers)),
    await fileViews(files, options, { upstreams, stack }),
  );
  const onError = (error: unknown): void =>
    log({ level: "warn", message: "cannot reach the server of kcp's other views", error: String(error) });
  return { named, virtualWorkspaces: [...named, fallbackView(named, { to: fallback, onError }), rootView()] };
}

/** Makes a view unready while its upstream does not answer: requests fail at once, and the probe names the view. */
function whileReady(view: VirtualWorkspace, answers: () => Promise<void>): VirtualWorkspace {
  const ready: VirtualWorkspace["ready"] = async (context) => {
    await answers();
    await view.ready?.(context);
  };
  return Object.freeze({ ...view, ready });
}

async function fileViews(
  files: ViewFiles,
  { store: choice, shard, log }: ServeOptions,
  { upstreams, stack }: { readonly upstreams: Upstreams; readonly stack: AsyncDisposableStack },
): Promise<readonly VirtualWorkspace[]> {
  if (!files.hosted) {
    const message = withoutEffect(choice);
    if (message !== undefined) log({ level: "warn", message });
    return files.views(undefined, OWN);
  }
  const store = stack.use(await openStore(choice, log));
  stack.use(keepHistory(store));
  const { workspaces: upstream, workspace, connectionTo, everywhere } = upstreams;
  const place = { connectionTo, ...(workspace !== undefined && { workspace }), ...(shard !== undefined && { shard }) };
  return files.views({ upstream, identity: sameCaller, everywhere, store, ...place }, OWN);
}

const DENIED = "access denied";

/** Security: only masters get 404 outside of views. Others get 403, so that they cannot learn which paths exist. */
const mastersAlone: Authorizer<unknown> = ({ user }) => (user.in(MASTERS_GROUP) ? allow() : deny(DENIED));

/** Paths of kcp's server beside its views: `/healthz` for all users, the version and empty discovery for masters. */
function rootView(): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "root",
    prefix: "/",
    path: "/",
    authorize: (request) => (request.path === "/healthz" ? allow() : mastersAlone(request)),
    resources: [],
  });
}

/** Views of kcp's own `virtual-workspaces`. */
const OF_KCP: readonly string[] = [
  ...["apiexport", "apiresourceschema", "initializingworkspaces"],
  ...["replication", "terminatingworkspaces", "migratingworkspaces"],
];

/**
 * Proxies those of kcp's views that this server lacks to a server that has them. Like a shard, it sends the full caller in
 * `Impersonate-*` headers. Without such a server, they are 404 with an explanation. Other names are 403, and 404 for masters,
 * as in kcp. The 403 says that there is no such view, which `/readyz` shows to all users too.
 */
function fallbackView(
  served: readonly VirtualWorkspace[],
  { to, onError }: { readonly to: ForwardedTo | undefined; readonly onError: (error: unknown) => void },
): VirtualWorkspace {
  const names = new Set(served.map(({ name }) => name));
  const lacking = new Set(OF_KCP.filter((name) => !names.has(name)));
  const what = "the server of kcp's other views";
  const passing = to && relay({ upstream: upstreamAt(to), identity: sameCaller, what, onError });
  const having = ({ tail }: RawRequest<unknown>): Relay => {
    const name = firstOf(tail);
    if (!lacking.has(name)) throw ApiError.notFoundPath();
    if (passing === undefined) throw notHere(name);
    return passing;
  };
  return defineVirtualWorkspace({
    name: "fallback",
    prefix: "/services",
    path: "/",
    authorize: (request) => {
      const name = firstOf(request.path);
      if (lacking.has(name) || request.user.in(MASTERS_GROUP)) return allow();
      return deny(names.has(name) ? DENIED : `${DENIED}: there is no virtual workspace at /services/${name}`);
    },
    handle: (req, res, request) => having(request).handle(req, res, request),
    upgrade: (req, socket, request) => having(request).upgrade(req, socket, request),
    setup: () => passing,
  });
}

function firstOf(path: string): string {
  return path.split("/")[1] ?? "";
}

function notHere(name: string): ApiError {
  const message = `the view ${name} of kcp is not served here: set --fallback-url to a server that has it`;
  return ApiError.notFoundPath(message);
}
