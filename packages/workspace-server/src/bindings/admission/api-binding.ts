import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import {
  API_BINDING_FINALIZER,
  type APIBinding,
  type APIBindingV1alpha1,
  apiBindingProblems,
  apiBindingToV1alpha2,
  BINDING_EXPORT_LABEL,
  exportHash,
  MASTERS_GROUP,
  ROOT_CLUSTER,
} from "@virtual-workspaces/kcp";
import type { ShardState } from "../../shard/state.ts";
import type { IsAllowed } from "../../workspaces/access.ts";
import { clusterOf, type ExportReference, type Exports } from "../exports.ts";
import { bindAttributes } from "./access.ts";
import { withPath } from "./path-annotation.ts";
import { forbidden, refusedFor } from "./refusals.ts";

/** What admission of bindings asks. */
export interface BindingAdmissionOptions {
  readonly state: Pick<ShardState, "logicalCluster">;
  readonly exports: Exports;
  readonly mayAccess: IsAllowed;
}

/**
 * Admission of APIBindings of both versions (kcp's `apis.kcp.io/APIBinding`, `APIBindingDeletionFinalizer` and
 * `kcp.io/PathAnnotation`): whoever makes one must be allowed to bind the export, wherever that is; an export that is not
 * there is refused in the same words. The label of the export and the finalizer are the server's.
 */
export function admitApiBinding(options: BindingAdmissionOptions): Admit {
  return async (request) => {
    const { object, oldObject, subresource } = request;
    if (object === undefined) return undefined;
    const next = newer(request, object);
    const before = oldObject && newer(request, oldObject);
    const problems = apiBindingProblems(next, before);
    if (subresource !== "") {
      if (problems.length > 0) throw refusedFor(request, problems);
      return undefined;
    }
    const reference = next.spec.reference.export;
    let admitted: KubeObject = heldBy(request, object);
    if (reference !== undefined && isAnother(next, before)) {
      const label = await labelOf(request, reference, options);
      if (problems.length > 0) throw refusedFor(request, problems);
      const labels = { ...admitted.metadata.labels, [BINDING_EXPORT_LABEL]: label };
      admitted = { ...admitted, metadata: { ...admitted.metadata, labels } };
    } else if (problems.length > 0) throw refusedFor(request, problems);
    return withPath(request, admitted, { state: options.state, optional: true });
  };
}

function newer({ definition }: AdmitRequest, object: KubeObject): APIBinding {
  const isOlder = definition.version === "v1alpha1";
  return (isOlder ? apiBindingToV1alpha2(object as APIBindingV1alpha1) : object) as APIBinding;
}

/** The finalizer is there from the beginning, and only the server's own take it off. */
function heldBy(request: AdmitRequest, object: KubeObject): KubeObject {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  if (finalizers.includes(API_BINDING_FINALIZER)) return object;
  if (deletionTimestamp === undefined)
    return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, API_BINDING_FINALIZER] } };
  const had = request.oldObject?.metadata.finalizers?.includes(API_BINDING_FINALIZER) === true;
  if (had && !request.user.in(MASTERS_GROUP))
    throw forbidden(request, `removing the finalizer ${API_BINDING_FINALIZER} is forbidden`);
  return object;
}

/** Whether permission is asked for: of a new binding, and of one whose export or label was changed. */
function isAnother(next: APIBinding, before: APIBinding | undefined): boolean {
  if (before === undefined) return true;
  const [one, other] = [next.spec.reference.export, before.spec.reference.export];
  const sameExport = one?.name === other?.name && (one?.path ?? "") === (other?.path ?? "");
  const label = ({ metadata }: APIBinding): string | undefined => metadata.labels?.[BINDING_EXPORT_LABEL];
  return !sameExport || label(next) !== label(before);
}

/** @throws ApiError 403 when the user may not bind it */
async function labelOf(
  request: AdmitRequest,
  reference: ExportReference,
  { exports, mayAccess }: BindingAdmissionOptions,
): Promise<string> {
  const { operation, params, user } = request;
  const cluster = clusterOfExport(exports, reference, params["cluster"] ?? "");
  if (cluster !== undefined && (await mayAccess(user, cluster, bindAttributes(reference.name))))
    return exportHash({ cluster, name: reference.name });
  const action = operation === "CREATE" ? "create" : "update";
  const { path = "", name } = reference;
  const named = path === "" ? name : `${path}:${name}`;
  throw forbidden(request, `unable to ${action} APIBinding: no permission to bind to export ${named}`);
}

/** An export of the own workspace or of root may come later: who binds it can be asked about without it. */
function clusterOfExport(exports: Exports, reference: ExportReference, cluster: string): string | undefined {
  const { path = "" } = reference;
  if (path === "") return cluster;
  if (path === ROOT_CLUSTER) return ROOT_CLUSTER;
  const found = exports.find(reference, cluster);
  return found && clusterOf(found);
}
