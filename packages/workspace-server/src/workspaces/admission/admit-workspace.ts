import { isDeepStrictEqual } from "node:util";
import {
  fieldInvalid,
  formatCause,
  isApiError,
  isJsonObject,
  parseApiVersion,
  quote,
} from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import {
  LogicalCluster,
  type Workspace,
  type WorkspaceMount,
  type WorkspaceSpec,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { OWNER_ANNOTATION, REQUIRED_GROUPS_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { AccessAttributes } from "../../authz/access.ts";
import type { ShardRegistry } from "../../state/shard-registry.ts";
import { ownerText } from "../model/owner.ts";
import { type AdmissionContext, isPrivileged, readiness, refused, writtenCluster } from "./admission-context.ts";
import { TypeAdmission } from "./admitted-types.ts";

/**
 * Admits writes of Workspaces (kcp's plugins `tenancy.kcp.io/Workspace` and `tenancy.kcp.io/WorkspaceTypeExists`). The server
 * sets the owner and the required groups, resolves and authorizes the type, and protects its own fields. Unlike in kcp, a
 * user who mounts a workspace must be allowed to read the referenced object.
 */
export function admitWorkspace(context: AdmissionContext): Admit<Workspace> {
  const types = new TypeAdmission(context);
  const checkReady = readiness(context.shard.state);
  const { registry } = context.shard;
  return async (request) => {
    const { operation, object, oldObject } = request;
    const about = request as unknown as AdmitRequest;
    if (operation === "DELETE" || object === undefined) return undefined;
    if (operation === "UPDATE") {
      if (oldObject === undefined) return undefined;
      request.validate((next) => checkWorkspaceUpdate({ object: next, oldObject }, about));
      return isPrivileged(about) ? undefined : withOwnerOf(oldObject, object);
    }
    checkReady(about);
    // The schema rejects an invalid type.
    if (object.spec?.type !== undefined && !isJsonObject(object.spec.type)) return object;
    // A copy, so that a retry starts from the original.
    const filled = await freshly(registry, about, () => fill(structuredClone(object), about, types));
    request.validate(async (workspace) => {
      checkCreate(workspace, about);
      if (workspace.spec.mount !== undefined) return checkMount(workspace.spec.mount, about, context);
      const aliases = await freshly(registry, about, () => types.aliases(workspace, about));
      await types.checkUse(aliases, about);
      await freshly(registry, about, () => types.checkLimits(workspace, aliases, about));
    });
    return filled;
  };
}

/** Restores the owner annotation. Security: the workspace is initialized on behalf of its owner, which users must not change. */
function withOwnerOf({ metadata: before }: Workspace, workspace: Workspace): Workspace | undefined {
  const owner = before.annotations?.[OWNER_ANNOTATION];
  const { [OWNER_ANNOTATION]: given, ...others } = workspace.metadata.annotations ?? {};
  if (given === owner) return undefined;
  const annotations = { ...others, ...(owner !== undefined && { [OWNER_ANNOTATION]: owner }) };
  return { ...workspace, metadata: { ...workspace.metadata, annotations } };
}

function fill(workspace: Workspace, request: AdmitRequest, types: TypeAdmission): Workspace {
  const { metadata, spec } = workspace;
  const annotations = { ...metadata.annotations };
  const privileged = isPrivileged(request);
  if (!privileged) annotations[OWNER_ANNOTATION] = ownerText(request.user);
  if (!privileged || annotations[REQUIRED_GROUPS_ANNOTATION] === undefined) {
    const groups = types.parent(request).metadata.annotations?.[REQUIRED_GROUPS_ANNOTATION];
    if (groups === undefined) delete annotations[REQUIRED_GROUPS_ANNOTATION];
    else annotations[REQUIRED_GROUPS_ANNOTATION] = groups;
  }
  metadata.annotations = annotations;
  if (spec.mount === undefined) types.fill(workspace, request);
  return workspace;
}

function checkCreate({ spec }: Workspace, request: AdmitRequest): void {
  const privileged = isPrivileged(request);
  const set = (field: string): string => `spec.${field} can only be set by system privileged users`;
  if (spec.cluster && !privileged) throw refused(request, set("Cluster"));
  if (spec.URL && !privileged) throw refused(request, set("URL"));
  if (spec.mount === undefined) return;
  const { ref } = spec.mount;
  for (const field of ["kind", "name", "apiVersion"] as const) {
    if (!ref[field]) throw refused(request, `spec.mount.${field} must be set`);
  }
  if (!privileged && spec.type !== undefined) throw refused(request, "spec.type cannot be set for mounted workspaces");
}

/**
 * Runs a check, and after a 403 once more with all earlier writes, since the caches may lag behind. In kcp, users of a new
 * type must retry themselves.
 */
async function freshly<R>(registry: ShardRegistry, request: AdmitRequest, attempt: () => R | Promise<R>): Promise<R> {
  try {
    return await attempt();
  } catch (error) {
    if (!isApiError(error) || error.code !== 403) throw error;
    await catchUp(registry, request.signal);
    return attempt();
  }
}

async function catchUp({ shards }: ShardRegistry, signal: AbortSignal): Promise<void> {
  await Promise.all(
    shards.flatMap(({ objects }) =>
      // Logical clusters loaded on demand are no older than the request.
      [...(objects.isWhole ? [objects.of(LogicalCluster)] : []), objects.of(WorkspaceType)].map(async (collection) => {
        using lease = await collection.cache();
        await lease.confirm?.({ signal });
      }),
    ),
  );
}

/**
 * Checks that a user who mounts a workspace may read the referenced object. Security: the server reads it with its own
 * rights, and readers of the Workspace see its URL. For an unknown kind the user needs rights on all resources of the group.
 *
 * @throws ApiError 403
 */
async function checkMount(
  { ref }: WorkspaceMount,
  request: AdmitRequest,
  { shard, isAllowed }: AdmissionContext,
): Promise<void> {
  const cluster = writtenCluster(request);
  const found = shard.kinds.in(cluster).of(ref.apiVersion, ref.kind)?.definition;
  const { group, version } = groupVersionOf(ref.apiVersion, request);
  const resource = found?.plural ?? "*";
  const namespace = found?.scope === "Cluster" ? "" : (ref.namespace ?? "");
  const access: AccessAttributes = { verb: "get", group, version, resource, namespace, name: ref.name };
  if (await isAllowed(request.user, cluster, access)) return;
  const named = `${ref.kind} ${quote(`${ref.namespace ?? ""}/${ref.name}`)}`;
  const lacking =
    found === undefined
      ? `there is no such kind yet, and verb='get' is missing on all resources of the group ${quote(group)}`
      : `missing verb='get' permission on ${resource}.${group}`;
  throw refused(request, `unable to mount ${named}: ${lacking}`);
}

function groupVersionOf(apiVersion: string, request: AdmitRequest): ReturnType<typeof parseApiVersion> {
  try {
    return parseApiVersion(apiVersion);
  } catch (error) {
    throw isApiError(error) ? refused(request, `spec.mount.ref.apiVersion: ${error.message}`) : error;
  }
}

/** A change of a Workspace. */
interface WorkspaceChange {
  readonly object: Workspace;
  readonly oldObject: Workspace;
}

/**
 * Rejects changes of server-managed and immutable fields. As in kcp, where the schema comes first, it ignores what the schema
 * rejects.
 *
 * @throws ApiError 403
 */
function checkWorkspaceUpdate({ object, oldObject }: WorkspaceChange, request: AdmitRequest): void {
  const [spec, before] = [object.spec, oldObject.spec];
  if (isRefusedBySchema(spec, before)) return;
  if ((spec.mount === undefined) !== (before.mount === undefined))
    throw refused(request, "spec.mount cannot be added to or removed from an existing workspace");
  if (!isPrivileged(request)) checkServerFields(spec, before, request);
  if (before.mount === undefined) checkPlain({ object, oldObject }, request);
  else checkMounted(spec, before, request);
}

/** Whether a transition rule of the schema fails. */
function isRefusedBySchema(spec: WorkspaceSpec, before: WorkspaceSpec): boolean {
  if (before.cluster !== undefined && spec.cluster !== before.cluster) return true;
  if (before.URL !== undefined && spec.URL === undefined) return true;
  if (before.type !== undefined && spec.type !== undefined && !isDeepStrictEqual(spec.type, before.type)) return true;
  return before.mount !== undefined && spec.mount !== undefined && !isDeepStrictEqual(spec.mount, before.mount);
}

/** Also for mounted workspaces, unlike in kcp. Security: the right to change labels must not include the target of a path. */
function checkServerFields(spec: WorkspaceSpec, before: WorkspaceSpec, request: AdmitRequest): void {
  const changed = (field: string): string => `spec.${field} can only be changed by system privileged users`;
  if ((spec.cluster ?? "") !== (before.cluster ?? "")) throw refused(request, changed("cluster"));
  if ((spec.URL ?? "") !== (before.URL ?? "")) throw refused(request, changed("URL"));
}

function checkMounted(spec: WorkspaceSpec, before: WorkspaceSpec, request: AdmitRequest): void {
  if (isPrivileged(request) || isDeepStrictEqual(spec.type, before.type)) return;
  throw refused(
    request,
    spec.type === undefined ? "spec.type is immutable" : "spec.type cannot be set for mounted workspaces",
  );
}

function checkPlain({ object, oldObject }: WorkspaceChange, request: AdmitRequest): void {
  const { type } = object.spec;
  if (!isDeepStrictEqual(type, oldObject.spec.type))
    throw refused(request, formatCause(fieldInvalid("spec.type", type ?? null, "field is immutable")));
  if (object.status?.phase !== "Ready" || oldObject.status?.phase === "Ready") return;
  for (const field of ["cluster", "URL"] as const) {
    if (!object.spec[field]) throw refused(request, `spec.${field} must be set for phase Ready`);
  }
}
