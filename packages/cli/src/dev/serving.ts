import { setTimeout as delay } from "node:timers/promises";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import {
  clientCertificates,
  createServer,
  groups,
  type Log,
  type Server,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { Failure } from "../usage.ts";
import { accessLine } from "./access-line.ts";
import { isHosted, type Source, type ViewHost, viewsOf } from "./load.ts";
import type { Loaded, Site } from "./messages.ts";
import { summarise } from "./summary.ts";
import { unionOf } from "./union.ts";
import { ADMIN } from "./users.ts";

/** Of the time that there is: how long those who were handed over last have at most to ask what they came for, and to have their turn. */
const LAST_CALL = 1 / 6;
/** How often it is looked whether they have, ms. */
const LOOK = 5;
/** How long requests under way may take after that, ms. */
const FINISH_WITHIN = 2_000;

/** The modules while they are served: their views, the store that these are given, and a server. */
export interface Serving {
  readonly loaded: Loaded;
  readonly server: Server;
  /** Answers what is under way, and lets go of the store. @param patience how long it may take, ms, before it is ended from outside */
  end(patience: number): Promise<void>;
}

/** Opens the store where a module wants one, makes the views, sets them up. @throws what any of that throws */
export async function startServing(sources: readonly Source[], site: Site): Promise<Serving> {
  await using stack = new AsyncDisposableStack();
  const host = sources.some(isHosted) ? stack.use(await openHost(site)) : undefined;
  const views = await viewsOf(sources, host);
  const all = unionOf(freeName(views), views);
  const loaded = { ...(await summarise(views, all)), store: host?.store.name };
  const server = serverOf(all === undefined ? views : [...views, all], site);
  stack.defer(() => server.close());
  await server.start();
  const kept = stack.move();
  return {
    loaded,
    server,
    end: async (patience) => {
      const last = performance.now() + LAST_CALL * patience;
      while (server.waiting > 0 && performance.now() < last) await delay(LOOK);
      await kept.disposeAsync();
    },
  };
}

/** Engines are loaded when a view wants one: they are the larger part of what a start costs. */
async function openHost({ store: choice }: Site): Promise<ViewHost & AsyncDisposable> {
  const { openStore } = await import("../store/open.ts");
  const { keepHistory } = await import("@virtual-workspaces/store");
  const store = await openStore(choice);
  const history = keepHistory(store);
  return withoutWorkspaces({
    store,
    [Symbol.asyncDispose]: async () => {
      history[Symbol.dispose]();
      await store[Symbol.asyncDispose]();
    },
  });
}

/** Who asks for workspaces is told where there are some. */
function withoutWorkspaces<Own extends object>(host: Own): Own & Workspaces {
  const none = {
    get: (): never => {
      throw new Failure(
        "this view is over workspaces, of which dev has none: use virtual-workspaces start --view, or virtual-workspaces serve --kubeconfig",
      );
    },
  };
  return Object.defineProperties(host, { upstream: none, identity: none }) as Own & Workspaces;
}

/** The name of the view over all views: `dev`, unless one of them is called that. */
function freeName(views: readonly VirtualWorkspace[]): string {
  let name = "dev";
  while (views.some((view) => view.name === name)) name += "-all";
  return name;
}

function serverOf(virtualWorkspaces: readonly VirtualWorkspace[], site: Site): Server {
  return createServer({
    virtualWorkspaces,
    authentication: [clientCertificates({ ca: site.ca })],
    impersonation: groups(...ADMIN.groups),
    tls: site.tls,
    closeTimeout: FINISH_WITHIN,
    log,
    ...(site.quiet ? {} : { onRequest: (record) => void console.log(accessLine(record, new Date())) }),
  });
}

const log: Log = ({ level, message, ...details }) => {
  const line = `${level}: ${message} ${JSON.stringify(details)}`;
  if (level === "info") console.log(line);
  else console.error(line);
};
