import { type ApiError, isApiError, parentPath } from "@virtual-workspaces/apimachinery";
import { Informer } from "@virtual-workspaces/client";
import {
  type ConnectionProblem,
  connectionProblem,
  isTransportError,
  type TransportError,
} from "@virtual-workspaces/transport";
import { known } from "./authentication-step.ts";
import { type ExaminedServer, unless } from "./examined-server.ts";
import { Skipped, type Step, StepFailure } from "./steps.ts";
import { misnamed } from "./suggest.ts";
import { forwardedFailure, isView, pathFailure } from "./view-identity.ts";

/** Age above which an index is out of date, s. */
const LAG = 60;
/** Time limit for a watch to sync, ms. */
const SYNC = 15_000;

type ServerStep = Step<ExaminedServer>;

const reached: ServerStep = {
  title: "the server is reachable and its certificate is valid",
  run: async (patient) => {
    await patient.ask("/livez").catch((error: unknown) => {
      if (isTransportError(error)) throw unreached(patient, error);
      if (!isApiError(error)) throw error; // any answer proves that it is reachable
    });
    return patient.server.url;
  },
};

const ready: ServerStep = {
  title: "the server is ready",
  run: async (patient) => {
    const { status, checks } = await patient.readiness();
    if (status < 300) return "/readyz answers ok";
    if (status < 500) throw new Skipped(`/readyz answers ${status}`);
    const failed = checks.filter(({ ok }) => !ok).map(({ name, reason }) => `${name}: ${reason || "no reason given"}`);
    if (failed.length === 0)
      throw new StepFailure(
        `/readyz answers ${status}`,
        "wait; if it does not become ready, find the reason in its log",
      );
    throw new StepFailure(`not ready: ${failed.join("; ")}${await reasonOf(patient)}`, NOT_READY);
  },
};

const NOT_READY =
  'wait; if it does not become ready, find the reason in its log: a view logs "virtual workspace is not ready"';

/** Returns what the view of the URL answers to the user while it is not ready: servers withhold reasons from `/readyz`. */
async function reasonOf(patient: ExaminedServer): Promise<string> {
  if (!isView(patient)) return "";
  try {
    await patient.ask(`${patient.path}/api`);
    return "";
  } catch (error) {
    if (!isApiError(error)) throw error;
    return error.code === 503 ? `; ${error.message}` : "";
  }
}

const entered: ServerStep = {
  title: "the user has access",
  run: async (patient) => {
    await unless(patient.ask(`${patient.path}/api`), (error) => deniedOrMissing(patient, error));
    return patient.path === "" ? "the whole server" : patient.path;
  },
};

/** Tells a missing path (404) from a denial (403), and suggests names that exist. */
async function deniedOrMissing(patient: ExaminedServer, error: ApiError): Promise<StepFailure> {
  const ofView = isView(patient) ? (pathFailure(patient, error) ?? forwardedFailure(patient, error)) : undefined;
  if (ofView !== undefined) return ofView;
  const wrong = [403, 404].includes(error.code) ? await misnamed(patient) : undefined;
  if (error.code === 404)
    return new StepFailure(
      `there is nothing at this path: ${error.message}`,
      `${wrong?.meant ?? ""}check each name in the path of the URL`,
    );
  if (error.code === 403 && wrong !== undefined)
    return new StepFailure(
      `${error.message}: the server lists no ${wrong.part}`,
      `${wrong.meant}check the name, or ask the operator for access if it is right`,
    );
  if (error.code === 403) return refused(patient, error.message);
  return new StepFailure(
    `${error.code}: ${error.message}`,
    error.code < 500
      ? "correct the URL as the message says"
      : "wait, and try again; read the server's log for the reason",
  );
}

const synced: ServerStep = {
  title: "a watch syncs",
  run: async (patient) => {
    const client = patient.client();
    const kinds = await client.discovery().all(patient.patience);
    const kind =
      kinds.find(({ plural }) => plural === "namespaces") ??
      kinds.find(({ verbs }) => verbs.includes("list") && verbs.includes("watch"));
    if (kind === undefined) throw new Skipped("no resource there supports list and watch");
    return watched(client.resource(kind), kind.plural);
  },
};

const lag: ServerStep = {
  title: "the index of the front proxy is up to date",
  run: async (patient) => {
    const text = await patient.ask("/metrics").catch((error: unknown) => {
      if (isApiError(error)) throw new Skipped(`/metrics answers ${error.code} to this user`);
      throw error;
    });
    const lags = [...text.matchAll(/^virtual_workspaces_index_lag_seconds\{shard="([^"]*)"\} (\S+)$/gm)];
    if (lags.length === 0) throw new Skipped("there is no front proxy of this project at this address");
    for (const [, shard, seconds] of lags)
      if (!(Number(seconds) <= LAG))
        throw new StepFailure(
          `shard ${shard} has sent nothing for ${seconds} s: the index lacks its latest changes`,
          `check that the shard runs, and read the front proxy's log: kubectl get shard ${shard} -o yaml`,
        );
    return lags.map(([, shard, seconds]) => `${shard} ${Number(seconds).toFixed(1)} s`).join(", ");
  },
};

/** Steps for any server, up to access. */
export const TO_THE_DOOR: readonly ServerStep[] = [reached, ready, known, entered];
/** Steps that need access. */
export const BEHIND_THE_DOOR: readonly ServerStep[] = [synced, lag];

/** Watches a resource until it has synced, and returns the result. @throws StepFailure when it does not sync */
export async function watched(
  resource: ConstructorParameters<typeof Informer<object>>[0]["resource"],
  name: string,
): Promise<string> {
  const began = performance.now();
  await using informer = new Informer({ resource });
  const late = Promise.withResolvers<void>();
  let last: Error | undefined;
  informer.on({
    lifecycle: (event) => {
      if (event.type !== "error") return;
      last = event.error;
      if (isApiError(last) && last.code === 403) late.resolve();
    },
  });
  informer.start();
  const timer = setTimeout(late.resolve, SYNC);
  const isSynced = await Promise.race([informer.synced.then(() => true), late.promise.then(() => false)]).finally(() =>
    clearTimeout(timer),
  );
  if (isSynced)
    return `${name}: ${informer.store.list().length} objects in ${Math.round(performance.now() - began)} ms`;
  if (isApiError(last) && last.code === 403) throw new Skipped(`the user may not watch ${name}: ${last.message}`);
  throw new StepFailure(
    `a watch of ${name} has not synced within ${SYNC / 1000} s${last === undefined ? "" : `: ${last.message}`}`,
    "look for a proxy between here and the server that buffers streams or limits their duration",
  );
}

const REMEDIES: Readonly<Record<ConnectionProblem["kind"], string>> = {
  unresolved: "check the host of the server in the kubeconfig",
  refused: "start the server, or check the host and port of the server in the kubeconfig",
  expired: "renew it where the server runs (--tls-cert-file)",
  names: "use one of these names, or add this one to the certificate",
  untrusted:
    "the certificate-authority of the kubeconfig does not match this server: use the kubeconfig that the server wrote, or --certificate-authority",
  silent: "check for a firewall in between, and whether the server is overloaded",
};

function unreached({ server: { url } }: ExaminedServer, error: TransportError): StepFailure {
  const problem = connectionProblem(error, url);
  if (problem === undefined) return new StepFailure(error.message, "check the server in the kubeconfig");
  return new StepFailure(problem.text, REMEDIES[problem.kind]);
}

/** Returns the failure of a user without access, with the command by which an administrator grants it. */
function refused(patient: ExaminedServer, message: string): StepFailure {
  const { workspace, user } = patient;
  if (workspace === undefined)
    return new StepFailure(
      message,
      "the path exists and denies this user, or hides what does not exist: check its names, or ask the operator of the view for access",
    );
  const parent = parentPath(workspace);
  // The URL of a mounted workspace leads to the target: the binding belongs into the parent, whose access counts.
  const isMount = parent !== undefined && message.endsWith(`: ${WITHOUT_ENTRY}`);
  const [place, shown] = isMount ? [parent, `${parent}, the parent of the mount,`] : [workspace, workspace];
  const at = (path: string): string => `--server=${patient.server.url}/clusters/${path}`;
  const exists =
    parent === undefined
      ? ""
      : `check that it exists: kubectl get workspace ${workspace.split(":").at(-1)} ${at(parent)}; `;
  return new StepFailure(
    `${message}: no rule of ${shown} gives ${JSON.stringify(user)} the verb "access" for "/", or the workspace does not exist`,
    `${exists}have an administrator of ${isMount ? place : "it"} run: kubectl ${at(place)} create clusterrolebinding enter-${user.replace(/[^a-z0-9]+/gi, "-")} --clusterrole=system:kcp:workspace:access --user=${user}`,
  );
}

/** Reason of a 403 at a mounted workspace. Front proxies and kcp use it where there is no workspace, too. */
const WITHOUT_ENTRY = "workspace access not permitted";
