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
 * The rules about Workspaces (kcp's plugins `tenancy.kcp.io/Workspace` and `tenancy.kcp.io/WorkspaceTypeExists`): who made
 * one and which groups one must be in to enter are said by the server, the type is found and must be allowed, and what the
 * server sets is not for users to say. Unlike in kcp, whoever mounts one must be allowed to read what it is mounted by.
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
    // What is no type at all is for the schema to refuse.
    if (object.spec?.type !== undefined && !isJsonObject(object.spec.type)) return object;
    // What an attempt has changed does not become part of the next one.
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

/** Who made a workspace is what it is set up as: nobody says that it was another. */
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
 * Does something that is refused where it finds nothing, once more if it is, with all that was written before: what is
 * followed may be a moment behind. In kcp, whoever uses a type that was just made has to try again by themselves.
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
      // Logical clusters that are read as they are asked for are no older than the request.
      [...(objects.isWhole ? [objects.of(LogicalCluster)] : []), objects.of(WorkspaceType)].map(async (collection) => {
        using lease = await collection.cache();
        await lease.confirm?.({ signal });
      }),
    ),
  );
}

/**
 * Checks that whoever mounts a workspace may read what it is mounted by: that is read with the server's own rights then, and where it
 * leads is shown to all who may read the Workspace. A kind that is not there yet may be that of any object of its group.
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
 * Refuses changes of what is the server's, or is fixed. In kcp the schema comes before these rules, and they say nothing of
 * what it refuses.
 *
 * @throws ApiError 403
 */
function checkWorkspaceUpdate({ object, oldObject }: WorkspaceChange, request: AdmitRequest): void {
  const [spec, before] = [object.spec, oldObject.spec];
  if (isRefusedBySchema(spec, before)) return;
  if ((spec.mount === undefined) !== (before.mount === undefined))
    throw refused(request, "spec.mount can neither be added to a workspace nor taken off it");
  if (!isPrivileged(request)) checkServerFields(spec, before, request);
  if (before.mount === undefined) checkPlain({ object, oldObject }, request);
  else checkMounted(spec, before, request);
}

/** Whether one of the rules in the schema that compare a value with the former one does not hold. */
function isRefusedBySchema(spec: WorkspaceSpec, before: WorkspaceSpec): boolean {
  if (before.cluster !== undefined && spec.cluster !== before.cluster) return true;
  if (before.URL !== undefined && spec.URL === undefined) return true;
  if (before.type !== undefined && spec.type !== undefined && !isDeepStrictEqual(spec.type, before.type)) return true;
  return before.mount !== undefined && spec.mount !== undefined && !isDeepStrictEqual(spec.mount, before.mount);
}

/** Of mounted workspaces too, unlike in kcp: where a path leads is not for whoever may change labels. */
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
