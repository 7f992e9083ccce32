import { reachable, sameCaller } from "@virtual-workspaces/forwarding";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { keepHistory } from "@virtual-workspaces/store";
import { kcpViews } from "../start/kcp-views.ts";
import { besides } from "../start/views.ts";
import { openStore } from "../store/open.ts";
import { ViewFiles } from "../views/load-views.ts";
import { fallbackView } from "./fallback.ts";
import type { ServeOptions } from "./options.ts";
import { rootView } from "./root.ts";
import type { Upstreams } from "./upstreams.ts";

/** What is served, and what of it clients are told of at the start. */
export interface Served {
  readonly virtualWorkspaces: readonly VirtualWorkspace[];
  readonly named: readonly VirtualWorkspace[];
}

/** Names that files of views cannot have. */
const OWN: readonly string[] = ["fallback", "root"];

/** kcp's own views and those of files; what is opened for them is closed with `stack`. @throws Failure */
export async function viewsOf(
  options: ServeOptions,
  upstreams: Upstreams,
  stack: AsyncDisposableStack,
): Promise<Served> {
  const { log, fallback, views: paths } = options;
  const { workspaces: upstream, cache, everywhere: reviews } = upstreams;
  const files = await ViewFiles.import(paths);
  const answers = reachable(upstream);
  const own = kcpViews({ upstream, identity: sameCaller, cache, reviews }, log);
  const named = besides(
    own.map((view) => whileReady(view, answers)),
    await fileViews(files, options, { upstreams, stack }),
  );
  const onError = (error: unknown): void =>
    log({ level: "warn", message: "kcp's other views cannot be had", error: String(error) });
  return { named, virtualWorkspaces: [...named, fallbackView(named, { to: fallback, onError }), rootView()] };
}

/** The view, which is not ready while its server does not answer: requests are told at once, and a probe which view it is. */
function whileReady(view: VirtualWorkspace, answers: () => Promise<void>): VirtualWorkspace {
  const ready: VirtualWorkspace["ready"] = async (context) => {
    await answers();
    await view.ready?.(context);
  };
  return Object.freeze({ ...view, ready });
}

async function fileViews(
  files: ViewFiles,
  { store: choice, shard }: ServeOptions,
  { upstreams, stack }: { readonly upstreams: Upstreams; readonly stack: AsyncDisposableStack },
): Promise<readonly VirtualWorkspace[]> {
  if (!files.hosted) return files.views(undefined, OWN);
  const store = stack.use(await openStore(choice));
  stack.use(keepHistory(store));
  const { workspaces: upstream, everywhere } = upstreams;
  return files.views({ upstream, identity: sameCaller, everywhere, store, ...(shard !== undefined && { shard }) }, OWN);
}
