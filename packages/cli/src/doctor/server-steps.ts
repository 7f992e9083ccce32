import { isApiError, isJsonObject, parentPath } from "@virtual-workspaces/apimachinery";
import { Informer } from "@virtual-workspaces/client";
import { isTransportError, type TransportError } from "@virtual-workspaces/transport";
import { type ExaminedServer, objectIn, unless } from "./examined-server.ts";
import { Skipped, type Step, StepFailure } from "./steps.ts";

const SCOPES = "authentication.kcp.io/scopes";
/** What is older than that is no lag of a moment, s. */
const LAG = 60;
/** How long a watch may take until it has shown what there is, ms. */
const SYNC = 15_000;

type ServerStep = Step<ExaminedServer>;

const reached: ServerStep = {
  title: "the server is reached, and is who it says",
  run: async (patient) => {
    await patient.ask("/livez").catch((error: unknown) => {
      if (isTransportError(error)) throw unreached(patient, error);
      if (!isApiError(error)) throw error; // any answer is one
    });
    return patient.server.url;
  },
};

const ready: ServerStep = {
  title: "it is ready",
  run: async (patient) => {
    try {
      await patient.ask("/readyz?verbose");
      return "/readyz says ok";
    } catch (error) {
      if (!isApiError(error) || error.code < 500)
        throw isApiError(error) ? new Skipped(`/readyz is answered ${error.code}`) : error;
      throw new StepFailure(
        "it says by /readyz that it is not ready",
        `wait; if it stays so, its log says why, and which part: kubectl get --raw '/readyz?verbose' --server=${patient.server.url}`,
      );
    }
  },
};

const known: ServerStep = {
  title: "it knows who asks",
  run: async (patient) => {
    let why = "";
    // Who may not enter a workspace is told in root who they are.
    for (const path of new Set([patient.path, "/clusters/root"]))
      try {
        return shownUser(patient, await patient.review(path));
      } catch (error) {
        if (!isApiError(error)) throw error;
        if (error.code === 401)
          throw new StepFailure("it does not know who asks: 401", stranger(await patient.token()));
        why ||= error.message;
      }
    throw new Skipped(`who that is it does not tell: ${why}`);
  },
};

const entered: ServerStep = {
  title: "one may enter there",
  run: async (patient) => {
    await unless(patient.ask(`${patient.path}/api`), (error) => {
      if (error.code === 404)
        return new StepFailure(`there is nothing: ${error.message}`, "check the path of the URL, name by name");
      if (error.code === 403) return refused(patient, error.message);
      return new StepFailure(`${error.code}: ${error.message}`, "wait, and try again; the server's log says why");
    });
    return patient.path === "" ? "the whole server" : patient.path;
  },
};

const synced: ServerStep = {
  title: "a watch shows what there is",
  run: async (patient) => {
    const client = patient.client();
    const kinds = await client.discovery().all(patient.patience);
    const kind =
      kinds.find(({ plural }) => plural === "namespaces") ??
      kinds.find(({ verbs }) => verbs.includes("list") && verbs.includes("watch"));
    if (kind === undefined) throw new Skipped("nothing is served there that can be listed and watched");
    return watched(client.resource(kind), kind.plural);
  },
};

const lag: ServerStep = {
  title: "the index of a front proxy is not behind",
  run: async (patient) => {
    const text = await patient.ask("/metrics").catch((error: unknown) => {
      if (isApiError(error)) throw new Skipped(`/metrics is answered ${error.code} to this user`);
      throw error;
    });
    const lags = [...text.matchAll(/^virtual_workspaces_index_lag_seconds\{shard="([^"]*)"\} (\S+)$/gm)];
    if (lags.length === 0) throw new Skipped("no front proxy of ours is at this address");
    for (const [, shard, seconds] of lags)
      if (!(Number(seconds) <= LAG))
        throw new StepFailure(
          `the shard ${shard} has given no sign of life for ${seconds} s: what is new there is not known`,
          `see whether the shard runs, and the front proxy's log: kubectl get shard ${shard} -o yaml`,
        );
    return lags.map(([, shard, seconds]) => `${shard} ${Number(seconds).toFixed(1)} s`).join(", ");
  },
};

/** Of any server: up to whether one may enter. */
export const TO_THE_DOOR: readonly ServerStep[] = [reached, ready, known, entered];
/** And what is behind the door. */
export const BEHIND_THE_DOOR: readonly ServerStep[] = [synced, lag];

/** How a watch of a resource goes. @throws Fault when it does not show what there is */
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
  if (isApiError(last) && last.code === 403) throw new Skipped(`one may not watch ${name}: ${last.message}`);
  throw new StepFailure(
    `a watch of ${name} has not shown what there is within ${SYNC / 1000} s${last === undefined ? "" : `: ${last.message}`}`,
    "something between here and the server holds back answers without an end: a proxy that buffers, or has a deadline",
  );
}

function shownUser(patient: ExaminedServer, text: string): string {
  const { status } = objectIn(text) ?? {};
  const user = isJsonObject(status) && isJsonObject(status["userInfo"]) ? status["userInfo"] : {};
  const { username = "", groups, extra } = user;
  patient.user = String(username);
  const scopes = isJsonObject(extra) && Array.isArray(extra[SCOPES]) ? ` for ${extra[SCOPES].join(", ")} alone` : "";
  return `${patient.user}, of ${Array.isArray(groups) ? groups.join(", ") : "no groups"}${scopes}`;
}

function unreached({ server: { url } }: ExaminedServer, { code, message, cause }: TransportError): StepFailure {
  const { code: why = "", message: said = message } = (cause ?? {}) as {
    readonly code?: string;
    readonly message?: string;
  };
  const host = new URL(url).host;
  if (why === "ENOTFOUND" || why === "EAI_AGAIN")
    return new StepFailure(`no name server knows ${host}`, "check the host of the server in the kubeconfig");
  if (why === "ECONNREFUSED")
    return new StepFailure(
      `nothing listens at ${host}`,
      "start the server, or check host and port of the server in the kubeconfig",
    );
  if (why === "CERT_HAS_EXPIRED")
    return new StepFailure("the server's certificate has expired", "renew it where the server runs (--tls-cert-file)");
  if (why === "ERR_TLS_CERT_ALTNAME_INVALID")
    return new StepFailure(
      `the server's certificate is for other names: ${said}`,
      "ask it by one of these, or have its certificate name this one",
    );
  if (code === "tls")
    return new StepFailure(
      `the server's certificate is not to be trusted: ${said}`,
      "the kubeconfig names another certificate-authority than that of this server: take the kubeconfig that the server has written, or --certificate-authority",
    );
  if (code === "timeout")
    return new StepFailure(
      `${host} does not answer in time`,
      "see whether a firewall is between, and whether the server is busy",
    );
  return new StepFailure(message, "check the server in the kubeconfig");
}

function stranger(token: string | undefined): string {
  const ended = token === undefined ? undefined : endOf(token);
  if (ended !== undefined && ended <= Date.now())
    return `the token ended at ${new Date(ended).toISOString()}: log in again, for another one`;
  return "log in again, or take another user of the kubeconfig with --user; tokens and certificates of one server count at no other";
}

/** When a JSON Web Token ends, ms. */
function endOf(token: string): number | undefined {
  const payload = objectIn(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  return typeof payload?.["exp"] === "number" ? payload["exp"] * 1000 : undefined;
}

/** As an administrator of the workspace would allow it. */
function refused(patient: ExaminedServer, message: string): StepFailure {
  const { workspace, user } = patient;
  if (workspace === undefined) return new StepFailure(message, "ask whoever runs the view to let you in");
  const parent = parentPath(workspace);
  return new StepFailure(
    `${message}: no rule of ${workspace} gives ${JSON.stringify(user)} the verb "access" for "/", or there is no such workspace`,
    `${parent === undefined ? "" : `see whether it is there: kubectl get workspace ${workspace.split(":").at(-1)} --server=${patient.server.url}/clusters/${parent}; `}have its administrator type: kubectl --server=${patient.server.url}/clusters/${workspace} create clusterrolebinding enter-${user.replace(/[^a-z0-9]+/gi, "-")} --clusterrole=system:kcp:workspace:access --user=${user}`,
  );
}
