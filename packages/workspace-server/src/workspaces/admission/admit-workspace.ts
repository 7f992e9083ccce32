import { isJsonObject } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { OWNER_ANNOTATION, REQUIRED_GROUPS_ANNOTATION, type Workspace } from "@virtual-workspaces/kcp";
import { ownerText } from "../model/owner.ts";
import { type AdmissionContext, isPrivileged, refused } from "./admission-context.ts";
import { freshly } from "./fresh.ts";
import { checkMount } from "./mount.ts";
import { readiness } from "./ready.ts";
import { TypeAdmission } from "./admitted-types.ts";
import { checkWorkspaceUpdate } from "./workspace-update.ts";

/**
 * The rules about Workspaces (kcp's plugins `tenancy.kcp.io/Workspace` and `tenancy.kcp.io/WorkspaceTypeExists`): who made
 * one and which groups one must be in to enter are said by the server, the type is found and must be allowed, and what the
 * server sets is not for users to say. Unlike in kcp, whoever mounts one must be allowed to read what it is mounted by.
 */
export function admitWorkspace(context: AdmissionContext): Admit<Workspace> {
  const types = new TypeAdmission(context);
  const checkReady = readiness(context.shard.state);
  const { installation } = context.shard;
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
    const filled = await freshly(installation, about, () => fill(structuredClone(object), about, types));
    request.validate(async (workspace) => {
      checkCreate(workspace, about);
      if (workspace.spec.mount !== undefined) return checkMount(workspace.spec.mount, about, context);
      const aliases = await freshly(installation, about, () => types.aliases(workspace, about));
      await types.checkUse(aliases, about);
      await freshly(installation, about, () => types.checkLimits(workspace, aliases, about));
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
