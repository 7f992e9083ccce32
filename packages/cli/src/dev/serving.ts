import { setTimeout as delay } from "node:timers/promises";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import {
  createServer,
  groups,
  type ServedResource,
  type Server,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { authenticatedUser, clientCertificates } from "@virtual-workspaces/framework/authn";
import type { Log, RequestRecord } from "@virtual-workspaces/framework/server";
import { Failure } from "../process/failure.ts";
import { isHosted, type Source, type ViewHost, viewsOf } from "../views/load.ts";
import { ADMIN } from "./dev-kubeconfig.ts";
import type { Loaded, Site, ViewSummary } from "./dev-messages.ts";
import { unionOf } from "./union.ts";

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

/** A request as a line of the terminal: time, method, path, user (behind it in brackets who impersonates them), code, and how long it took. */
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

/** Whoever can reach the port chooses these: no line breaks, no terminal sequences, no spaces. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The logical cluster that is shown and used unless another is named. */
const CLUSTER = "root";

/** What the supervisor tells the user of the views. */
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
  const resources = await resourcesOf(view);
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
  };
}

/** None when the view cannot say before it is set up: this is a hint on a terminal, no more. */
async function resourcesOf({ resources = [] }: VirtualWorkspace): Promise<readonly ServedResource[]> {
  if (typeof resources !== "function") return resources;
  try {
    const user = authenticatedUser(ADMIN);
    return await resources({ user, params: { cluster: CLUSTER }, signal: AbortSignal.timeout(1000) });
  } catch {
    return [];
  }
}
