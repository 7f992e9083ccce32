import { type ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { Informer } from "@virtual-workspaces/client";
import { DOCTOR_TEXTS, indexLags } from "@virtual-workspaces/console/doctor";
import {
  type ConnectionProblem,
  connectionProblem,
  isTransportError,
  type TransportError,
} from "@virtual-workspaces/transport";
import { known } from "./authentication-step.ts";
import { type ExaminedServer, type Readiness, unless } from "./examined-server.ts";
import { unknownName, unreachedBehind, withoutAccess, withoutWorkspace } from "./in-front.ts";
import { Skipped, type Step, StepFailure } from "./steps.ts";
import { misnamed, viewOf } from "./suggest.ts";
import { forwardedFailure, isView, pathFailure } from "./view-identity.ts";

/** Time limit for a watch to sync, ms. */
const SYNC = 15_000;

type ServerStep = Step<ExaminedServer>;

const reached: ServerStep = {
  title: DOCTOR_TEXTS.reached.title,
  run: async (patient) => {
    await patient.ask("/livez").catch((error: unknown) => {
      if (isTransportError(error)) throw unreached(patient, error);
      if (!isApiError(error)) throw error; // any answer proves that it is reachable
    });
    return patient.server.url;
  },
};

const ready: ServerStep = {
  title: DOCTOR_TEXTS.ready.title,
  run: async (patient) => {
    const { status, checks } = await patient.readiness();
    const words = DOCTOR_TEXTS.ready;
    if (status < 300) return `${words.ok}${unchecked(patient, checks)}`;
    if (status < 500) throw new Skipped(words.other(status));
    const failed = checks.filter(({ ok }) => !ok);
    if (failed.length === 0) throw new StepFailure(words.other(status), words.remedyWithoutReason);
    throw new StepFailure(`${words.failed(failed)}${await reasonOf(patient)}`, words.remedy);
  },
};

/** Says that the readiness of the server does not include that of the view in the URL, which another one serves. */
function unchecked(patient: ExaminedServer, checks: Readiness["checks"]): string {
  const view = viewOf(patient);
  if (view === undefined || checks.some(({ name }) => name === view)) return "";
  return `, and has no check of the view ${JSON.stringify(view)}, which another server may serve`;
}

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
  title: DOCTOR_TEXTS.entered.title,
  run: async (patient) => {
    await unless(patient.ask(`${patient.path}/api`), (error) => deniedOrMissing(patient, error));
    return patient.path === "" ? "the whole server" : patient.path;
  },
};

/** Tells a missing path (404) from a denial (403), and suggests names that exist. */
async function deniedOrMissing(patient: ExaminedServer, error: ApiError): Promise<StepFailure> {
  const { code, message } = error;
  const wrong = [403, 404].includes(code) ? await misnamed(patient) : undefined;
  const ofView = isView(patient) ? pathFailure(patient, error) : undefined;
  const special = ofView ?? unknownName(patient, error, wrong) ?? unreachedBehind(patient, error);
  if (special !== undefined) return special;
  const forwarded = isView(patient) ? forwardedFailure(patient, error) : undefined;
  if (forwarded !== undefined) return forwarded;
  if (code === 404)
    return new StepFailure(
      `there is nothing at this path: ${message}`,
      `${wrong?.meant ?? ""}check each name in the path of the URL`,
    );
  if (code === 403 && wrong !== undefined)
    return new StepFailure(
      `${message}: the server lists no ${wrong.part}`,
      `${wrong.meant}check the name, or ask the operator for access if it is right`,
    );
  if (code === 403) return denied(patient, message);
  return new StepFailure(`${code}: ${message}`, ofMount(message) ?? remedyOf(code));
}

/** Returns the remedy inside a mounted workspace that is not ready. */
function ofMount(message: string): string | undefined {
  const [, name] = /^the workspace \S*?([^:\s]+) is mounted on .* not ready/.exec(message) ?? [];
  if (name === undefined) return undefined;
  return `go to the workspace that contains the mount (kubectl ws ..), and run: virtual-workspaces doctor mount ${name}`;
}

function remedyOf(code: number): string {
  const { ofMessage, internal, wait } = DOCTOR_TEXTS.entered;
  if (code < 500) return ofMessage;
  return code === 500 ? internal : wait;
}

async function denied(patient: ExaminedServer, message: string): Promise<StepFailure> {
  if (patient.workspace !== undefined) return withoutAccess(patient, patient.workspace, message);
  return (
    (await withoutWorkspace(patient, message)) ??
    new StepFailure(
      message,
      "the path exists and denies this user, or hides what does not exist: check its names, or ask the operator of the view for access",
    )
  );
}

const synced: ServerStep = {
  title: DOCTOR_TEXTS.synced.title,
  run: async (patient) => {
    const client = patient.client();
    const kinds = await client.discovery().all(patient.patience);
    const kind =
      kinds.find(({ plural }) => plural === "namespaces") ??
      kinds.find(({ verbs }) => verbs.includes("list") && verbs.includes("watch"));
    if (kind === undefined) throw new Skipped(DOCTOR_TEXTS.synced.none);
    return watched(client.resource(kind), kind.plural);
  },
};

const lag: ServerStep = {
  title: DOCTOR_TEXTS.indexed.title,
  run: async (patient) => {
    const text = await patient.ask("/metrics").catch((error: unknown) => {
      if (isApiError(error)) throw new Skipped(DOCTOR_TEXTS.indexed.denied(error.code));
      throw error;
    });
    const lags = indexLags(text);
    const words = DOCTOR_TEXTS.indexed;
    if (lags.length === 0) throw new Skipped(words.none);
    const late = lags.find(({ isLate }) => isLate);
    if (late !== undefined) throw new StepFailure(words.late(late), words.remedy(late.shard));
    return words.ok(lags);
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
  const words = DOCTOR_TEXTS.synced;
  if (isSynced) return words.ok(name, informer.store.list().length, performance.now() - began);
  if (isApiError(last) && last.code === 403) throw new Skipped(words.forbidden(name, last.message));
  throw new StepFailure(words.late(name, SYNC / 1000, last?.message ?? ""), words.remedy);
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
