import { ApiError, fieldForbidden, type KubeObject, type StatusCause } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { AccessAttributes, IsAllowed } from "../authz/access.ts";
import type { ParamKind, ParamRef, PolicyBindingContent, PolicySpec } from "../kinds/policy-kinds.ts";
import { ADMISSIONREGISTRATION_GROUP } from "../kinds/webhook-configuration.ts";
import type { PolicyPhase } from "../policies/policy.ts";
import type { ShardContext } from "../state/context.ts";

/** Kinds of policies and bindings. */
const PLURALS: ReadonlyMap<string, { readonly phase: PolicyPhase; readonly isBinding: boolean }> = new Map([
  ["validatingadmissionpolicies", { phase: "validating", isBinding: false }],
  ["validatingadmissionpolicybindings", { phase: "validating", isBinding: true }],
  ["mutatingadmissionpolicies", { phase: "mutating", isBinding: false }],
  ["mutatingadmissionpolicybindings", { phase: "mutating", isBinding: true }],
]);

/** Options of {@link paramRights}. */
export interface ParamRightsOptions {
  readonly shard: Pick<ShardContext, "kinds" | "state">;
  readonly isAllowed: IsAllowed;
}

/**
 * Requires that users who write policies and bindings may read the params. Security: a policy reads them as the server, and its
 * messages may show them.
 */
export function paramRights(options: ParamRightsOptions): Admit {
  return (request) => {
    const { definition, object, oldObject, subresource, user } = request;
    const kind = definition.group === ADMISSIONREGISTRATION_GROUP ? PLURALS.get(definition.plural) : undefined;
    if (kind === undefined || object === undefined || subresource !== "" || user.in(MASTERS_GROUP)) return undefined;
    request.validate(async (next) => {
      const problem = kind.isBinding
        ? await bindingProblem({ next, oldObject, phase: kind.phase }, request, options)
        : await policyProblem({ next, oldObject }, request, options);
      if (problem !== undefined)
        throw ApiError.invalid({ kind: definition, name: next.metadata.name ?? "", causes: [problem] });
    });
    return undefined;
  };
}

interface Write {
  readonly next: KubeObject;
  readonly oldObject: KubeObject | undefined;
}

async function policyProblem(
  { next, oldObject }: Write,
  request: AdmitRequest,
  { shard, isAllowed }: ParamRightsOptions,
): Promise<StatusCause | undefined> {
  const { paramKind } = next["spec"] as PolicySpec;
  if (paramKind === undefined || equalJson(paramKind, (oldObject?.["spec"] as PolicySpec | undefined)?.paramKind))
    return undefined;
  const { cluster = "" } = request.params;
  const everyObject = { ...resourceOf(shard, cluster, paramKind), verb: "get", namespace: "*", name: "*" };
  if (await isAllowed(request.user, cluster, everyObject)) return undefined;
  const of = `(kind=${paramKind.kind}, apiVersion=${paramKind.apiVersion})`;
  const must = `must have "get" permission on all objects of the referenced paramKind ${of}`;
  return fieldForbidden("spec.paramKind", `user ${request.user.name} ${must}`);
}

async function bindingProblem(
  { next, oldObject, phase }: Write & { readonly phase: PolicyPhase },
  { params: { cluster = "" }, user }: AdmitRequest,
  { shard, isAllowed }: ParamRightsOptions,
): Promise<StatusCause | undefined> {
  const { paramRef, policyName } = next["spec"] as PolicyBindingContent["spec"];
  const before = oldObject?.["spec"] as PolicyBindingContent["spec"] | undefined;
  if (paramRef === undefined || (policyName === before?.policyName && equalJson(paramRef, before.paramRef)))
    return undefined;
  const policy = shard.state.policies.policy(cluster, phase, policyName);
  const { name = "", namespace = "" }: ParamRef = paramRef;
  const verb = name === "" ? "list" : "get";
  const kind = policy?.spec.paramKind;
  const resource = kind === undefined ? EVERYTHING : resourceOf(shard, cluster, kind);
  if (await isAllowed(user, cluster, { ...resource, verb, namespace, name })) return undefined;
  const all = `user ${user.name} does not have "${verb}" permission for all groups, versions and resources`;
  const why =
    policy === undefined
      ? `unable to get policy ${policyName} to determine minimum required permissions and ${all}`
      : `user ${user.name} does not have "${verb}" permission on the object referenced by paramRef`;
  return fieldForbidden("spec.paramRef", why);
}

type ParamResource = Pick<AccessAttributes, "group" | "version" | "resource">;

const EVERYTHING: ParamResource = { group: "*", version: "*", resource: "*" };

/** Returns the resource of a kind; all of its group if the workspace does not serve it. */
function resourceOf(
  { kinds }: Pick<ShardContext, "kinds">,
  cluster: string,
  { apiVersion, kind }: ParamKind,
): ParamResource {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  return { group, version, resource: kinds.in(cluster).of(apiVersion, kind)?.definition.plural ?? "*" };
}
