import { type ApiError, isApiError, parentPath } from "@virtual-workspaces/apimachinery";
import type { ExaminedServer } from "./examined-server.ts";
import { StepFailure } from "./steps.ts";
import type { Misnamed } from "./suggest.ts";
import { isView } from "./view-identity.ts";

// Servers in front of views, a front proxy or a shard: what they answer themselves, and the workspaces that they have.

/**
 * Answer of a front proxy to the name of a logical cluster that it does not have. kcp's looks it up before it authenticates
 * the user, so its message names none.
 */
const UNKNOWN =
  /^forbidden: User (?:"" cannot get path "[^"]*"|"[^"]*" cannot access path "\/"): workspace access not permitted$/;
/** Denial of `virtual-workspaces serve` for a name below /services that no view has. */
const NO_VIEW = /there is no virtual workspace at \/services\//;

/** Returns the failure of a name that a server in front, or that of the views, does not have; `undefined` for other failures. */
export function unknownName(
  patient: ExaminedServer,
  { message }: ApiError,
  wrong: Misnamed | undefined,
): StepFailure | undefined {
  const meant = wrong?.meant ?? "";
  if (NO_VIEW.test(message))
    return new StepFailure(
      message,
      `${meant}check the name: the server of the views lists its views at /readyz?verbose, which a front proxy does not forward`,
    );
  const cluster = clusterIn(patient);
  if (cluster === undefined || !UNKNOWN.test(message)) return undefined;
  const what = `${isView(patient) ? "logical cluster" : "workspace"} ${JSON.stringify(cluster)}`;
  const name = isView(patient) ? "spec.cluster of the Workspace" : "kubectl ws tree shows those that you may enter";
  return new StepFailure(
    `${message}: the front proxy knows no ${what}`,
    `${meant}check the name (${name}), or wait a few seconds if it is new`,
  );
}

/** Returns the failure of a server in front that does not reach the one behind it; `undefined` for other failures. */
export function unreachedBehind(patient: ExaminedServer, { code }: ApiError): StepFailure | undefined {
  if (code !== 502) return undefined;
  const [behind, start] = isView(patient)
    ? ["/services", "start the views"]
    : ["the workspaces", "start the shard of this workspace"];
  return new StepFailure(
    `the server at this address does not reach that of ${behind}: 502`,
    `${start}; if that server runs, check backend and backend_server_ca of the path in the mapping file of the front proxy, whose log has the reason`,
  );
}

/**
 * Returns the failure of a user without access to the workspace of a view over it; `undefined` if the workspace is not the
 * reason. Views with more names in the path decide by objects elsewhere: that of an APIExport by the export.
 */
export async function withoutWorkspace(patient: ExaminedServer, message: string): Promise<StepFailure | undefined> {
  const [, cluster] = /^\/services\/[^/]+\/clusters\/([^/*]+)$/.exec(patient.path) ?? [];
  // The address of the views alone has no workspaces, and denies them to everyone.
  if (cluster === undefined || !patient.hasWorkspaces) return undefined;
  try {
    await patient.ask(`/clusters/${cluster}/api`);
    return undefined;
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (error.code !== 403) return undefined;
    return new StepFailure(
      message,
      `the user has no access to the workspace of this view: ${granting(patient, cluster)}`,
    );
  }
}

/** Returns the failure of a user without access to the workspace in the URL, with the command by which an administrator grants it. */
export function withoutAccess(patient: ExaminedServer, workspace: string, message: string): StepFailure {
  const parent = parentPath(workspace);
  // The URL of a mounted workspace leads to the target: the binding belongs into the parent, whose access counts.
  const isMount = parent !== undefined && message.endsWith(`: ${WITHOUT_ENTRY}`);
  const [place, shown] = isMount ? [parent, `${parent}, the parent of the mount,`] : [workspace, workspace];
  return new StepFailure(
    `${message}: no rule of ${shown} gives ${JSON.stringify(patient.user)} the verb "access" for "/", or the workspace does not exist`,
    `${parent === undefined ? "" : `check that it exists: kubectl get workspace ${workspace.split(":").at(-1)} --server=${patient.server.url}/clusters/${parent}; `}${granting(patient, place, isMount ? place : "it")}`,
  );
}

/** Reason of a 403 at a mounted workspace. Front proxies and kcp use it where there is no workspace, too. */
const WITHOUT_ENTRY = "workspace access not permitted";

function granting({ server, user }: ExaminedServer, workspace: string, of = "it"): string {
  return `have an administrator of ${of} run: kubectl --server=${server.url}/clusters/${workspace} create clusterrolebinding enter-${user.replace(/[^a-z0-9]+/gi, "-")} --clusterrole=system:kcp:workspace:access --user=${user}`;
}

/** Returns the workspace or the logical cluster that the path of the URL names. */
function clusterIn({ path }: ExaminedServer): string | undefined {
  return /(?:^|\/)clusters\/([^/]+)/.exec(path.replaceAll(/%3a/gi, ":"))?.[1];
}
