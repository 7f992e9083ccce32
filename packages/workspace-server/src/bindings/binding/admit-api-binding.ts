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
      // Together with what may not be bound: nobody learns by the order of refusals what there is.
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

/** What a claim's selector must have is told by its rule, also of one that is not there (to kcp's decoder it is empty). */
function withSelectors(object: KubeObject, { definition }: AdmitRequest): KubeObject {
  const { spec } = object;
  if (definition.version === "v1alpha1" || !isJsonObject(spec) || !Array.isArray(spec["permissionClaims"]))
    return object;
  const isMissing = (claim: unknown): claim is JsonObject => isJsonObject(claim) && claim["selector"] === undefined;
  if (!spec["permissionClaims"].some(isMissing)) return object;
  const claims = spec["permissionClaims"].map((claim) => (isMissing(claim) ? { ...claim, selector: {} } : claim));
  return { ...object, spec: { ...spec, permissionClaims: claims } };
}

/** Whether permission is asked for: of a new binding, and of one whose export or label was changed. */
function isAnother(next: APIBinding, before: APIBinding | undefined): boolean {
  if (before === undefined) return true;
  const [one, other] = [next.spec.reference.export, before.spec.reference.export];
  const sameExport = one?.name === other?.name && (one?.path ?? "") === (other?.path ?? "");
  const label = ({ metadata }: APIBinding): string | undefined => metadata.labels?.[BINDING_EXPORT_LABEL];
  return !sameExport || label(next) !== label(before);
}

/** What a binding names, and where that is; `undefined`: nowhere. */
interface NamedExport {
  readonly cluster: string | undefined;
  readonly reference: ExportReference;
}

/** @throws ApiError 403, in the same words when it is nowhere */
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

/** An export of the own workspace or of root may come later: who binds it can be asked about without it. */
function clusterOfExport(exports: Exports, reference: ExportReference, cluster: string): string | undefined {
  const { path = "" } = reference;
  if (path === "") return cluster;
  if (path === ROOT_CLUSTER) return ROOT_CLUSTER;
  const found = exports.find(reference, cluster);
  return found && clusterOf(found);
}
