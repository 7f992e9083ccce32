import {
  type ApiError,
  CLUSTER_ANNOTATION,
  isApiError,
  isJsonObject,
  parseApiVersion,
} from "@virtual-workspaces/apimachinery";
import { ClusterProxy, MOUNT_READY_CONDITION, Mount, Workspace } from "@virtual-workspaces/kcp";
import { getCondition, READY_CONDITION } from "@virtual-workspaces/kcp/conditions";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { SCOPES_EXTRA } from "@virtual-workspaces/kcp/users";
import { objectIn } from "../process/json-object.ts";
import { type ExaminedServer, unless } from "./examined-server.ts";
import { Skipped, type Step, StepFailure } from "./steps.ts";
import { meantObject } from "./suggest.ts";

/** A mounted workspace to examine, in the workspace of `patient`. */
export interface ExaminedMount {
  readonly patient: ExaminedServer;
  readonly name: string;
  /** Missing if the user may not get it. */
  found?: Workspace;
  /** Whether the user may not get the Workspace or its mount object, so that a later step cannot name the cause. */
  hidden?: boolean;
}

type MountStep = Step<ExaminedMount>;

const UNKNOWN = "the Workspace is not known";

/**
 * Returns the result of a step whose object cannot be read. A 403 proves nothing about the mount: users need no right to its
 * objects.
 */
function unread(examined: ExaminedMount, { code, message }: ApiError, plural: string): StepFailure | Skipped {
  const user = `use a user who may get ${plural} in this workspace`;
  if (code !== 403) return new StepFailure(message, user);
  examined.hidden = true;
  return new Skipped(`${message}; to check this, ${user}`);
}

/** Returns the remedy, or who can find it. */
function remedyFor({ hidden = false }: ExaminedMount, remedy: string): string {
  if (!hidden) return remedy;
  return "have a user who may get Workspaces and their mount objects in this workspace run the same command";
}

const mounted: MountStep = {
  title: "the workspace exists and is mounted",
  run: async (examined) => {
    const { patient, name } = examined;
    const found = await unless(patient.client().resource(Workspace).get(name, patient.patience), async (error) =>
      error.code === 404
        ? new StepFailure(
            error.message,
            `${await meantObject(patient, name, { of: "workspaces" })}list them with kubectl get workspaces`,
          )
        : unread(examined, error, "Workspaces"),
    );
    examined.found = found;
    const { mount } = found.spec;
    if (mount === undefined)
      throw new StepFailure(
        `workspace ${name} is not mounted`,
        `examine it by its URL: virtual-workspaces doctor ${patient.url}:${name}`,
      );
    return `${mount.ref.kind} ${mount.ref.namespace === undefined ? "" : `${mount.ref.namespace}/`}${mount.ref.name}`;
  },
};

const object: MountStep = {
  title: "its mount object exists and is Ready",
  run: async (examined) => {
    const { patient, found } = examined;
    if (found === undefined) throw new Skipped(UNKNOWN);
    const { apiVersion = "", kind = "", name = "", namespace } = found.spec.mount?.ref ?? {};
    const { group = "", version = "" } = parseApiVersion(apiVersion) ?? {};
    const client = patient.client();
    const served = await client.discovery().look({ group, version, kind }, patient.patience);
    if (served === undefined)
      throw new StepFailure(
        `${patient.path} has no kind ${kind} of ${apiVersion}`,
        "bind the APIExport that has the kind, or create its CustomResourceDefinition",
      );
    const all = client.resource(served);
    const one = await unless(
      (namespace === undefined ? all : all.in(namespace)).get(name, patient.patience),
      (error) =>
        error.code === 404
          ? new StepFailure(
              `${kind} ${name} does not exist`,
              `create it: the workspace becomes Ready when the object is`,
            )
          : unread(examined, error, served.plural),
    );
    const status = (one as { readonly status?: unknown }).status;
    const { phase, URL: url, conditions } = isJsonObject(status) ? status : {};
    if (phase !== "Ready") throw notReady(phase, { kind, name, problem: problemIn(conditions) });
    if (typeof url !== "string" || !globalThis.URL.canParse(url))
      throw new StepFailure(
        `its status.URL is ${url === undefined ? "missing" : "no URL"}`,
        "the controller of that kind must set it to the URL of the API",
      );
    return url;
  },
};

const taken: MountStep = {
  title: "the workspace has taken over its status",
  run: async (examined) => {
    const { found } = examined;
    if (found === undefined) throw new Skipped(UNKNOWN);
    const { phase, conditions } = found.status ?? {};
    const condition = getCondition(conditions, MOUNT_READY_CONDITION);
    if (phase === "Ready" && condition?.status !== "False" && found.spec.URL) return found.spec.URL;
    const why =
      condition === undefined
        ? "no controller has reconciled it yet"
        : `${condition.reason ?? condition.status}: ${condition.message ?? ""}`;
    throw new StepFailure(
      `the phase of the workspace is ${phase ?? "Scheduling"}: ${why}${await reasonForUser(examined, found)}`,
      remedyFor(
        examined,
        "enable the feature gate WorkspaceMounts, whose controller does this, and read the server's log",
      ),
    );
  },
};

const answered: MountStep = {
  title: "the target answers and authenticates the user",
  run: async (examined) => {
    const { patient, name } = examined;
    const path = `${patient.path}:${name}`;
    await unless(patient.ask(`${path}/api`), async (error) => {
      const { code, message } = error;
      if (code === 403)
        return new StepFailure(
          `the target denies access: ${message}`,
          patient.impersonates ? SCOPED : remedyFor(examined, remedyOfDenial(message)),
        );
      const reason =
        code === 503 ? await reasonForUser(examined, examined.found ?? (await workspaceInTree(examined))) : "";
      const remedy =
        code === 404 ? WRONG_PATH : "check that the target runs, and read the log of the server that proxies to it";
      return new StepFailure(`${code}: ${message}${reason}`, remedyFor(examined, remedy));
    });
    try {
      const said = objectIn(await patient.review(path));
      const status = isJsonObject(said?.["status"]) ? said["status"] : {};
      const info = isJsonObject(status["userInfo"]) ? status["userInfo"] : {};
      const user = info["username"];
      const scoped = patient.impersonates && isJsonObject(info["extra"]) && SCOPES_EXTRA in info["extra"];
      return `as ${String(user)}${user === patient.user ? "" : `, who is ${patient.user} here`}${scoped ? `; ${SCOPED}` : ""}`;
    } catch (error) {
      if (isApiError(error)) throw new Skipped(`the target answers, but does not name the user: ${error.message}`);
      throw error;
    }
  },
};

/** Steps for a mounted workspace, in its parent. */
export const MOUNT: readonly MountStep[] = [mounted, object, taken, answered];

interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** Returns the first condition that is not True, but the summary Ready only without another. */
function problemIn(conditions: unknown): Problem | undefined {
  const wrong = (Array.isArray(conditions) ? conditions : []).filter(
    (one) => isJsonObject(one) && one["status"] !== "True",
  );
  const first = wrong.find(({ type }) => type !== READY_CONDITION) ?? wrong[0];
  if (first === undefined) return undefined;
  const reason = String(first["reason"] ?? first["type"]);
  return { reason, message: String(first["message"] ?? reason) };
}

interface Unready {
  readonly kind: string;
  readonly name: string;
  readonly problem: Problem | undefined;
}

function notReady(phase: unknown, { kind, name, problem }: Unready): StepFailure {
  const state = phase === undefined ? "it has no status.phase" : `its status.phase is ${JSON.stringify(phase)}`;
  if (problem === undefined)
    return new StepFailure(state, `check that the controller of the kind ${kind} runs, and read its log`);
  const found = `${state}: ${problem.message}`;
  if (kind === ClusterProxy.kind) return new StepFailure(found, `virtual-workspaces doctor clusterproxy ${name}`);
  const remedy = kind === Mount.kind ? REMEDIES.get(problem.reason) : undefined;
  return new StepFailure(
    found,
    remedy ?? `correct what the message names; the controller of the kind ${kind} then sets the phase`,
  );
}

/** Remedies by the reasons of the condition `Reachable` of a Mount. */
const REMEDIES: ReadonlyMap<string, string> = new Map(
  (
    [
      [
        ["SecretNotFound", "SecretInvalid", "CredentialMissing"],
        "correct the Secret and the key that the message names: kubectl create secret generic <name> --from-file=kubeconfig=<file>",
      ],
      [["RefNotFound", "RefNotReady", "URLMissing"], "look at the object in spec.ref of the Mount"],
      [["URLInvalid"], "correct the URL, in the kubeconfig of the Secret or in the object in spec.ref of the Mount"],
      [["Unreachable"], "start the target, or correct its URL in the Secret, or the network"],
      [["Untrusted"], "put the certificate authority of the target into ca.crt of the Secret"],
      [
        ["CredentialRefused"],
        "put a new credential into the Secret; the token of a workspace server's kcp-admin is new at each start",
      ],
      [
        ["Failing", "Redirects"],
        "correct the URL in the Secret (scheme, port, path), or look at the log of the target: /version answers an error or a redirect",
      ],
      [["Restricted", "Insecure"], "ask the operator to allow the host of the target with --mount-allow"],
      [["CallerRefused"], "ask the operator to add the host of the target to --mount-caller-hosts"],
      [["TargetNotFound", "TargetNotReady"], "look at the workspace at spec.path of the Mount, and at its own mount"],
      [
        ["Cycle"],
        "delete one of the mounts or workspaces that the message names, or let one lead to another workspace",
      ],
    ] as const
  ).flatMap(([reasons, remedy]) => reasons.map((reason) => [reason, remedy] as const)),
);

const WRONG_PATH = "correct the path of the URL in the Secret: the target has nothing there";
/** Remedy for an impersonated user: another workspace server does not accept the scope of this one. */
const SCOPED =
  "with --as the user counts only in this workspace, so a target that is a workspace server may deny what it permits the user's own credential (--token, --user): use that";

/** Returns the URL's own reason to a user who may not get the Mount, or "". Security: the server shows it to users who may enter. */
async function reasonForUser(
  { patient, hidden = false }: ExaminedMount,
  found: Workspace | undefined,
): Promise<string> {
  const { kind, apiVersion, name } = found?.spec.mount?.ref ?? {};
  const cluster = found?.metadata.annotations?.[CLUSTER_ANNOTATION];
  if (!hidden || cluster === undefined || kind !== Mount.kind || !apiVersion?.startsWith(`${Mount.group}/`)) return "";
  try {
    await patient.ask(`/services/mounts/${cluster}/${name}/version`);
    return "";
  } catch (error) {
    if (!isApiError(error)) throw error;
    return error.code === 503 ? `; ${error.message}` : "";
  }
}

/** Returns the Workspace as the view of all workspaces shows it to users who may not get it in its parent. */
async function workspaceInTree({ patient, name }: ExaminedMount): Promise<Workspace | undefined> {
  const path = `/services/workspaces/clusters/*/apis/${Workspace.group}/${Workspace.version}/${Workspace.plural}`;
  try {
    const { items } = (objectIn(await patient.ask(`${path}?fieldSelector=metadata.name%3D${name}`)) ?? {}) as {
      readonly items?: readonly Workspace[];
    };
    return items?.find(({ metadata }) => metadata.annotations?.[PATH_ANNOTATION] === patient.workspace);
  } catch (error) {
    if (isApiError(error)) return undefined; // kcp has no such view
    throw error;
  }
}

/**
 * Returns whose rights to extend at the target, which names the user in its message. A workspace server answers 403 for logical
 * clusters that do not exist, too, so the URL may be wrong.
 */
function remedyOfDenial(message: string): string {
  const [, user, what] = /User "([^"]+)" cannot (\S+)/.exec(message) ?? [];
  const [, path] = /cannot get path "(\/.+)\/api"/.exec(message) ?? [];
  if (path !== undefined)
    return `if ${path} is no path of the target, correct the URL in the Secret; otherwise, at the target, give ${user} this permission`;
  if (user === undefined) return "the target has rules of its own: give the user of the request this permission there";
  const permission =
    what?.startsWith("impersonate") === true
      ? "the verb impersonate on users, groups and serviceaccounts, and on all resources (*) of the group authentication.k8s.io"
      : "this permission";
  return `at the target, give ${user} ${permission}; or, if this logical cluster does not exist at the target, correct the URL in the Secret`;
}
