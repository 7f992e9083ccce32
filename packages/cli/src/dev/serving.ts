import { setTimeout as delay } from "node:timers/promises";
import type { Console, ConsoleMemory } from "@virtual-workspaces/console";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import {
  createServer,
  groups,
  type ServedResource,
  type Server,
  staticTokens,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { authenticatedUser, clientCertificates } from "@virtual-workspaces/framework/authn";
import type { Log, RequestRecord } from "@virtual-workspaces/framework/server";
import { untilAborted } from "@virtual-workspaces/transport";
import { Failure } from "../process/failure.ts";
import { version } from "../process/programs.ts";
import { isHosted, type Source, type ViewHost, viewsOf } from "../views/load.ts";
import { ADMIN } from "./dev-kubeconfig.ts";
import type { Loaded, Site, ViewSummary } from "./dev-messages.ts";
import { DISCOVERY, rootWorkspace, unionOf } from "./union.ts";

/** Share of the time limit in which clients of connections handed over last can send a request and get their turn. */
const LAST_CALL = 1 / 6;
/** Interval of the check for waiting connections, ms. */
const LOOK = 5;
/** How long a start waits for the `ready` hook of a view, ms. */
const READY_WITHIN = 500;
/** Time limit for requests in flight after that, ms. */
const FINISH_WITHIN = 2_000;

/** Served modules: their views, the store for these, and a server. */
export interface Serving {
  readonly loaded: Loaded;
  readonly server: Server;
  /** Completes requests in flight and closes the store. @param patience time until the supervisor kills the process, ms */
  end(patience: number): Promise<void>;
}

/** Opens the store if a module needs one, creates the views and sets them up. @throws any error of these steps */
export async function startServing(sources: readonly Source[], site: Site, memory: ConsoleMemory): Promise<Serving> {
  await using stack = new AsyncDisposableStack();
  const host = sources.some(isHosted) ? stack.use(await openHost(site)) : undefined;
  const origins = new Map<string, string>();
  const views: VirtualWorkspace[] = [];
  const stored: string[] = [];
  for (const source of sources) {
    let stores = false;
    const own = host && observed(host, () => (stores = true));
    const created = await viewsOf([source], own, { taken: origins });
    views.push(...created);
    if (stores) stored.push(...created.map(({ name }) => name));
  }
  const all = unionOf(freeName("dev", views), views);
  const served = all === undefined ? views : [...views, all];
  const store = host && stored.length > 0 ? { name: host.store.name, views: stored } : undefined;
  const page = await consoleOf(site, memory);
  const workspaces = page && rootWorkspace(freeName("clusters", served), views);
  const server = serverOf(workspaces === undefined ? served : [...served, workspaces], { site, page });
  stack.defer(() => server.close());
  await server.start();
  const loaded = { ...(await summarise(views, all)), store };
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

/** Imports store engines only when a view needs one: they take the larger part of a start. */
async function openHost({ store: choice }: Site): Promise<ViewHost & AsyncDisposable> {
  const { openStore } = await import("../server/open-store.ts");
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

/** Returns the host for one module, which reports that the module takes the store. */
function observed(host: ViewHost, onStore: () => void): ViewHost {
  return Object.create(host, {
    store: {
      get: () => {
        onStore();
        return host.store;
      },
    },
  }) as ViewHost;
}

/** Makes views that use workspaces fail with an error that names commands that have some. */
function withoutWorkspaces<Own extends object>(host: Own): Own & Workspaces {
  const none = {
    get: (): never => {
      throw new Failure(
        "this view needs workspaces, and dev has none: use virtual-workspaces start --view, or virtual-workspaces serve --kubeconfig",
      );
    },
  };
  return Object.defineProperties(host, { upstream: none, identity: none }) as Own & Workspaces;
}

/** Returns the console, whose sessions and links outlive this process. */
async function consoleOf({ console: choice }: Site, memory: ConsoleMemory): Promise<Console | undefined> {
  if (choice === undefined) return undefined;
  const { createConsole } = await import("@virtual-workspaces/console");
  return createConsole({ key: Buffer.from(choice.key, "base64"), memory, log });
}

/** Returns this name, longer if a view has it. */
function freeName(wanted: string, views: readonly VirtualWorkspace[]): string {
  let name = wanted;
  while (views.some((view) => view.name === name)) name += "-all";
  return name;
}

function serverOf(
  virtualWorkspaces: readonly VirtualWorkspace[],
  { site, page }: { readonly site: Site; readonly page: Console | undefined },
): Server {
  const tokens = site.console === undefined ? [] : [staticTokens(site.console.users)];
  return createServer({
    virtualWorkspaces,
    authentication: [clientCertificates({ ca: site.ca }), ...tokens],
    ...(page && { pages: page.pages }),
    impersonation: groups(...ADMIN.groups),
    component: { name: "virtual-workspaces dev", version: version(), authorize: groups(...ADMIN.groups) },
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

/** Formats a request for the terminal: time, method, path, user (and the impersonator in parentheses), code, duration. */
export function accessLine(record: RequestRecord, now: Date): string {
  const { stage, method, verb, path, user = "-", impersonator, code, duration } = record;
  const who = impersonator === undefined ? printable(user) : `${printable(user)}(${printable(impersonator)})`;
  const what = verb === "watch" ? "WATCH" : method;
  const outcome = code === 0 ? "left" : String(code);
  return [now.toTimeString().slice(0, 8), what, printable(path), who, outcome, spent()].join(" ");

  function spent(): string {
    if (stage === "ResponseStarted") return "begins";
    return verb === "watch" && code === 200
      ? `ends after ${(duration / 1000).toFixed(1)} s`
      : `${duration.toFixed(1)} ms`;
  }
}

/** Escapes line breaks, terminal sequences and spaces. Security: clients choose these texts. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Logical cluster that `dev` shows and uses by default. */
const CLUSTER = "root";

/** Summarizes the views for the supervisor, which shows them to the user. */
async function summarise(
  views: readonly VirtualWorkspace[],
  all: VirtualWorkspace | undefined,
): Promise<Omit<Loaded, "store">> {
  return {
    views: await Promise.all(views.map(summaryOf)),
    all: all === undefined ? undefined : await summaryOf(all),
  };
}

async function summaryOf(view: VirtualWorkspace): Promise<ViewSummary> {
  const [resources, denied, ready] = await Promise.all([resourcesOf(view), denies(view), isReady(view)]);
  return {
    name: view.name,
    path: `${view.prefix ?? `/services/${view.name}`}${view.path === "/" ? "" : view.path.replace(":cluster", CLUSTER)}`,
    resources: resources
      .filter(({ identity }) => identity === "")
      .map(({ definition: { group, version, plural } }) => ({
        plural,
        path: `${group === "" ? "/api" : `/apis/${group}`}/${version}/${plural}`,
      })),
    moves: view.setup !== undefined,
    denied,
    ready,
  };
}

/** Returns nothing if the view cannot list its resources: the terminal only shows a hint. */
async function resourcesOf({ resources = [] }: VirtualWorkspace): Promise<readonly ServedResource[]> {
  if (typeof resources !== "function") return resources;
  try {
    return await resources(adminRequest());
  } catch {
    return [];
  }
}

/** Returns whether the view denies the admin discovery. An error is no denial. */
async function denies(view: VirtualWorkspace): Promise<boolean> {
  try {
    return !(await view.authorize({ ...adminRequest(), ...DISCOVERY })).allowed;
  } catch {
    return false;
  }
}

/** Returns whether the view is ready soon: the terminal says which are not. The server logs why. */
async function isReady(view: VirtualWorkspace): Promise<boolean> {
  const signal = AbortSignal.timeout(READY_WITHIN);
  try {
    await untilAborted((async () => view.ready?.({ signal }))(), signal);
    return true;
  } catch {
    return false;
  }
}

const adminRequest = () => ({
  user: authenticatedUser(ADMIN),
  params: { cluster: CLUSTER },
  signal: AbortSignal.timeout(1000),
});
