import { type ApiError, isJsonObject, type JsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { type APIBinding, type APIBindingV1alpha1, clusterOf, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { apiBindingProblems, apiBindingToV1alpha2 } from "@virtual-workspaces/kcp/apis";
import { API_BINDING_FINALIZER, BINDING_EXPORT_LABEL, exportHash } from "@virtual-workspaces/kcp/names";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { IsAllowed } from "../../authz/access.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { forbidden, refusedFor, withPath } from "../exports/admit-exports.ts";
import type { ExportReference, Exports } from "../exports/exports.ts";
import { bindAttributes } from "../exports/exports.ts";

/** Options of {@link admitApiBinding}. */
export interface BindingAdmissionOptions {
  readonly state: Pick<ShardState, "logicalCluster">;
  readonly exports: Exports;
  readonly mayAccess: IsAllowed;
}

/**
 * Admits APIBindings of both versions (kcp's `apis.kcp.io/APIBinding`, `APIBindingDeletionFinalizer` and
 * `kcp.io/PathAnnotation`). The user needs the verb `bind` on the export, wherever it is. Security: a missing export
 * gets the same message as a forbidden one. Only the server sets the export's label and the finalizer.
 */
export function admitApiBinding(options: BindingAdmissionOptions): Admit {
  return (request) => {
    const { object, oldObject, subresource } = request;
    if (object === undefined) return undefined;
    const next = newer(request, object);
    const before = oldObject && newer(request, oldObject);
    request.validate((valid) => {
      const problems = apiBindingProblems(newer(request, valid), before);
      if (problems.length > 0) throw refusedFor(request, problems);
    });
    if (subresource !== "") return undefined;
    const reference = next.spec?.reference?.export;
    let admitted: KubeObject = withSelectors(heldBy(request, object), request);
    if (reference !== undefined && isAnother(next, before)) {
      const cluster = clusterOfExport(options.exports, reference, request.params["cluster"] ?? "");
      // Checked together with validation. Security: the order of rejections must not reveal which exports exist.
      request.validate(() => checkMayBind(request, { cluster, reference }, options));
      if (cluster !== undefined) {
        const labels = {
          ...admitted.metadata.labels,
          [BINDING_EXPORT_LABEL]: exportHash({ cluster, name: reference.name }),
        };
        admitted = { ...admitted, metadata: { ...admitted.metadata, labels } };
      }
    }
    return withPath(request, admitted, { state: options.state, optional: true });
  };
}

function newer({ definition }: AdmitRequest, object: KubeObject): APIBinding {
  const isOlder = definition.version === "v1alpha1";
  return (isOlder ? apiBindingToV1alpha2(object as APIBindingV1alpha1) : object) as APIBinding;
}

/** Adds the finalizer unless the binding is being deleted; only members of `system:masters` may remove it then. */
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

/** A missing selector becomes an empty one, as in kcp's decoder, so that validation reports what it lacks. */
function withSelectors(object: KubeObject, { definition }: AdmitRequest): KubeObject {
  const { spec } = object;
  if (definition.version === "v1alpha1" || !isJsonObject(spec) || !Array.isArray(spec["permissionClaims"]))
    return object;
  const isMissing = (claim: unknown): claim is JsonObject => isJsonObject(claim) && claim["selector"] === undefined;
  if (!spec["permissionClaims"].some(isMissing)) return object;
  const claims = spec["permissionClaims"].map((claim) => (isMissing(claim) ? { ...claim, selector: {} } : claim));
  return { ...object, spec: { ...spec, permissionClaims: claims } };
}

/** Reports whether the user needs permission: for a new binding, and when its export or label changes. */
function isAnother(next: APIBinding, before: APIBinding | undefined): boolean {
  if (before === undefined) return true;
  const [one, other] = [next.spec.reference.export, before.spec.reference.export];
  const sameExport = one?.name === other?.name && (one?.path ?? "") === (other?.path ?? "");
  const label = ({ metadata }: APIBinding): string | undefined => metadata.labels?.[BINDING_EXPORT_LABEL];
  return !sameExport || label(next) !== label(before);
}

/** Export that a binding refers to, with its logical cluster; `undefined` if it does not exist. */
interface NamedExport {
  readonly cluster: string | undefined;
  readonly reference: ExportReference;
}

/** @throws ApiError 403, with the same message when the export does not exist */
async function checkMayBind(
  request: AdmitRequest,
  { cluster, reference }: NamedExport,
  { mayAccess }: Pick<BindingAdmissionOptions, "mayAccess">,
): Promise<void> {
  const attributes = bindAttributes(reference.name);
  if (cluster === undefined || !(await mayAccess(request.user, cluster, attributes)))
    throw mayNotBind(request, reference);
}

function mayNotBind(request: AdmitRequest, { path = "", name }: ExportReference): ApiError {
  const action = request.operation === "CREATE" ? "create" : "update";
  const named = path === "" ? name : `${path}:${name}`;
  return forbidden(request, `unable to ${action} APIBinding: no permission to bind to export ${named}`);
}

/** Returns the logical cluster to authorize in. For the own workspace and root it is known even before the export exists. */
function clusterOfExport(exports: Exports, reference: ExportReference, cluster: string): string | undefined {
  const { path = "" } = reference;
  if (path === "") return cluster;
  if (path === ROOT_CLUSTER) return ROOT_CLUSTER;
  const found = exports.find(reference, cluster);
  return found && clusterOf(found);
}
